/** Reports why maps lack tiles: at once, then at most once a minute. An unreachable source affects every map. */
import type { MapImage } from '../types.js';

const quietMs = 60_000;

/** Returns a function that reports the missing tiles of a map. `now` is in milliseconds. */
export function createTileReports(report: (problem: string) => void, now = Date.now) {
  let unreported = 0;
  let quietUntilMs = 0;
  return ({ missingTiles, tileProblem }: Pick<MapImage, 'missingTiles' | 'tileProblem'>): void => {
    unreported += missingTiles;
    if (tileProblem === null || now() < quietUntilMs) return;
    report(`${unreported} tiles could not be read, the last because of: ${tileProblem}`);
    unreported = 0;
    quietUntilMs = now() + quietMs;
  };
}
