/** Large circles over a whole country: delivery zones, weather areas and coverage, about twenty over each point. */
import { drawFences, logUniform, positionInCountry, regions, type Workload } from './workload.js';

/** Large circles over one another. */
export const overlapWorkload: Workload = {
  name: 'overlap',
  about: 'circles of 5 to 100 km, about twenty over each point; lorries between towns',
  fenceCount: 50_000,
  places: (_, seed) => regions(200, 60_000, seed),
  speedsMps: [10, 30],
  fences: (count, seed) =>
    drawFences(count, seed, (random) => ({
      center: positionInCountry(random),
      radiusM: Math.round(logUniform(random, 5_000, 100_000)),
      ring: null,
    })),
};
