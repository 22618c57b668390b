/** Why maps lack tiles, told at once and then once a minute at most: a source that is away is away for every map. */
import type { MapImage } from '../types.js';

const quietMs = 60_000;

/** `now` is in milliseconds. */
export function createTileReports(tell: (problem: string) => void, now = Date.now) {
  let untold = 0;
  let quietUntilMs = 0;
  return ({ missingTiles, tileProblem }: Pick<MapImage, 'missingTiles' | 'tileProblem'>): void => {
    untold += missingTiles;
    if (tileProblem === null || now() < quietUntilMs) return;
    tell(`tiles that could not be had: ${untold}, the last because of: ${tileProblem}`);
    untold = 0;
    quietUntilMs = now() + quietMs;
  };
}
