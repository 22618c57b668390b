/** Few small circles in the whole world: nearly no location is near one. */
import type { Position } from '../../schemas/json/common.js';
import { createRandom, type Random } from '../../schemas/random.js';
import { drawFences, type Workload } from './workload.js';

const placeCount = 1_000;

/** Uniform on the sphere between 70 degrees south and north. */
function positionInWorld(random: Random): Position {
  const latitude = (Math.asin(random.between(-0.94, 0.94)) * 180) / Math.PI;
  return [random.between(-180, 180), latitude];
}

/** Small circles all over the world. */
export const sparseWorkload: Workload = {
  name: 'sparse',
  about: 'circles of 50 to 500 m all over the world; devices of all speeds, one of ten near a fence',
  fenceCount: 100_000,
  // A tenth of the devices moves around a fence each, so that there are some events.
  places(fenceCount, seed) {
    const random = createRandom(seed + 2);
    const share = 1 / placeCount;
    const around = Array.from(
      sparseWorkload.fences(Math.min(fenceCount, placeCount / 10), seed),
      ({ center }) => center,
    );
    return Array.from({ length: placeCount }, (_, index) =>
      index < around.length
        ? { center: around[index]!, spreadM: 500, share }
        : { center: positionInWorld(random), spreadM: 20_000, share },
    );
  },
  speedsMps: [1, 30],
  fences: (count, seed) =>
    drawFences(count, seed, (random) => ({
      center: positionInWorld(random),
      radiusM: Math.round(50 + 450 * random.next()),
      ring: null,
    })),
};
