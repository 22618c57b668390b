/** What a location costs when fences, and then devices, grow tenfold at the same density. */
import type { BenchCase, BenchOptions, Row } from '../case.js';
import type { Peer } from '../peers/engine.js';
import { drawScene, type SceneOptions } from '../peers/scene.js';
import { participants } from './engines.js';

const sizes = {
  smoke: [500],
  medium: [1_000, 10_000, 100_000],
  full: [1_000, 10_000, 100_000, 1_000_000],
};
/** Loading more takes others too long. */
const mostOfPeers = 100_000;
const inProcess = ['fenceline', 'flatbush'];
const rounds = 3;

interface Growth {
  readonly kind: 'fences' | 'devices';
  readonly size: number;
  readonly scene: SceneOptions;
  readonly perRound: number;
}

async function measure(peers: readonly Peer[], { kind, size, scene: options, perRound }: Growth): Promise<Row[]> {
  const scene = drawScene(options);
  const rows: Row[] = [];
  for (const peer of peers) {
    const engine = await peer.start(scene, false);
    const row = (measure: string, unit: string, values: readonly number[]): Row => ({
      what: `${peer.name}: ${measure}, ${size} ${kind}`,
      unit,
      rounds: values,
      point: { measure: `${measure}-${kind}`, engine: peer.name, setting: `${size}` },
    });
    try {
      await engine.load(scene.fences());
      const loaded = await engine.usage();
      // Each device is new once.
      await engine.apply(0, options.devices);
      const before = await engine.usage();
      const processorUs: number[] = [];
      let usedS = before.processorS;
      for (let index = 0; index < rounds; index++) {
        const from = options.devices + index * perRound;
        await engine.apply(from, from + perRound);
        const { processorS } = await engine.usage();
        processorUs.push(((processorS - usedS) / perRound) * 1e6);
        usedS = processorS;
      }
      rows.push(row('growth', 'us', processorUs));
      const memoryMib = kind === 'fences' ? loaded.memoryMib : before.memoryMib - loaded.memoryMib;
      rows.push(row('memory', 'MiB', [memoryMib]));
    } finally {
      await engine.stop();
    }
  }
  return rows;
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke, size: runSize, seed } = options;
  const all = (await participants(options, false)).filter(({ name }) => !smoke || inProcess.includes(name));
  const rows: Row[] = [];
  for (const size of sizes[runSize]) {
    const chosen = all.filter(({ name }) => size <= mostOfPeers || inProcess.includes(name));
    for (const kind of smoke ? (['fences'] as const) : (['fences', 'devices'] as const)) {
      const [fences, devices] = kind === 'fences' ? [size, Math.min(size, 10_000)] : [Math.min(size, 10_000), size];
      const perRound = smoke ? 1_000 : 20_000;
      const scene = { workload: 'cities', seed, fences, devices, fixes: devices + rounds * perRound };
      rows.push(...(await measure(chosen, { kind, size, scene, perRound })));
    }
  }
  return rows;
}

export const growthCase: BenchCase = {
  name: 'growth',
  about: 'processor time of a location, and memory, among 1 k to 1 M circles, and of fleets of 1 k to 1 M devices',
  run,
};
