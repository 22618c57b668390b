/** Says what maps lack of their tiles, for those who chose the source. */
import { hasElapsed } from '../../schemas/durations.js';
import type { MapImage } from '../types.js';

const quietMs = 60_000;

/** Says that a layer has more than can be drawn in time. */
export const cutLayerProblem = (name: string): string =>
  `a tile has too much to draw in its layer "${name}": the last features are left out`;

/**
 * Returns a function that reports the missing tiles of a map: at once, then at most once a minute. An unreachable
 * source affects every map. `now` is in milliseconds.
 */
export function createTileReports(report: (problem: string) => void, now = Date.now) {
  let unreported = 0;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return ({ missingTiles, tileProblem }: Pick<MapImage, 'missingTiles' | 'tileProblem'>): void => {
    unreported += missingTiles;
    if (tileProblem === null || !hasElapsed(quietMs, reportedAtMs, now())) return;
    report(`${unreported} tiles could not be read, the last because of: ${tileProblem}`);
    unreported = 0;
    reportedAtMs = now();
  };
}
