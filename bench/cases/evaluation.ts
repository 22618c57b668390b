/**
 * Evaluation alone, on one thread: fixes of wandering devices through `evaluate`, states kept in memory, no I/O.
 *
 * The last four rows are the cases Tile38 was measured with: fences of one kind, points without accuracy.
 */
import { evaluate } from '../../pipeline/evaluation/evaluate.js';
import type { Surroundings } from '../../pipeline/evaluation/types.js';
import type { DeviceState, Location } from '../../schemas/records.js';
import { type BenchCase, type BenchOptions, type Row, rates } from '../case.js';
import { benchProject, surroundingsOf } from '../surroundings.js';
import { type FenceMix, realisticVertices, wander } from '../workload.js';

const devices = 10_000;

const mixed = (count: number): FenceMix => ({ count, radiusM: 150, polygons: 0.5, vertices: realisticVertices, seed: 1 });
const circles = (count: number, radiusM: number): FenceMix => ({ count, radiusM, polygons: 0, vertices: () => 0, seed: 2 });

interface Setting {
  readonly what: string;
  readonly mix: FenceMix;
  readonly accuracyM: number;
  readonly target: string;
}

const settings: readonly Setting[] = [
  { what: '100 k fences, half polygons', mix: mixed(100_000), accuracyM: 10, target: '>= 400,000' },
  { what: '1 M fences, half polygons', mix: mixed(1_000_000), accuracyM: 10, target: '>= 150,000' },
  { what: '100 k circles of 100 m', mix: circles(100_000, 100), accuracyM: 0, target: '>= 10 x Tile38' },
  { what: '23 k circles of 500 m', mix: circles(23_000, 500), accuracyM: 0, target: '>= 10 x Tile38' },
  { what: '100 k circles of 500 m', mix: circles(100_000, 500), accuracyM: 0, target: '>= 10 x Tile38' },
  {
    what: '100 k polygons of 32 vertices',
    mix: { count: 100_000, radiusM: 150, polygons: 1, vertices: () => 32, seed: 3 },
    accuracyM: 0,
    target: '>= 10 x Tile38',
  },
];

/** Applies fix after fix to states in memory, as the location stage does between its reads and its commits. */
function evaluator(surroundings: Surroundings, accuracyM: number): (count: number) => void {
  const fixes = wander(devices, 4);
  const states: (DeviceState | undefined)[] = new Array(devices).fill(undefined);
  const names = Array.from({ length: devices }, (_, device) => `device-${device}`);
  let now = 1_700_000_000_000;
  return (count) => {
    for (let index = 0; index < count; index++) {
      const { device, longitude, latitude } = fixes.next().value;
      now += 1;
      const location = locationOf(names[device] as string, longitude, latitude, accuracyM, now);
      states[device] = evaluate(location, states[device], surroundings).state;
    }
  };
}

const locationOf = (deviceId: string, longitude: number, latitude: number, accuracy_m: number, now: number): Location => ({
  id: '0123456789abcdef01234567',
  project: benchProject,
  environment: 'test',
  deviceId,
  userId: null,
  latitude,
  longitude,
  accuracy_m,
  occurredAt: now,
  receivedAt: now,
  deviceTimed: true,
  foreground: true,
  stopped: false,
  replayed: false,
  beacons: null,
  ip: null,
  source: null,
  replyTo: null,
  details: null,
});

async function measure({ what, mix, accuracyM, target }: Setting, { smoke }: BenchOptions): Promise<Row> {
  const { surroundings, close } = surroundingsOf(smoke ? { ...mix, count: 1_000 } : mix);
  const rounds = await rates(smoke ? 1 : 5, smoke ? 20_000 : 500_000, evaluator(surroundings, accuracyM));
  await close();
  return { what, unit: 'locations/s', rounds, target };
}

export const evaluationCase: BenchCase = {
  name: 'evaluation',
  about: 'evaluation alone, one thread',
  async run(options) {
    const rows: Row[] = [];
    for (const setting of settings) rows.push(await measure(setting, options));
    return rows;
  },
};
