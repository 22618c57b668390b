/** Large circles over a whole country: delivery zones, weather areas and coverage, about twenty over each point. */
import { createRandom } from '../../schemas/random.js';
import { logUniform, positionInCountry, regions, type Workload } from './workload.js';

export const overlapWorkload: Workload = {
  name: 'overlap',
  about: 'circles of 5 to 100 km, about twenty over each point; lorries between towns',
  fenceCount: 50_000,
  places: (_, seed) => regions(200, 60_000, seed),
  speedsMps: [10, 30],
  *fences(count, seed) {
    const random = createRandom(seed + 1);
    for (let number = 0; number < count; number++) {
      const center = positionInCountry(random);
      yield { number, center, radiusM: Math.round(logUniform(random, 5_000, 100_000)), ring: null };
    }
  },
};
