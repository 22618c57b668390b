/**
 * Faults of a Redis Cluster of three masters with replicas, while states, deliveries, positions and replies are
 * written. A ledger knows the expected content.
 *
 * The state of a device is the number of its applied records. A record that is lost or applied twice therefore shows,
 * whatever was published. Two owners keep claiming each partition and each queue from each other: after a claim the
 * other owner must be refused.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { connectRedis, type RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { createRedisDeliveryQueue } from '../../../backends/cluster/redis/delivery-queue.js';
import { createRedisPositions } from '../../../backends/cluster/redis/positions.js';
import { createRedisInbox, createRedisReplies } from '../../../backends/cluster/redis/replies.js';
import { createRedisStateStore } from '../../../backends/cluster/redis/state-store.js';
import type { DeliveryQueue, NewRecord, StateStore } from '../../../pipeline/ports.js';
import { type RedisClusterServer, shortNodeTimeoutMs, startRedisCluster } from '../../../testing/services/redis.js';
import {
  isMaster,
  isReplica,
  masterOf,
  moveSlot,
  slotOf,
  takeOver,
  wholeFor,
} from '../../../testing/services/redis-slots.js';
import { until } from '../../../testing/until.js';
import { freshRedisOptions } from '../redis/fresh-redis.js';
import { inCampaign } from './campaign.js';

const partitions = 6;
/** Steps of each partition before and after the fault. */
const stepsAround = 40;
/** Interval between the steps of a worker. Faster workers would leave the servers no time to move anything. */
const stepEveryMs = 20;
/** Number of steps after which the owner changes. */
const stepsPerClaim = 15;
/** A guard against hanging: masters and workers share two cores with other test files. */
const patienceMs = 240_000;
const timeout = 2 * patienceMs;
/** Time limit of a command, after which it is repeated. On a busy machine a command takes more than a second. */
const commandTimeoutMs = 3_000;
const webhooks = ['65f0a1b2c3d4e5f600000001', '65f0a1b2c3d4e5f600000002', '65f0a1b2c3d4e5f600000003'];

let cluster: RedisClusterServer;
afterEach(() => cluster?.stop());

/** Returns the device of the record at the offset. Every seventh record is of a new device. */
const deviceOf = (offset: number): string => (offset % 7 === 0 ? `new ${offset}` : `device ${offset % 40}`);
const eventOf = (partition: number, offset: number): string => `${partition}/${offset}`;

/** The connections of one owner. */
interface Owner {
  readonly redis: RedisConnection;
  readonly store: StateStore;
  readonly queue: DeliveryQueue;
}

/** Counts how often each value was appended to topic `events`. */
class Published {
  readonly counts = new Map<string, number>();
  append(records: readonly NewRecord[]): void {
    for (const { value } of records) this.counts.set(`${value}`, (this.counts.get(`${value}`) ?? 0) + 1);
  }
}

async function openOwner(published: Published, prefix: string): Promise<Owner> {
  const options = freshRedisOptions(cluster.nodes, { prefix, commandTimeoutMs });
  // On a busy machine a slot moves for longer than the minute for which a process waits.
  const redis = await connectRedis(options, () => {}, { outageLimitMs: patienceMs });
  const store = createRedisStateStore({
    redis,
    retentionMs: 0,
    wire: { toWire: () => {} },
    publish: async (_topic, records) => published.append(records),
    publishMissing: async (_topic, records) =>
      published.append(records.filter(({ value }) => !published.counts.has(`${value}`))),
  });
  return { redis, store, queue: createRedisDeliveryQueue({ redis, partitions }) };
}

/** A loop that commits until it is stopped. */
interface Worker {
  /** Resolves after the step at which the loop ends. */
  readonly done: Promise<void>;
  steps: number;
  steppedAtMs: number;
  /** The longest time between two steps. */
  longestMs: number;
  /** The last step; infinite until the fault is over. */
  end: number;
}

function work(run: (worker: Worker) => Promise<void>): Worker {
  const worker = { steps: 0, steppedAtMs: performance.now(), longestMs: 0, end: Number.POSITIVE_INFINITY } as {
    -readonly [K in keyof Worker]: Worker[K];
  };
  worker.done = run(worker);
  return worker;
}

async function timed<T>(worker: Worker, step: () => Promise<T>): Promise<T> {
  const result = await step();
  const nowMs = performance.now();
  worker.longestMs = Math.max(worker.longestMs, nowMs - worker.steppedAtMs);
  worker.steppedAtMs = nowMs;
  worker.steps += 1;
  await pause(stepEveryMs);
  return result;
}

interface Rules {
  /** Whether masters may fail. Changes that were not replicated may then be lost: claims and commits together. */
  readonly mayFallBack: boolean;
}

