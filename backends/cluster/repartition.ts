/**
 * Changes the number of partitions while all processes are stopped.
 *
 * A device's partition depends on its key and the number of partitions. With more partitions, most devices belong to
 * another one, and their states move there. All records must be processed before, because unread records of a device
 * must not be in two partitions.
 *
 * A marker in Redis keeps nodes from starting during the change. An interrupted change can be repeated: every step is
 * idempotent.
 */
import { createKafka } from './kafka/connection/client.js';
import type { KafkaOptions, RedisOptions } from './options.js';
import { connectRedis, type RedisConnection } from './redis/connection.js';
import { createRedisStateStore } from './redis/state-store.js';
import { clearInProgress, type Repartition, repartitionInProgress, setInProgress } from './repartition/in-progress.js';
import { processesIn, type Reader, type RepartitionServices, waitingIn } from './repartition/obstacles.js';
import { moveStates } from './repartition/states.js';
import { checkGrowth, countPartitions, growTopics } from './repartition/topics.js';
import { answerOfService, nameOfKafka } from './service-error.js';

interface RepartitionOptions {
  readonly kafka: KafkaOptions;
  readonly redis: RedisOptions;
  /** All consumer groups. */
  readonly readers: readonly Reader[];
  /** Called after each step. */
  readonly onStep: (message: string) => void;
  /** Called for problems that are retried. Messages contain no secrets. */
  readonly onProblem: (message: string) => void;
}

/** `reasons` describe the obstacles. */
type RepartitionResult = { readonly ok: true } | { readonly ok: false; readonly reasons: readonly string[] };

/** Rejects with a ServiceError when a service is out of reach for too long. Repeat it then, as after a crash. */
export async function repartition(options: RepartitionOptions, to: number): Promise<RepartitionResult> {
  const { kafka, onProblem, readers } = options;
  const redis = await answerOfService(connectRedis(options.redis, onProblem));
  const admin = createKafka(kafka, onProblem).admin();
  try {
    await answerOfService(admin.connect(), nameOfKafka(kafka));
    return await answerOfService(repartitionOn({ admin, redis, kafka, readers }, to, options.onStep));
  } finally {
    await admin.disconnect();
    await redis.close();
  }
}

async function repartitionOn(
  services: RepartitionServices,
  to: number,
  onStep: (message: string) => void,
): Promise<RepartitionResult> {
  const { admin, redis, kafka } = services;
  const counts = [...(await countPartitions(admin, kafka)).values()];
  const inProgress = await repartitionInProgress(redis);
  const planned = inProgress === undefined ? plan(counts, to) : planAgain(inProgress, to);
  if (!planned.ok) return planned;
  const { change } = planned;

  if (inProgress === undefined) await checkGrowth(admin, kafka, to);
  // Set before processes are looked for, so that no other one starts.
  await setInProgress(redis, change);
  const hasGrown = counts.some((count) => count === to);
  const reasons = await obstacles(services, hasGrown ? undefined : change.from);
  if (reasons.length > 0) {
    if (!hasGrown) await clearInProgress(redis);
    return { ok: false, reasons };
  }

  await claimAll(redis, change.from);
  onStep(`claimed ${change.from} partitions`);
  await growTopics(admin, kafka, to);
  onStep(`topics ${kafka.prefix}* have ${to} partitions`);
  onStep(`moved ${await moveAll(redis, to, onStep)} states of devices`);

  const started = await processesIn(services);
  if (started.length > 0) return { ok: false, reasons: [...started.map(running), 'stop them and run this again'] };
  await clearInProgress(redis);
  return { ok: true };
}

type Planned =
  | { readonly ok: true; readonly change: Repartition }
  | { readonly ok: false; readonly reasons: readonly string[] };

const refused = (reason: string): Planned => ({ ok: false, reasons: [reason] });

/** Plans a new change. `counts` are the partitions of all topics. */
function plan(counts: readonly number[], to: number): Planned {
  const from = Math.min(...counts);
  if (from === 0) return refused('topics are missing: a node creates them when it starts');
  if (Math.max(...counts) !== from)
    return refused(`the topics have ${from} to ${Math.max(...counts)} partitions: all must have the same`);
  if (to === from) return refused(`there are ${from} partitions already`);
  if (to < from) return refused(`there are ${from} partitions, and Kafka can only add to them`);
  return { ok: true, change: { from, to } };
}

/** Plans to continue an interrupted change. */
const planAgain = (inProgress: Repartition, to: number): Planned =>
  inProgress.to === to
    ? { ok: true, change: inProgress }
    : refused(
        `a change from ${inProgress.from} to ${inProgress.to} partitions is in progress: ` +
          `run it again with --partitions ${inProgress.to}`,
      );

const running = (who: string): string => `still running: ${who}`;

/** Without `partitions`, looks for processes only: unread records were looked for before the topics grew. */
async function obstacles(services: RepartitionServices, partitions: number | undefined): Promise<string[]> {
  const processes = await processesIn(services);
  const waiting = partitions === undefined ? [] : await waitingIn(services, partitions);
  return [
    ...processes.map(running),
    ...(processes.length > 0
      ? ['stop every process of Fenceline; a killed one counts until kafka.sessionTimeoutMs has passed']
      : []),
    ...waiting.map((what) => `still waiting: ${what}`),
    ...(waiting.length > 0
      ? ['start the nodes without the role ingest, wait until nothing is left, and stop them']
      : []),
  ];
}

/** Claims all partitions, so that earlier owners can't write any more. */
async function claimAll(redis: RedisConnection, partitions: number): Promise<void> {
  const refuse = async (): Promise<never> => {
    throw new Error('a process has written to a partition in the meantime: stop it and run this again');
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

const reportEvery = 100_000;

function moveAll(redis: RedisConnection, partitions: number, onStep: (message: string) => void): Promise<number> {
  let moved = 0;
  return moveStates(redis, partitions, (states) => {
    const isReported = Math.floor((moved + states) / reportEvery) > Math.floor(moved / reportEvery);
    moved += states;
    if (isReported) onStep(`moved ${moved} states so far`);
  });
}
