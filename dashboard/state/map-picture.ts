/** The last picture of each view's map, which is shown until the map itself is drawn. The browser keeps it. */
import type { Scope } from '../client/call';
import { forgetStored, readStored, writeStored } from './storage';

export type PicturedView = 'live' | 'map';

interface StoredPicture {
  /** What it shows, by each name. A picture of something else is not shown. */
  readonly of: readonly string[];
  /** Of data. */
  readonly url: string;
}

const nameOf = (view: PicturedView): string => `picture-${view}`;

/** @param place is what the map shows, where that is known before. */
export const subjectOf = ({ project, environment }: Scope, style: string, place = ''): string =>
  [project, environment, style, place].join(' ');

/** Returns the picture as a URL of data, unless it shows something else. */
export function readPicture(view: PicturedView, of: string): string | undefined {
  try {
    const stored = JSON.parse(readStored(nameOf(view)) ?? '') as StoredPicture;
    return stored.of.includes(of) && stored.url.startsWith('data:image/') ? stored.url : undefined;
  } catch {
    return undefined;
  }
}

export const writePicture = (view: PicturedView, picture: StoredPicture): void =>
  writeStored(nameOf(view), JSON.stringify(picture));

/** Forgets all pictures, because they show places of a session that has ended. */
export function forgetPictures(): void {
  for (const view of ['live', 'map'] as const) forgetStored(nameOf(view));
}
