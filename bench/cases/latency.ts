/**
 * The time from sending a location to its event at a subscriber, at fixed rates, and from an upsert to its first event.
 *
 * Locations are sent on schedule, whatever is still unanswered, and times count from the schedule. A timer may be up to
 * a millisecond early: then they count from the sending.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchCase, type BenchOptions, percentile, type Row } from '../case.js';
import type { Engine, Peer } from '../peers/engine.js';
import { drawScene, type Scene } from '../peers/scene.js';
import type { Fixes } from '../workloads/fleet.js';
import { participants } from './engines.js';

const upserts = 20;
const upsertRadiusM = 60;
const metresPerDegree = 111_195;
const percentiles = [
  ['p50', 0.5],
  ['p99', 0.99],
] as const;

/** Sends `count` fixes at a fixed rate. Returns the milliseconds of those that caused an event. */
async function eventLatencies(engine: Engine, from: number, count: number, perSecond: number): Promise<number[]> {
  const latenciesMs: number[] = [];
  const answers: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < count; index++) {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    const early = dueAt - performance.now();
    if (early > 1) await delay(early);
    const countedFrom = Math.min(dueAt, performance.now());
    answers.push(
      engine.locate(from + index).then((transitions) => {
        if (transitions.length > 0) latenciesMs.push(performance.now() - countedFrom);
      }),
    );
  }
  await Promise.all(answers);
  return latenciesMs;
}

/**
 * Returns whether the device was outside of a circle around the fix before, so that each engine reports an entry: those
 * that compare with the object before see none of a device that stands.
 */
function comesFromOutside({ devices, longitudes, latitudes }: Fixes, fix: number): boolean {
  let before = fix - 1;
  while (before >= 0 && devices[before] !== devices[fix]) before -= 1;
  if (before < 0) return false;
  const northM = (latitudes[fix]! - latitudes[before]!) * metresPerDegree;
  const eastM =
    (longitudes[fix]! - longitudes[before]!) * metresPerDegree * Math.cos((latitudes[fix]! * Math.PI) / 180);
  return Math.hypot(northM, eastM) > 2 * upsertRadiusM;
}

/** Adds a fence around the next fix. Returns the milliseconds until an event of this fence. */
async function upsertToEffect(engine: Engine, { fixes, options }: Scene, index: number, fix: number): Promise<number> {
  const number = options.fences + index;
  const startedAt = performance.now();
  await engine.put({
    number,
    center: [fixes.longitudes[fix]!, fixes.latitudes[fix]!],
    radiusM: upsertRadiusM,
    ring: null,
  });
  const transitions = await engine.locate(fix);
  if (!transitions.some(({ fence }) => fence === number)) throw new Error('the fence had no effect after its upsert');
  return performance.now() - startedAt;
}

/** The sending of an engine's locations: each rate and each upsert goes on where the one before has ended. */
interface Drive {
  readonly name: Peer['name'];
  readonly engine: Engine;
  readonly scene: Scene;
  /** Index of the next fix to send. */
  next: number;
}

/** Sends the first fix of every device, at a pace that all engines keep: every device is new once. */
async function sendFirstFixes(drive: Drive): Promise<void> {
  for (; drive.next < drive.scene.fixes.deviceCount; drive.next++) await drive.engine.locate(drive.next);
}

/** Measures the time to the event at a fixed rate. Returns no rows if no location caused one. */
async function latencyRows(
  drive: Drive,
  perSecond: number,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Row[]> {
  const results: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const latenciesMs = await eventLatencies(drive.engine, drive.next, seconds * perSecond, perSecond);
    drive.next += seconds * perSecond;
    if (latenciesMs.length > 0) results.push(latenciesMs);
  }
  if (results.length === 0) return [];
  return percentiles.map(([measure, share]) => ({
    what: `${drive.name}: event latency at ${perSecond}/s, ${measure}`,
    unit: 'ms',
    rounds: results.map((latencies) => percentile(latencies, share)),
    point: { measure: `latency-${measure}`, engine: drive.name, setting: `${perSecond}/s` },
  }));
}

/** Measures the time from an upsert to its first event, around those of the next fixes that enter. */
async function upsertRow(drive: Drive): Promise<Row> {
  const { engine, scene } = drive;
  const effectsMs: number[] = [];
  for (; effectsMs.length < upserts && drive.next < scene.fixes.count; drive.next++) {
    const isFit = scene.fixes.late[drive.next] === 0 && comesFromOutside(scene.fixes, drive.next);
    if (isFit) effectsMs.push(await upsertToEffect(engine, scene, effectsMs.length, drive.next));
    else await engine.locate(drive.next);
  }
  return {
    what: `${drive.name}: upsert to effect`,
    unit: 'ms',
    rounds: effectsMs,
    point: { measure: 'upsert', engine: drive.name, setting: `${scene.options.fences} fences` },
  };
}

async function measure(
  peer: Peer,
  scene: Scene,
  rates: readonly number[],
  repeats: { readonly rounds: number; readonly seconds: number },
): Promise<Row[]> {
  const engine = await peer.start(scene, true);
  try {
    await engine.load(scene.fences());
    const drive: Drive = { name: peer.name, engine, scene, next: 0 };
    await sendFirstFixes(drive);
    const rows: Row[] = [];
    for (const perSecond of rates) rows.push(...(await latencyRows(drive, perSecond, repeats)));
    return [...rows, await upsertRow(drive)];
  } finally {
    await engine.stop();
  }
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke, size, seed } = options;
  const rounds = smoke ? 1 : 3;
  const rates = smoke ? [100] : [100, 500];
  const seconds = smoke ? 1 : 5;
  const devices = smoke ? 100 : 1_000;
  const fixes = devices + rates.reduce((sum, rate) => sum + rate, 0) * seconds * rounds + 200;
  const scene = drawScene({
    workload: 'cities',
    fences: { smoke: 500, medium: 20_000, full: 100_000 }[size],
    devices,
    fixes,
    seed,
  });
  const rows: Row[] = [];
  for (const peer of await participants(options, false)) {
    if (peer.name === 'fenceline') continue;
    rows.push(...(await measure(peer, scene, rates, { rounds, seconds })));
  }
  return rows;
}

/** Times from locations and edits to events. */
export const latencyCase: BenchCase = {
  name: 'latency',
  about: 'from a location to its event at fixed rates, and from an upsert to its effect, among 100 k circles',
  run,
};