/** Calls. `onRepeated` hears of an attempt without an answer in time, which may be executed after its repetition. */
async function called<T>(call: () => Promise<T>, onRepeated: () => void): Promise<T> {
  const startedAtMs = performance.now();
  const result = await call();
  if (performance.now() - startedAtMs >= commandTimeoutMs) onRepeated();
  return result;
}

/** Makes claims, and notes whether one was repeated: an attempt without an answer may fence a later claim. */
class Claims {
  mayBeFenced: boolean;

  constructor({ mayFallBack }: Rules) {
    this.mayBeFenced = mayFallBack;
  }

  make<T>(claim: () => Promise<T>): Promise<T> {
    return called(claim, () => {
      this.mayBeFenced = true;
    });
  }
}

/** Applies records as the location stage does. Returns the end of the partition. */
async function applyRecords(
  owners: readonly Owner[],
  partition: number,
  rules: Rules,
  worker: Worker,
): Promise<number> {
  const { mayFallBack } = rules;
  const claims = new Claims(rules);
  const committed = new Set<number>();
  let next = 0;
  for (let turn = 0; ; turn++) {
    const { store } = owners[turn % 2]!;
    const other = owners[(turn + 1) % 2]!.store;
    const claim = await claims.make(() => store.claim(partition));
    if (!mayFallBack) expect(claim.nextOffset).toBe(next);
    next = claim.nextOffset;
    for (let i = 0; i < stepsPerClaim; i++) {
      if (worker.steps >= worker.end) return next;
      const offsets = Array.from({ length: 1 + (next % 8) }, (_, each) => next + each);
      const counts = await countsOf(store, partition, [...new Set(offsets.map(deviceOf))]);
      for (const offset of offsets) counts.set(deviceOf(offset), counts.get(deviceOf(offset))! + 1);
      const records = offsets.map((offset) => ({
        key: deviceOf(offset),
        value: Buffer.from(eventOf(partition, offset)),
      }));
      const states = new Map([...counts].map(([device, count]) => [device, Buffer.from(`${count}`)]));
      const nextOffset = next + offsets.length;
      const commit = { expectedOffset: next, nextOffset, states, publish: [{ topic: 'events' as const, records }] };
      const result = await timed(worker, () => store.commit(claim, commit));
      if (!claims.mayBeFenced) expect(result).toBe('committed');
      if (result === 'fenced') break;
      if (!mayFallBack) expect(committed.has(next)).toBe(false);
      committed.add(next);
      next = nextOffset;
    }
    // A replaced owner cannot write, on whichever node the partition is.
    const taken = await claims.make(() => other.claim(partition));
    const refused = await store.commit(claim, {
      expectedOffset: taken.nextOffset,
      nextOffset: taken.nextOffset,
      states: new Map(),
      publish: [],
    });
    if (!mayFallBack) expect(refused).toBe('fenced');
  }
}

async function countsOf(
  store: StateStore,
  partition: number,
  devices: readonly string[],
): Promise<Map<string, number>> {
  const states = await store.load(partition, devices);
  return new Map(devices.map((device, i) => [device, Number(states[i]?.toString() ?? 0)]));
}

async function checkStates(
  { store }: Owner,
  partition: number,
  end: number,
  published: Published,
  rules: Rules,
): Promise<number> {
  const expected = new Map<string, number>();
  let repeats = 0;
  for (let offset = 0; offset < end; offset++) {
    expected.set(deviceOf(offset), (expected.get(deviceOf(offset)) ?? 0) + 1);
    const count = published.counts.get(eventOf(partition, offset)) ?? 0;
    expect(count, `event of partition ${partition}, offset ${offset}`).toBeGreaterThanOrEqual(1);
    repeats += count - 1;
  }
  expect((await store.claim(partition)).nextOffset).toBe(end);
  expect(await countsOf(store, partition, [...expected.keys()])).toEqual(expected);
  if (!rules.mayFallBack) expect(repeats).toBe(0);
  return repeats;
}

interface Deliveries {
  /** By value of each delivery that was added at least once: the offset after it. */
  readonly added: Map<string, number>;
  readonly settled: Set<string>;
}

