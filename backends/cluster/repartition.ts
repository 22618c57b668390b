/**
 * Another number of partitions for an installation whose processes are all stopped.
 *
 * A device's partition follows from its key and the number of partitions: with more of them, most devices belong
 * elsewhere, and their states go with them.
 * Everything that waited must be done before, for the records of a device may not lie in two partitions while one of
 * them is still to be read.
 *
 * From its first change on, a mark in Redis keeps nodes from starting. Ended in the middle, it is done again and goes
 * on: nothing that is done again does harm.
 */
import { createKafka } from './kafka/connection/client.js';
import type { KafkaOptions, RedisOptions } from './options.js';
import { connectRedis, type RedisConnection } from './redis/connection.js';
import { createRedisStateStore } from './redis/state-store.js';
import { processesIn, type Reader, type Site, waitingIn } from './repartition/obstacles.js';
import { moveStates } from './repartition/states.js';
import { checkGrowth, countPartitions, growTopics } from './repartition/topics.js';
import { type Change, changeUnderWay, mark, unmark } from './repartition/under-way.js';

export interface RepartitionOptions {
  readonly kafka: KafkaOptions;
  readonly redis: RedisOptions;
  /** Every group of ours. */
  readonly readers: readonly Reader[];
  /** Told as it happens. */
  readonly onStep: (message: string) => void;
  /** What went wrong and is being sat out. Never a secret. */
  readonly onProblem: (message: string) => void;
}

/** `reasons` say what is in the way. */
export type RepartitionResult = { readonly ok: true } | { readonly ok: false; readonly reasons: readonly string[] };

/** Rejects where a service fails for longer than can be sat out; then, as after a kill, it is to be done again. */
export async function repartition(options: RepartitionOptions, to: number): Promise<RepartitionResult> {
  const { kafka, onProblem, readers } = options;
  const redis = await connectRedis(options.redis, onProblem);
  const admin = createKafka(kafka, onProblem).admin();
  try {
    await admin.connect();
    return await repartitionSite({ admin, redis, kafka, readers }, to, options.onStep);
  } finally {
    await admin.disconnect();
    await redis.close();
  }
}

async function repartitionSite(site: Site, to: number, onStep: (message: string) => void): Promise<RepartitionResult> {
  const { admin, redis, kafka } = site;
  const counts = [...(await countPartitions(admin, kafka)).values()];
  const underWay = await changeUnderWay(redis);
  const planned = underWay === undefined ? newChange(counts, to) : sameChange(underWay, to);
  if (!planned.ok) return planned;
  const { change } = planned;

  if (underWay === undefined) await checkGrowth(admin, kafka, to);
  // Before anybody is looked for: who starts from now on is refused.
  await mark(redis, change);
  const hasGrown = counts.some((count) => count === to);
  const reasons = await obstacles(site, hasGrown ? undefined : change.from);
  if (reasons.length > 0) {
    if (!hasGrown) await unmark(redis);
    return { ok: false, reasons };
  }

  await claimAll(redis, change.from);
  onStep(`claimed ${change.from} partitions`);
  await growTopics(admin, kafka, to);
  onStep(`topics ${kafka.prefix}* have ${to} partitions`);
  onStep(`moved ${await moveAll(redis, to, onStep)} states of devices`);

  const started = await processesIn(site);
  if (started.length > 0) return { ok: false, reasons: [...started.map(running), 'stop them and run this again'] };
  await unmark(redis);
  return { ok: true };
}

type Planned =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly reasons: readonly string[] };

const refused = (reason: string): Planned => ({ ok: false, reasons: [reason] });

/** `counts` of all topics. */
function newChange(counts: readonly number[], to: number): Planned {
  const from = Math.min(...counts);
  if (from === 0) return refused('the topics are not all there: a node makes them when it starts');
  if (Math.max(...counts) !== from)
    return refused(`the topics have ${from} to ${Math.max(...counts)} partitions: all must have the same`);
  if (to === from) return refused(`there are ${from} partitions already`);
  if (to < from) return refused(`there are ${from} partitions, and Kafka can only add to them`);
  return { ok: true, change: { from, to } };
}

const sameChange = (underWay: Change, to: number): Planned =>
  underWay.to === to
    ? { ok: true, change: underWay }
    : refused(
        `a change from ${underWay.from} to ${underWay.to} partitions is under way: run it again with --partitions ${underWay.to}`,
      );

const running = (who: string): string => `still running: ${who}`;

/** Without `partitions` of processes only: what waits was looked for before the topics grew. */
async function obstacles(site: Site, partitions: number | undefined): Promise<string[]> {
  const processes = await processesIn(site);
  const waiting = partitions === undefined ? [] : await waitingIn(site, partitions);
  return [
    ...processes.map(running),
    ...(processes.length > 0
      ? ['stop every process of Fenceline; one that was killed counts for kafka.sessionTimeoutMs']
      : []),
    ...waiting.map((what) => `still waiting: ${what}`),
    ...(waiting.length > 0
      ? ['start the nodes without the role ingest, wait until nothing is left, and stop them']
      : []),
  ];
}

/** Whoever owned the partitions can write nothing from now on. */
async function claimAll(redis: RedisConnection, partitions: number): Promise<void> {
  const refuse = async (): Promise<never> => {
    throw new Error('a process has written to a partition meanwhile: stop it and run this again');
  };
  const store = createRedisStateStore({
    redis,
    wire: { toWire() {} },
    publish: refuse,
    publishMissing: refuse,
    retentionMs: 0,
  });
  await Promise.all(Array.from({ length: partitions }, (_, partition) => store.claim(partition)));
}

const tellEvery = 100_000;

function moveAll(redis: RedisConnection, partitions: number, onStep: (message: string) => void): Promise<number> {
  let moved = 0;
  return moveStates(redis, partitions, (states) => {
    const isTold = Math.floor((moved + states) / tellEvery) > Math.floor(moved / tellEvery);
    moved += states;
    if (isTold) onStep(`moved ${moved} states so far`);
  });
}
