/** Circles of 50 to 500 m around the shops, stops and depots of many cities. */
import { createRandom } from '../../schemas/random.js';
import { cities, placePicker, positionNear, type Workload } from './workload.js';

export const citiesWorkload: Workload = {
  name: 'cities',
  about: 'circles of 50 to 500 m, clustered in cities of 2,000 fences; pedestrians to cars',
  fenceCount: 100_000,
  places: cities,
  speedsMps: [1, 15],
  *fences(count, seed) {
    const places = cities(count, seed);
    const pick = placePicker(places);
    const random = createRandom(seed + 1);
    for (let number = 0; number < count; number++) {
      const center = positionNear(places[pick(random)]!, random);
      yield { number, center, radiusM: Math.round(random.between(50, 500)), ring: null };
    }
  },
};