/** Adds deliveries as the webhook stage does, settles some and postpones others. */
async function deliver(owners: readonly Owner[], partition: number, rules: Rules, worker: Worker): Promise<Deliveries> {
  const { mayFallBack } = rules;
  const claims = new Claims(rules);
  const source = { topic: 'events' as const, partition };
  const ledger: Deliveries = { added: new Map(), settled: new Set() };
  for (let turn = 0; ; turn++) {
    const { queue } = owners[turn % 2]!;
    const other = owners[(turn + 1) % 2]!.queue;
    const claim = await claims.make(() => queue.claim(source));
    let next = claim.nextOffset;
    for (let i = 0; i < stepsPerClaim; i++) {
      if (worker.steps >= worker.end) return ledger;
      const values = Array.from({ length: 3 }, (_, each) => `${next + each}`);
      const deliveries = values.map((value, each) => ({
        webhook: webhooks[each]!,
        dueAtMs: 1,
        value: Buffer.from(value),
      }));
      const batch = { expectedOffset: next, nextOffset: next + 3, deliveries };
      const result = await timed(worker, () => queue.add(claim, batch));
      if (!claims.mayBeFenced) expect(result).toBe('committed');
      if (result === 'fenced') break;
      for (const value of values) ledger.added.set(value, next + 3);
      next += 3;
      const [first, second] = await queue.waiting(source, webhooks[i % 3]!, 2);
      if (first === undefined || second === undefined) continue;
      const settled = await queue.settle(claim, [
        { place: first, next: null },
        { place: second, next: { dueAtMs: 2, attempts: second.attempts + 1 } },
      ]);
      if (!claims.mayBeFenced) expect(settled).toBe('committed');
      if (settled === 'fenced') break;
      ledger.settled.add(`${first.value}`);
    }
    const taken = await claims.make(() => other.claim(source));
    if (!mayFallBack) expect(taken.nextOffset).toBe(next);
    const refused = await queue.add(claim, {
      expectedOffset: taken.nextOffset,
      nextOffset: taken.nextOffset,
      deliveries: [],
    });
    if (!mayFallBack) expect(refused).toBe('fenced');
  }
}

/** Checks that every added delivery waits or was settled. Returns how many came back after they were settled. */
async function checkDeliveries(
  { queue }: Owner,
  partition: number,
  { added, settled }: Deliveries,
  rules: Rules,
): Promise<number> {
  const source = { topic: 'events' as const, partition };
  const { nextOffset } = await queue.claim(source);
  const pages = await Promise.all(webhooks.map((webhook) => queue.waiting(source, webhook, 100_000)));
  const waiting = pages.flat().map(({ value }) => `${value}`);
  expect(new Set(waiting).size).toBe(waiting.length);
  const made = [...added].filter(([, end]) => end <= nextOffset).map(([value]) => value);
  expect(made.length).toBe(nextOffset);
  expect(new Set([...waiting, ...settled].filter((value) => Number(value) < nextOffset))).toEqual(new Set(made));
  const back = waiting.filter((value) => settled.has(value));
  if (!rules.mayFallBack) {
    expect(back).toEqual([]);
    expect(added.size).toBe(nextOffset);
  }
  expect((await queue.webhooks(source)).map(({ webhook }) => webhook)).toEqual(
    webhooks.filter((_, i) => pages[i]!.length > 0),
  );
  return back.length;
}

/** Advances a position, and checks that it stays, unless an attempt that was repeated comes after a later one. */
async function move({ redis }: Owner, partition: number, { mayFallBack }: Rules, worker: Worker): Promise<void> {
  const positions = createRedisPositions(redis);
  const repeated = new Set<number>();
  for (let next = 1; worker.steps < worker.end; next++) {
    const set = () => positions.set('analytics', 'events', partition, { offset: next, mark: null });
    await called(set, () => repeated.add(next));
    await timed(worker, async () => {});
    const { offset: found } = await positions.get('analytics', 'events', partition);
    if (mayFallBack) expect(found).toBeLessThanOrEqual(next);
    else if (!repeated.has(found)) expect(found).toBe(next);
  }
}

