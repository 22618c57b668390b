/**
 * Fenceline and its peers under each workload, in turn, on the same fences and fixes.
 *
 * Each engine is a process of its own. A round gives every engine the same time.
 */
import type { BenchCase, BenchOptions, Row } from '../case.js';
import { type Comparison, causes, compare } from '../compare.js';
import { benchProject, contextOf } from '../context.js';
import { always, peers } from '../peers/all.js';
import type { Engine, Peer, Transition } from '../peers/engine.js';
import { drawScene, type Scene, type SceneOptions } from '../peers/scene.js';
import { allRounds, begin, counted, type Measured, round, roundsOf, warmUp } from '../rounds.js';
import { geofenceId, recordOf } from '../workload.js';
import { workloads } from '../workloads/all.js';
import type { Fixes } from '../workloads/fleet.js';
import type { Workload } from '../workloads/workload.js';

/**
 * The share of a workload's fences; the devices; the fixes that there are; and those whose transitions are compared.
 */
const sizes = {
  smoke: { share: 0.005, devices: 200, fixes: 4_000, compared: 1_000 },
  medium: { share: 0.2, devices: 2_000, fixes: 4_000_000, compared: 5_000 },
  full: { share: 1, devices: 10_000, fixes: 6_000_000, compared: 20_000 },
};
/** Devices that are located at the same time when entries and exits are compared. */
const lanes = 64;

/** Returns the peers that were asked for and can run here, after the engines that are always measured. */
export async function participants({ peers: asked }: BenchOptions, needsPolygons: boolean): Promise<Peer[]> {
  const found: Peer[] = [...always];
  for (const peer of peers.filter(({ name }) => asked.includes(name))) {
    const reason = await peer.lacking();
    if (reason !== undefined) console.log(`left out: ${peer.name}, ${reason}. Install it: ${peer.install}`);
    else if (needsPolygons && !peer.hasPolygons) console.log(`left out: ${peer.name}, which has no polygons`);
    else found.push(peer);
  }
  return found;
}

/** Returns the transitions of the fixes up to `to`; the devices of a lane are located one after the other. */
async function transitionsOf(engine: Engine, fixes: Fixes, from: number, to: number): Promise<Transition[]> {
  const found: Transition[] = [];
  const locateLane = async (lane: number): Promise<void> => {
    for (let fix = from; fix < to; fix++) {
      if (fixes.devices[fix]! % lanes === lane) found.push(...(await engine.locate(fix)));
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => locateLane(lane)));
  return found;
}

/** Locates all fixes of a scene, and kills the engine in the middle. */
async function foundBy(peer: Peer, scene: Scene): Promise<Transition[]> {
  const engine = await peer.start(scene, true);
  try {
    await engine.load(scene.fences());
    const middle = scene.fixes.count >> 1;
    const first = await transitionsOf(engine, scene.fixes, 0, middle);
    if (peer.name !== 'fenceline') await engine.restart();
    return [...first, ...(await transitionsOf(engine, scene.fixes, middle, scene.fixes.count))];
  } finally {
    await engine.stop();
  }
}

async function comparisons(engines: readonly Peer[], options: SceneOptions): Promise<Map<Peer, Comparison>> {
  const scene = drawScene(options);
  const { fixes } = scene;
  const fences = [...scene.fences()];
  const { context, close } = contextOf(fences.map((fence) => recordOf(fence, benchProject)));
  const rows = fences.map(({ number }) => context.fences.rowOf(geofenceId(benchProject, number)));
  const [reference, ...others] = engines;
  const expected = await foundBy(reference!, scene);
  const results = new Map<Peer, Comparison>();
  for (const peer of others) {
    const comparison = compare({
      fixes,
      reference: expected,
      found: await foundBy(peer, scene),
      restartedAt: fixes.count >> 1,
      outlineDistanceM: (fix, fence) =>
        Math.abs(context.fences.signedDistance(rows[fence]!, fixes.longitudes[fix]!, fixes.latitudes[fix]!)),
      // A sphere and WGS84 differ by at most 0.6 % of a radius, and Redis rounds positions to 60 cm. The edges of
      // polygons are straight in longitude and latitude everywhere.
      toleranceM: (fence) => (fences[fence]!.ring ? 0.3 : 1 + 0.006 * fences[fence]!.radiusM),
    });
    results.set(peer, comparison);
  }
  await close();
  return results;
}

async function run(workload: Workload, options: BenchOptions): Promise<Row[]> {
  const { smoke, size, seed } = options;
  const common = { workload: workload.name, seed };
  const engines = await participants(options, workload.name === 'polygons');
  const { share, devices, fixes, compared } = sizes[size];
  const fences = Math.ceil(workload.fenceCount * share);
  const scene = drawScene({ ...common, fences, devices, fixes });
  // A smoke run starts no server for this: the case of latencies does.
  const measuredPeers = smoke ? engines.filter(({ name }) => name !== 'fenceline-http') : engines;
  const measured: Measured[] = [];
  try {
    for (const peer of measuredPeers) measured.push(await begin(peer, scene));
    const rounds = roundsOf(smoke);
    for (const each of measured) await warmUp(each, scene, rounds);
    for (let index = 0; index < allRounds(rounds); index++) {
      for (const each of measured) await round(each, scene, rounds);
    }
    const rows = measured.flatMap((each) => figures(each, workload, fences));
    await Promise.all(measured.splice(0).map(({ engine }) => engine.stop()));
    // The comparison doesn't depend on the workload's geometry, so a smoke run makes it once.
    if (smoke && workload !== workloads[0]) return rows;
    const few = { ...common, fences: Math.min(20_000, fences), devices: compared / 20, fixes: compared };
    return [...rows, ...comparisonRows(workload, await comparisons(measuredPeers, few))];
  } finally {
    await Promise.all(measured.map(({ engine }) => engine.stop()));
  }
}

function figures(each: Measured, { name: setting }: Workload, fences: number): Row[] {
  const { name: engine } = each.peer;
  const row = (measure: string, what: string, unit: string, values: readonly number[]): Row => ({
    what: `${engine}: ${what}`,
    unit,
    rounds: values,
    point: { measure, engine, setting },
  });
  return [
    row('rate', 'locations a second', 'locations/s', counted(each.rates)),
    row('processor', 'processor time of a location', 'us', counted(each.processorUs)),
    row('load', `${fences} fences loaded`, 's', [each.loadS]),
  ];
}

function comparisonRows({ name: setting }: Workload, all: ReadonlyMap<Peer, Comparison>): Row[] {
  return [...all].flatMap(([{ name: engine }, { same, missing, extra, modelErrorM }]): Row[] => {
    const row = (measure: string, value: number, unit = 'transitions'): Row => ({
      what: `${engine}: ${measure}`,
      unit,
      rounds: [value],
      point: { measure, engine, setting },
    });
    return [
      row('same', same),
      ...causes.flatMap((cause) => [row(`missing, ${cause}`, missing[cause]), row(`extra, ${cause}`, extra[cause])]),
      row('distance model, at most', modelErrorM, 'm'),
    ];
  });
}

/** A case for each workload. */
export const engineCases: readonly BenchCase[] = workloads.map((workload) => ({
  name: workload.name,
  about: `${workload.about}; Fenceline in process and over HTTP, and the peers`,
  run: (options) => run(workload, options),
}));
