/** Starts the code of maps at a time when it disturbs nothing. */
import type { StyleSpecification } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import { callHeaders } from '../client/call';
import { checkReachable } from '../state/connection';
import type { MapStyle } from './map-look';

/** A page that is never idle has its map after this time. */
const maxWaitMs = 500;
const screenMs = 100;

/**
 * Resolves when the page has been painted and has nothing else to do. MapLibre is larger than all else, and its start
 * occupies the page: text, lists and the calls for data come first.
 */
export function whenPainted(): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => {
      // Not all browsers can wait for an idle moment.
      if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: maxWaitMs });
      else resolve();
    };
    // A frame is on the screen some milliseconds after it was painted.
    requestAnimationFrame(() => setTimeout(wait, screenMs));
  });
}

/** The style of a map did not come. */
export class StyleNotLoaded extends Error {
  override readonly name = 'StyleNotLoaded';
  /** What the server says. Undefined: it did not answer, which the page says elsewhere. */
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super('the style of the map did not come');
    this.reason = reason;
  }
}

async function reasonOf(response: Response): Promise<string> {
  const answer = await response.json().catch(() => undefined);
  return answer?.meta?.message ?? `it answered ${response.status}`;
}

/**
 * Rejects with {@link StyleNotLoaded}, for example when the server has no map yet. The browser keeps an answer for some
 * minutes.
 */
export async function readStyle(style: MapStyle, signal?: AbortSignal): Promise<StyleSpecification> {
  const refuse = (): never => {
    throw new StyleNotLoaded();
  };
  const asked = fetch(`/maps/styles/${style}`, { headers: callHeaders(), signal: signal ?? null });
  const response = await asked.catch(refuse);
  if (!response.ok) throw new StyleNotLoaded(await reasonOf(response));
  return response.json().catch(refuse);
}

/** The code of maps did not come. */
class MapNotLoaded extends Error {
  override readonly name = 'MapNotLoaded';
}

/** Returns why there is no map, for its reader. */
export const problemOfMap = (error: unknown): string =>
  error instanceof MapNotLoaded
    ? 'The map could not be loaded. Load the page again to see it.'
    : 'This browser cannot draw the map: it has no WebGL.';

/** Loads a module with a map when the page is painted. MapLibre's worker and the style are loaded beside it. */
export async function loadMap<Module>(style: MapStyle, load: () => Promise<Module>): Promise<Module> {
  await whenPainted();
  // Not all browsers preload workers. What is kept answers at once.
  void fetch(workerUrl).catch(() => {});
  void readStyle(style).catch(() => {});
  const module = await load().catch(() => {
    void checkReachable();
    throw new MapNotLoaded();
  });
  // The page may draw and answer between the start of the code and that of the map.
  await new Promise((resolve) => setTimeout(resolve));
  return module;
}