/** Runs all workers before, during and after `hurt`. */
async function hurtUnderLoad(rules: Rules, hurt: (prefix: string) => Promise<void>): Promise<void> {
  cluster = await startRedisCluster({
    hasReplicas: true,
    ...(rules.mayFallBack && { nodeTimeoutMs: shortNodeTimeoutMs }),
  });
  const published = new Published();
  const { prefix } = freshRedisOptions(cluster.nodes);
  const owners = await Promise.all([openOwner(published, prefix), openOwner(published, prefix)]);
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  const ends: number[] = [];
  const deliveries: Deliveries[] = [];
  const inbox = await createRedisInbox(owners[0]!.redis);
  const heard: string[] = [];
  inbox.onReply((request) => heard.push(request));
  const replies = createRedisReplies(owners[1]!.redis);
  let sent = 0;

  const workers = [
    ...all.map((partition) =>
      work(async (worker) => {
        ends[partition] = await applyRecords(owners, partition, rules, worker);
      }),
    ),
    ...all.map((partition) =>
      work(async (worker) => {
        deliveries[partition] = await deliver(owners, partition, rules, worker);
      }),
    ),
    ...all.map((partition) => work((worker) => move(owners[partition % 2]!, partition, rules, worker))),
    work(async (worker) => {
      while (worker.steps < worker.end) {
        await timed(worker, async () => {});
        replies.send(`${inbox.address}/${sent++}`, '{}');
      }
    }),
  ];
  const failed = Promise.all(workers.map(({ done }) => done));
  // A failed worker ends the test at once, without an unhandled rejection.
  const orFailed = <T>(promise: Promise<T>): Promise<T> => Promise.race([promise, failed.then(() => promise)]);
  failed.catch(() => {});

  const stepped = (steps: readonly number[]) =>
    until(() => workers.every((worker, i) => worker.steps >= steps[i]!), {
      timeoutMs: patienceMs,
      describe: () =>
        workers.map(({ steps: each, longestMs }) => `${each} steps, longest ${Math.round(longestMs)} ms`).join('\n'),
    });
  try {
    await orFailed(stepped(workers.map(() => stepsAround)));
    for (const worker of workers) worker.longestMs = 0;
    await orFailed(hurt(prefix));
    await orFailed(stepped(workers.map(({ steps }) => steps + stepsAround)));
    const heardBefore = heard.length;
    await orFailed(until(() => heard.length > heardBefore, { timeoutMs: patienceMs }));
    for (const worker of workers) worker.end = 0;
    await failed;

    let [repeats, back] = [0, 0];
    for (const partition of all) {
      repeats += await checkStates(owners[0]!, partition, ends[partition]!, published, rules);
      back += await checkDeliveries(owners[1]!, partition, deliveries[partition]!, rules);
    }
    // Some are lost, and some arrive twice. None is invented.
    const distinct = new Set(heard.map(Number));
    for (const request of distinct) expect(request >= 0 && request < sent, `reply to ${request}`).toBe(true);
    const longestMs = Math.round(Math.max(...workers.map((worker) => worker.longestMs)));
    const records = ends.reduce((sum, end) => sum + end, 0);
    console.log(
      `${records} records, ${repeats} events and ${back} deliveries again, ` +
        `${sent - distinct.size} of ${sent} replies lost, ${heard.length - distinct.size} heard again, ` +
        `longest wait ${longestMs} ms`,
    );
  } finally {
    for (const worker of workers) worker.end = 0;
    await failed.catch(() => {});
    await Promise.all(owners.map(({ redis }) => redis.close()));
  }
}

/** The keys of two partitions and two queues. */
const movedKeys = 4;

/** Returns keys that lie in the slots of the partitions and queues. */
const keysOf = (prefix: string): string[] =>
  Array.from({ length: partitions }, (_, partition) => [
    `${prefix}{state.${partition}}.meta`,
    `${prefix}{deliveries.events.${partition}}.meta`,
  ]).flat();

/** Longer than the 1.6 s for which the client itself retries. */
const longMs = 2_500;
const shortMs = 100;

test('migrating slots loses and duplicates nothing, and never has two writers', { timeout }, () =>
  hurtUnderLoad({ mayFallBack: false }, async (prefix) => {
    const masters = cluster.nodes;
    const keys = [...keysOf(prefix).slice(0, movedKeys), `${prefix}positions`];
    // First a partition, a queue and the positions; then all keys.
    for (const [halfwayMs, moved] of [
      [longMs, inCampaign(keys, [keys[0]!, keys[1]!, keys.at(-1)!])],
      [shortMs, keys],
    ] as const) {
      for (const key of moved) {
        const slot = await slotOf(masters[0]!, key);
        const port = await masterOf(masters[0]!, slot);
        const from = masters.findIndex((node) => node.port === port);
        const to = (from + 1) % masters.length;
        await moveSlot(slot, masters[from]!, masters[to]!, { masters, halfway: () => pause(halfwayMs) });
      }
    }
  }),
);

test('an orderly failover loses and duplicates nothing, and never has two writers', { timeout }, () =>
  hurtUnderLoad({ mayFallBack: false }, async () => {
    for (const [index, replica] of cluster.replicas.slice(0, inCampaign(3, 2)).entries()) {
      await takeOver(replica);
      await isReplica(cluster.nodes[index]!);
    }
    await wholeFor([...cluster.nodes, ...cluster.replicas]);
  }),
);

test('after failovers from killed masters, lost changes are lost together and made again', { timeout }, () =>
  hurtUnderLoad({ mayFallBack: true }, async () => {
    for (const [index, master] of cluster.nodes.slice(0, inCampaign(3, 1)).entries()) {
      await master.kill();
      await isMaster(cluster.replicas[index]!);
      await master.restart();
      await isReplica(master);
    }
    await wholeFor([...cluster.nodes, ...cluster.replicas]);
  }),
);

test('a paused master is replaced by its replica and returns', { timeout }, () =>
  hurtUnderLoad({ mayFallBack: true }, async () => {
    await cluster.nodes[0]!.pause();
    await isMaster(cluster.replicas[0]!);
    await pause(shortMs);
    await cluster.nodes[0]!.resume();
    await isReplica(cluster.nodes[0]!);
    await wholeFor([...cluster.nodes, ...cluster.replicas]);
  }),
);
