/** Polygons of 4 to 2,000 vertices in the same cities: as many of 4 to 40 vertices as of 200 to 2,000. */
import { cities, drawFences, logUniform, positionPicker, starRing, type Workload } from './workload.js';

/** Polygons in cities. */
export const polygonsWorkload: Workload = {
  name: 'polygons',
  about: 'polygons of 4 to 2,000 vertices and 100 m to 2 km, clustered in cities; pedestrians to cars',
  fenceCount: 20_000,
  places: cities,
  speedsMps: [1, 15],
  fences(count, seed) {
    const positionIn = positionPicker(cities(count, seed));
    return drawFences(count, seed, (random) => {
      const center = positionIn(random);
      const radiusM = Math.round(logUniform(random, 100, 2_000));
      const vertices = Math.floor(logUniform(random, 4, 2_001));
      return { center, radiusM, ring: starRing(random, center, radiusM, vertices) };
    });
  },
};
