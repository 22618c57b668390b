/**
 * Rounds of an engine: it applies locations for a time, and continues in the next round where this one ended.
 *
 * A fix of each device, and then a whole round, don't count: each device becomes known, and code is compiled.
 */
import type { Engine, Peer } from './peers/engine.js';
import type { Scene } from './peers/scene.js';

const uncountedRounds = 1;
/** Every call waits for its last location, so a round has few calls. */
const callsPerRound = 3;
const leastPerCall = 1_000;

/** How many rounds, and how long. */
export interface RoundsOptions {
  /** Rounds that count. */
  readonly rounds: number;
  readonly roundMs: number;
}

/** Returns how much is measured: a glimpse in a smoke test. */
export const roundsOf = (isSmoke: boolean): RoundsOptions =>
  isSmoke ? { rounds: 1, roundMs: 50 } : { rounds: 3, roundMs: 2_000 };

/** An engine under measurement. */
export interface Measured {
  readonly peer: Peer;
  readonly engine: Engine;
  readonly loadS: number;
  /** Locations a second, by round. */
  readonly rates: number[];
  /** Processor time of a location in microseconds, by round. */
  readonly processorUs: number[];
  next: number;
  /** So many fixes at once, by the rate of its first round. */
  perCall: number;
}

/** Returns the rounds of the options and those before them that don't count. */
export const allRounds = ({ rounds }: RoundsOptions): number => uncountedRounds + rounds;

/** Starts an engine and loads the fences of the scene. The caller stops the engine. */
export async function begin(peer: Peer, scene: Scene): Promise<Measured> {
  const engine = await peer.start(scene, false);
  const startedAt = performance.now();
  await engine.load(scene.fences());
  const loadS = (performance.now() - startedAt) / 1_000;
  return { peer, engine, loadS, next: 0, perCall: leastPerCall, rates: [], processorUs: [] };
}

/** Applies a fix of each device. */
export async function warmUp(measured: Measured, { fixes }: Scene, { roundMs }: RoundsOptions): Promise<void> {
  const startedAt = performance.now();
  await measured.engine.apply(0, fixes.deviceCount);
  measured.next = fixes.deviceCount;
  const perMs = fixes.deviceCount / (performance.now() - startedAt);
  measured.perCall = Math.max(leastPerCall, Math.ceil((perMs * roundMs) / callsPerRound));
}

/** Applies fixes for a time, at most a share of those that there are, so that every round has some. */
export async function round(measured: Measured, { fixes }: Scene, options: RoundsOptions): Promise<void> {
  const { engine } = measured;
  const from = measured.next;
  const share = Math.floor((fixes.count - fixes.deviceCount) / allRounds(options));
  const last = Math.min(fixes.count, from + share);
  const before = await engine.usage();
  const startedAt = performance.now();
  while (measured.next < last && performance.now() - startedAt < options.roundMs) {
    const to = Math.min(last, measured.next + measured.perCall);
    await engine.apply(measured.next, to);
    measured.next = to;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await engine.usage();
  const count = measured.next - from;
  measured.rates.push(count / seconds);
  measured.processorUs.push(((after.processorS - before.processorS) / count) * 1e6);
}

/** Returns the results of the rounds that count. */
export const counted = (results: readonly number[]): readonly number[] => results.slice(uncountedRounds);
