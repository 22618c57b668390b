/**
 * Evaluation alone: fixes of wandering devices through `evaluate`, with states in memory and no I/O.
 *
 * One thread evaluates all devices. Then each core has a process with a part of the devices, as nodes of a cluster
 * share partitions. Processor time depends less on other load than wall time does. The settings without accuracy are
 * those of the measurements of Tile38: fences of one kind, and points. Tile38 and its sender use all cores, too.
 */
import { availableParallelism } from 'node:os';
import type { Address } from '../../testing/services/ports.js';
import { type BenchCase, type BenchOptions, type Row, rates, timesRow } from '../case.js';
import { startChild } from '../child.js';
import { benchProject } from '../context.js';
import {
  evaluationDevices,
  evaluationRounds,
  type RoundAnswer,
  type RoundCall,
  type Setting,
  type Share,
  settings,
} from '../evaluation/settings.js';
import { startTile38, Tile38 } from '../peers/tile38.js';
import { box, fences, wander } from '../workload.js';

const program = new URL('../evaluation/share.js', import.meta.url);

/** The same fences and fixes through Tile38. Its first round, in which every device is new, doesn't count either. */
async function measureTile38({ what, mix }: Setting, address: Address, smoke: boolean): Promise<Row> {
  const tile38 = await Tile38.connect(address);
  await tile38.watch(fences(smoke ? { ...mix, count: 1_000 } : mix, benchProject));
  const perRound = smoke ? 2_000 : 60_000;
  const fixes = wander(evaluationDevices, 4, mix.area ?? box);
  const take = function* () {
    for (let index = 0; index < perRound; index++) yield fixes.next().value;
  };
  const rounds = await rates(smoke ? 1 : 3, perRound, () => tile38.report(take()));
  tile38.close();
  return { what: `${what}: Tile38`, unit: 'SET/s', rounds };
}

interface Measured {
  /** Locations a second by wall time, by round. */
  readonly byClock: readonly number[];
  /** Locations a second of processor time of all processes, by round. */
  readonly byProcessor: readonly number[];
  /** In how many fences a fix lies, on average. */
  readonly overlaps: number;
  readonly eventsPerFix: number;
}

/** The first round, in which every device enters what it starts in and the code is compiled, doesn't count. */
async function measure(setting: number, { smoke }: BenchOptions, shares: number): Promise<Measured> {
  const { rounds, perRound } = evaluationRounds(smoke);
  const start = (share: number) => {
    const own: Share = { setting, smoke, share, shares };
    return startChild<RoundCall>(program, [JSON.stringify(own)]);
  };
  const children = await Promise.all(Array.from({ length: shares }, (_, share) => start(share)));
  const byClock: number[] = [];
  const byProcessor: number[] = [];
  let overlaps = 0;
  let events = 0;
  for (let round = 0; round <= rounds; round++) {
    const startedMs = performance.now();
    const answers = (await Promise.all(children.map((child) => child.call({ round })))) as RoundAnswer[];
    const elapsedS = (performance.now() - startedMs) / 1_000;
    if (round === 0) continue;
    byClock.push(perRound / elapsedS);
    byProcessor.push(perRound / answers.reduce((sum, { processorS }) => sum + processorS, 0));
    events += answers.reduce((sum, { transitions }) => sum + transitions, 0);
    overlaps = answers[0]!.overlaps;
  }
  for (const child of children) child.stop();
  return { byClock, byProcessor, overlaps, eventsPerFix: events / (rounds * perRound) };
}

/** Returns the rows of one thread, and of a process on each core. */
async function measureOwn(
  setting: number,
  options: BenchOptions,
): Promise<{ readonly one: Row; readonly all: Row; rows: Row[] }> {
  const { what, target } = settings[setting]!;
  const cores = availableParallelism();
  const alone = await measure(setting, options, 1);
  const shared = await measure(setting, options, cores);
  const each = `${alone.overlaps.toFixed(1)} overlaps, ${alone.eventsPerFix.toFixed(2)} events per location`;
  const row = (name: string, rounds: readonly number[], aim?: string): Row => ({
    what: name,
    unit: 'locations/s',
    rounds,
    ...(aim && { target: aim }),
  });
  const one = row(`${what} (${each})`, alone.byClock, target);
  const all = row(`${what}, ${cores} processes`, shared.byClock, target);
  return {
    one,
    all,
    rows: [
      one,
      row(`${what}, by processor time`, alone.byProcessor),
      all,
      row(`${what}, ${cores} processes, by processor time`, shared.byProcessor),
    ],
  };
}

/** Evaluation without a pipeline. */
export const evaluationCase: BenchCase = {
  name: 'evaluation',
  about: 'evaluation alone: one thread, and a process on each core',
  async run(options) {
    const rows: Row[] = [];
    const tile38 = options.peers.includes('tile38') ? await startTile38() : undefined;
    for (const [index, setting] of settings.entries()) {
      const own = await measureOwn(index, options);
      rows.push(...own.rows);
      // Points without accuracy: what Tile38 knows.
      if (!tile38 || setting.accuracyM > 0) continue;
      const peer = await measureTile38(setting, tile38, options.smoke);
      const ratio = `${setting.what}: ratio to Tile38`;
      rows.push(peer, timesRow(`${ratio}, one thread`, own.one, peer, '>= 12'));
      rows.push(timesRow(`${ratio}, ${availableParallelism()} processes`, own.all, peer, '>= 12'));
    }
    await tile38?.stop();
    return rows;
  },
};
