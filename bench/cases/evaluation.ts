/**
 * Evaluation alone, on one thread: fixes of wandering devices through `evaluate`, with states in memory and no I/O.
 *
 * The young generation has the size of that of the location thread (package.json, server/threads/worker-host.ts). Fixes
 * are generated beforehand, and each becomes a new Location, like a decoded record. Every setting has two rows: wall
 * time, and processor time of the process, which depends less on other load. The settings without accuracy are those of
 * the measurements of Tile38: fences of one kind, and points.
 */
import { evaluate } from '../../pipeline/evaluation/evaluate.js';
import type { EvaluationContext } from '../../pipeline/evaluation/types.js';
import { Zone } from '../../pipeline/geometry/zone.js';
import type { DeviceState } from '../../schemas/records.js';
import type { Address } from '../../testing/services/ports.js';
import { type BenchCase, type BenchOptions, type Row, rates, timesRow } from '../case.js';
import { benchProject, contextOf, locationOf } from '../context.js';
import { startTile38, Tile38 } from '../peers/tile38.js';
import { type Box, box, type FenceMix, fences, realisticVertices, tenfoldBox, wander } from '../workload.js';

const devices = 10_000;

const mixed = (count: number, area: Box): FenceMix => ({
  count,
  radiusM: 150,
  polygons: 0.5,
  vertices: realisticVertices,
  seed: 1,
  area,
});
const circles = (count: number, radiusM: number): FenceMix => ({
  count,
  radiusM,
  polygons: 0,
  vertices: () => 0,
  seed: 2,
});

interface Setting {
  readonly what: string;
  readonly mix: FenceMix;
  readonly accuracyM: number;
  readonly target?: string;
}

const settings: readonly Setting[] = [
  { what: '100 k fences, half polygons', mix: mixed(100_000, box), accuracyM: 10, target: '>= 500,000' },
  {
    what: '100 k fences, half polygons, ten times the area',
    mix: mixed(100_000, tenfoldBox),
    accuracyM: 10,
    target: '>= 400,000',
  },
  // As dense as the 100 k: on the same area every step of 50 m would cross boundaries.
  {
    what: '1 M fences, half polygons, ten times the area',
    mix: mixed(1_000_000, tenfoldBox),
    accuracyM: 10,
    target: '>= 150,000',
  },
  { what: '100 k circles of 100 m', mix: circles(100_000, 100), accuracyM: 0 },
  { what: '23 k circles of 500 m', mix: circles(23_000, 500), accuracyM: 0 },
  { what: '100 k circles of 500 m', mix: circles(100_000, 500), accuracyM: 0 },
  {
    what: '100 k polygons of 32 vertices',
    mix: { count: 100_000, radiusM: 150, polygons: 1, vertices: () => 32, seed: 3 },
    accuracyM: 0,
  },
];

interface Fixes {
  readonly count: number;
  readonly devices: Int32Array;
  readonly longitudes: Float64Array;
  readonly latitudes: Float64Array;
}

function draw(count: number, area: Box): Fixes {
  const fixes = {
    count,
    devices: new Int32Array(count),
    longitudes: new Float64Array(count),
    latitudes: new Float64Array(count),
  };
  const wandering = wander(devices, 4, area);
  for (let index = 0; index < count; index++) {
    const { device, longitude, latitude } = wandering.next().value;
    fixes.devices[index] = device;
    fixes.longitudes[index] = longitude;
    fixes.latitudes[index] = latitude;
  }
  return fixes;
}

/** The same fences and fixes through Tile38. Its first round, in which every device is new, doesn't count either. */
async function measureTile38({ what, mix }: Setting, address: Address, smoke: boolean): Promise<Row> {
  const tile38 = await Tile38.connect(address);
  await tile38.watch(fences(smoke ? { ...mix, count: 1_000 } : mix, benchProject));
  const perRound = smoke ? 2_000 : 60_000;
  const fixes = wander(devices, 4, mix.area ?? box);
  const take = function* () {
    for (let index = 0; index < perRound; index++) yield fixes.next().value;
  };
  const rounds = await rates(smoke ? 1 : 3, perRound, () => tile38.report(take()));
  tile38.close();
  return { what: `${what}: Tile38`, unit: 'SET/s', rounds };
}

