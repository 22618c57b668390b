/** Valhalla's library in this process. A request runs on another thread and cannot be interrupted. */
import { valhallaConfig } from './config.js';
import type { ValhallaAction } from './engine.js';
import { loadLibrary } from './package.js';

/** An answer as JSON text, or Valhalla's error. */
export type ActorResult =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Asks Valhalla, with a request as JSON. A running request cannot be interrupted. */
export type Actor = (action: ValhallaAction, request: string) => Promise<ActorResult>;

/** Opens the tiles of a folder. Rejects if the optional package is not installed. */
export async function openActor(tilesFolder: string): Promise<Actor> {
  const library = await loadLibrary();
  const actor = new library.Actor(valhallaConfig(tilesFolder));
  return async (action, request) => {
    try {
      return { kind: 'answer', text: await actor[action](request) };
    } catch (error) {
      return { kind: 'refused', reason: (error as Error).message };
    }
  };
}
