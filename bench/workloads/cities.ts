/** Circles of 50 to 500 m around the shops, stops and depots of many cities. */
import { cities, drawFences, positionPicker, type Workload } from './workload.js';

/** Circles in cities. */
export const citiesWorkload: Workload = {
  name: 'cities',
  about: 'circles of 50 to 500 m, clustered in cities of 2,000 fences; pedestrians to cars',
  fenceCount: 100_000,
  places: cities,
  speedsMps: [1, 15],
  fences(count, seed) {
    const positionIn = positionPicker(cities(count, seed));
    return drawFences(count, seed, (random) => ({
      center: positionIn(random),
      radiusM: Math.round(random.between(50, 500)),
      ring: null,
    }));
  },
};