/** Applies fix after fix to states in memory, as the location stage does between its reads and its commits. */
function evaluator(fixes: Fixes, context: EvaluationContext, accuracyM: number): (from: number, to: number) => number {
  const states: (DeviceState | undefined)[] = new Array(devices).fill(undefined);
  const names = Array.from({ length: devices }, (_, device) => `device-${device}`);
  const epochMs = 1_700_000_000_000;
  return (from, to) => {
    let transitions = 0;
    for (let index = from; index < to; index++) {
      const device = fixes.devices[index]!;
      const longitude = fixes.longitudes[index]!;
      const location = locationOf(names[device]!, longitude, fixes.latitudes[index]!, accuracyM, epochMs + index);
      const evaluation = evaluate(location, states[device], context);
      states[device] = evaluation.state;
      transitions += evaluation.transitions.length;
    }
    return transitions;
  };
}

/** In how many fences a fix lies, on average. */
function overlapsPerFix({ fences }: EvaluationContext, fixes: Fixes): number {
  const sample = Math.min(fixes.count, 10_000);
  let inside = 0;
  for (let index = 0; index < sample; index++) {
    const longitude = fixes.longitudes[index]!;
    const latitude = fixes.latitudes[index]!;
    const candidates = fences.candidates(longitude, latitude, 0);
    for (let at = 0; at < fences.candidateCount; at++) {
      if (fences.zone(candidates[at]!, longitude, latitude, 0) === Zone.within) inside++;
    }
  }
  return inside / sample;
}

/** The first round, in which every device enters what it starts in and the code is compiled, doesn't count. */
async function measure(
  { what, mix, accuracyM, target }: Setting,
  { smoke }: BenchOptions,
): Promise<readonly [byClock: Row, byProcessor: Row]> {
  const { context, close } = contextOf(fences(smoke ? { ...mix, count: 1_000 } : mix, benchProject));
  const rounds = smoke ? 1 : 5;
  const perRound = smoke ? 20_000 : 300_000;
  const fixes = draw((rounds + 1) * perRound, mix.area ?? box);
  const overlaps = overlapsPerFix(context, fixes);
  const evaluateFixes = evaluator(fixes, context, accuracyM);
  const byClock: number[] = [];
  const byProcessor: number[] = [];
  let events = 0;
  evaluateFixes(0, perRound);
  for (let round = 1; round <= rounds; round++) {
    const startedMs = performance.now();
    const started = process.cpuUsage();
    events += evaluateFixes(round * perRound, (round + 1) * perRound);
    const { user, system } = process.cpuUsage(started);
    byClock.push((perRound / (performance.now() - startedMs)) * 1_000);
    byProcessor.push((perRound / (user + system)) * 1_000_000);
  }
  await close();
  const each = `${overlaps.toFixed(1)} overlaps, ${(events / (rounds * perRound)).toFixed(2)} events per location`;
  return [
    { what: `${what} (${each})`, unit: 'locations/s', rounds: byClock, ...(target && { target }) },
    { what: `${what}, by processor time`, unit: 'locations/s', rounds: byProcessor },
  ];
}

export const evaluationCase: BenchCase = {
  name: 'evaluation',
  about: 'evaluation alone, one thread',
  async run(options) {
    const rows: Row[] = [];
    const tile38 = options.peers.includes('tile38') ? await startTile38() : undefined;
    for (const setting of settings) {
      const own = await measure(setting, options);
      rows.push(...own);
      // Points without accuracy: what Tile38 knows.
      if (!tile38 || setting.accuracyM > 0) continue;
      const peer = await measureTile38(setting, tile38, options.smoke);
      rows.push(peer, timesRow(`${setting.what}: ratio to Tile38`, own[0], peer, '>= 12'));
    }
    await tile38?.stop();
    return rows;
  },
};
