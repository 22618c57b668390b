/**
 * A bare loop over Flatbush as the limit: what the search and the simplest containment test cost, without anything that
 * a product does beside them. Its index can't change, so a new fence builds it again.
 */
import Flatbush from 'flatbush';
import type { Fence } from '../workloads/workload.js';
import { offset } from '../workloads/workload.js';
import type { Peer, Transition } from './engine.js';
import { type Core, startInProcess } from './in-process.js';
import type { Scene } from './scene.js';

const earthRadiusM = 6_371_008;
const radiansPerDegree = Math.PI / 180;
const none: readonly number[] = [];

/** Creates the core of a scene, without fences. */
export function createFlatbushCore({ fixes }: Scene): Core {
  let fences: Fence[] = [];
  let index: Flatbush | undefined;
  const visits: (readonly number[])[] = new Array(fixes.deviceCount).fill(none);

  function build(): void {
    index = new Flatbush(fences.length);
    for (const fence of fences) index.add(...boxOf(fence));
    index.finish();
  }

  function applyOne(fix: number): Transition[] | undefined {
    const [longitude, latitude] = [fixes.longitudes[fix]!, fixes.latitudes[fix]!];
    const device = fixes.devices[fix]!;
    const before = visits[device]!;
    const inside = index!.search(longitude, latitude, longitude, latitude, (row) =>
      contains(fences[row]!, longitude, latitude),
    );
    if (before.length === 0 && inside.length === 0) return undefined;
    visits[device] = inside;
    const transitions: Transition[] = [];
    for (const row of before)
      if (!inside.includes(row)) transitions.push({ fix, fence: fences[row]!.number, kind: 'exit' });
    for (const row of inside)
      if (!before.includes(row)) transitions.push({ fix, fence: fences[row]!.number, kind: 'enter' });
    return transitions;
  }

  return {
    load(all) {
      fences = [...all];
      build();
    },
    apply(from, to) {
      for (let fix = from; fix < to; fix++) applyOne(fix);
    },
    locate: (fix) => applyOne(fix) ?? [],
    put(fence) {
      fences.push(fence);
      build();
    },
    restart() {
      visits.fill(none);
    },
  };
}

function boxOf({ center, radiusM, ring }: Fence): [number, number, number, number] {
  if (ring !== null) {
    const [xs, ys] = [ring.map(([x]) => x), ring.map(([, y]) => y)];
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }
  // A circle bulges a little beyond the points straight east and west of its centre.
  const reachM = radiusM * 1.02;
  const [east, north] = offset(center, reachM, reachM);
  const [width, height] = [east - center[0], north - center[1]];
  return [center[0] - width, center[1] - height, center[0] + width, center[1] + height];
}

function contains({ center, radiusM, ring }: Fence, longitude: number, latitude: number): boolean {
  if (ring === null) return haversineM(center[0], center[1], longitude, latitude) <= radiusM;
  let isInside = false;
  for (let at = 1; at < ring.length; at++) {
    const [x1, y1] = ring[at - 1]!;
    const [x2, y2] = ring[at]!;
    if (y1 > latitude !== y2 > latitude && longitude < x1 + ((x2 - x1) * (latitude - y1)) / (y2 - y1))
      isInside = !isInside;
  }
  return isInside;
}

function haversineM(x1: number, y1: number, x2: number, y2: number): number {
  const halfX = Math.sin(((x2 - x1) * radiansPerDegree) / 2);
  const halfY = Math.sin(((y2 - y1) * radiansPerDegree) / 2);
  const share = halfY * halfY + Math.cos(y1 * radiansPerDegree) * Math.cos(y2 * radiansPerDegree) * halfX * halfX;
  return 2 * earthRadiusM * Math.asin(Math.sqrt(share));
}

/** The bare loop. */
export const flatbushPeer: Peer = {
  name: 'flatbush',
  about: 'a loop over a static index, called in process: the limit',
  durability: 'none',
  semantics: 'a sphere; by arrival, so a late fix moves the device back',
  hasPolygons: true,
  install: '',
  lacking: async () => undefined,
  version: async () => '4',
  start: (scene) => startInProcess('flatbush', scene),
};
