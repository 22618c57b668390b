/** What a location costs when fences, and then devices, grow tenfold at the same density. */
import type { BenchCase, BenchOptions, Row } from '../case.js';
import type { Peer } from '../peers/engine.js';
import { drawScene, type SceneOptions } from '../peers/scene.js';
import { allRounds, begin, counted, type RoundsOptions, round, roundsOf, warmUp } from '../rounds.js';
import { participants } from './engines.js';

const sizes = {
  smoke: [500],
  medium: [1_000, 10_000, 100_000],
  full: [1_000, 10_000, 100_000, 1_000_000],
};
/** Loading more takes others too long. */
const mostOfPeers = 100_000;
const inProcess = ['fenceline', 'flatbush'];
/** Enough for the fastest engine. */
const mostPerRound = { smoke: 1_000, medium: 200_000, full: 1_000_000 };

interface Growth {
  readonly kind: 'fences' | 'devices';
  readonly size: number;
  readonly scene: SceneOptions;
  readonly rounds: RoundsOptions;
}

/** One engine after the other: all of them at once would fill the memory. */
async function measure(peers: readonly Peer[], { kind, size, scene: options, rounds }: Growth): Promise<Row[]> {
  const scene = drawScene(options);
  const rows: Row[] = [];
  for (const peer of peers) {
    const measured = await begin(peer, scene);
    const { engine, processorUs } = measured;
    const row = (measure: string, unit: string, values: readonly number[]): Row => ({
      what: `${peer.name}: ${measure}, ${size} ${kind}`,
      unit,
      rounds: values,
      point: { measure: `${measure}-${kind}`, engine: peer.name, setting: `${size}` },
    });
    try {
      const loaded = await engine.usage();
      await warmUp(measured, scene, rounds);
      const known = await engine.usage();
      for (let index = 0; index < allRounds(rounds); index++) await round(measured, scene, rounds);
      rows.push(row('growth', 'us', counted(processorUs)));
      const memoryMib = kind === 'fences' ? loaded.memoryMib : known.memoryMib - loaded.memoryMib;
      // A thousand fences take less than a process frees at the same time.
      rows.push(row('memory', 'MiB', [Math.max(0, memoryMib)]));
    } finally {
      await engine.stop();
    }
  }
  return rows;
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke, size: runSize, seed } = options;
  const all = (await participants(options, false)).filter(({ name }) => !smoke || inProcess.includes(name));
  const rounds = roundsOf(smoke);
  const rows: Row[] = [];
  for (const size of sizes[runSize]) {
    const chosen = all.filter(({ name }) => size <= mostOfPeers || inProcess.includes(name));
    for (const kind of smoke ? (['fences'] as const) : (['fences', 'devices'] as const)) {
      const [fences, devices] = kind === 'fences' ? [size, Math.min(size, 10_000)] : [Math.min(size, 10_000), size];
      const fixes = devices + allRounds(rounds) * mostPerRound[runSize];
      const scene = { workload: 'cities', seed, fences, devices, fixes };
      rows.push(...(await measure(chosen, { kind, size, scene, rounds })));
    }
  }
  return rows;
}

/** The cost of more fences and more devices. */
export const growthCase: BenchCase = {
  name: 'growth',
  about: 'processor time of a location, and memory, among 1 k to 1 M circles, and of fleets of 1 k to 1 M devices',
  run,
};
