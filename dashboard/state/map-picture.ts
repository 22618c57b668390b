/** The last picture of each view's map, which is shown until the map itself is drawn. The browser keeps it. */
import type { Scope } from '../client/call';
import { forgetStored, readStored, writeStored } from './storage';

/** The views whose map is shown as a picture until it has started. */
export type PicturedView = 'live' | 'map';

interface StoredPicture {
  /** What it shows, by each name. A picture of something else is not shown. */
  readonly of: readonly string[];
  /** Of data. */
  readonly url: string;
  readonly frame: Frame;
}

/** Where the map is in a window of a size, in CSS pixels. */
export interface Frame {
  readonly window: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const windowSize = (): string => `${innerWidth} ${innerHeight}`;

/** Returns the frame of an element of the view, as if the view were not scrolled. */
export function frameOf(element: Element): Frame {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { window: windowSize(), left, top: top + (element.closest('main')?.scrollTop ?? 0), width, height };
}

const nameOf = (view: PicturedView): string => `picture-${view}`;

/**
 * Returns the name of what a picture shows.
 * @param place what the map shows, where that is known before.
 */
export const subjectOf = ({ project, environment }: Scope, style: string, place = ''): string =>
  [project, environment, style, place].join(' ');

/** Returns the picture, unless it shows something else. */
export function readPicture(view: PicturedView, of: string): StoredPicture | undefined {
  try {
    const stored = JSON.parse(readStored(nameOf(view)) ?? '') as StoredPicture;
    return stored.of.includes(of) && stored.url.startsWith('data:image/') ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the picture in place of the last one of its view. */
export const writePicture = (view: PicturedView, picture: StoredPicture): void =>
  writeStored(nameOf(view), JSON.stringify(picture));

/** Returns the picture at the place of the map in this window, if it is known. */
export function framedPicture(view: PicturedView, of: string): HTMLImageElement | undefined {
  const { url, frame } = readPicture(view, of) ?? {};
  if (url === undefined || frame?.window !== windowSize()) return undefined;
  const image = new Image();
  Object.assign(image, { className: 'map-picture framed', src: url, alt: '', decoding: 'sync' });
  for (const name of ['left', 'top', 'width', 'height'] as const) image.style[name] = `${frame[name]}px`;
  return image;
}

/** Forgets all pictures, because they show places of a session that has ended. */
export function forgetPictures(): void {
  for (const view of ['live', 'map'] as const) forgetStored(nameOf(view));
}
