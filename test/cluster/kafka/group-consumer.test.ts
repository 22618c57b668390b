/**
 * Consumers that share a topic in a Kafka group, with a real broker: members join, leave, freeze, hang and lose their
 * brokers under load. The ledger of their commits must have every record once, in the order of its partition.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Partitioners, type Producer } from 'kafkajs';
import { describe, expect, type TestContext, test } from 'vitest';
import { type ClientObserver, noObserver } from '../../../backends/cluster/client-observer.js';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { startGroupConsumer } from '../../../backends/cluster/kafka/consume/group-consumer.js';
import { createReader } from '../../../backends/cluster/kafka/read/reader.js';
import type { KafkaOptions } from '../../../backends/cluster/options.js';
import { type ExpiredRecords, type StreamHandler, topics } from '../../../pipeline/ports.js';
import { startProgram } from '../../../testing/built.js';
import { pauseProcess } from '../../../testing/pause.js';
import { startKafka } from '../../../testing/services/kafka.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import type { MemberWork } from '../programs/group-member.js';
import { freshKafkaOptions, removeTopics } from './fresh-kafka.js';
import { GroupLedger, ledgerHandler, type Told } from './group-ledger.js';

const topic = 'locations';
const group = 'test';
const partitions = [0, 1, 2, 3, 4, 5];
const sessionTimeoutMs = 6_000;
/** Longer than a busy broker takes to let a member join, which is progress that the watchdog awaits as well. */
const patientStallMs = 10_000;
const wire = { learn: async () => {}, fromWire: (_topic: string, frame: Buffer) => frame };

interface MemberSettings {
  readonly handler?: StreamHandler;
  /** Duration of a call of the handler. */
  readonly workMs?: () => number;
  readonly stallTimeoutMs?: number;
  readonly sessionTimeoutMs?: number;
  readonly observer?: ClientObserver;
}

/** A topic with its producer and consumers, and a ledger of handled records. Removed after the test. */
class Scene {
  readonly told: (Told & { readonly member: string })[] = [];
  readonly problems: string[] = [];
  readonly ledger: GroupLedger;
  private constructor(
    readonly options: KafkaOptions,
    readonly connection: KafkaConnection,
    private readonly producer: Producer,
    redis: Redis,
    private readonly onTestFinished: TestContext['onTestFinished'],
  ) {
    this.ledger = new GroupLedger(redis, options.prefix);
  }

  static async make({ onTestFinished }: TestContext, brokers = services()!.kafka.brokers): Promise<Scene> {
    const options = { ...freshKafkaOptions(), brokers, partitions: partitions.length, sessionTimeoutMs };
    const redis = new Redis(services()!.redis);
    const connection = await connectKafka(options, () => {});
    const producer = connection.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    const scene = new Scene(options, connection, producer, redis, onTestFinished);
    onTestFinished(async () => {
      await producer.disconnect();
      await scene.ledger.remove();
      redis.disconnect();
      await removeTopics(connection);
    });
    return scene;
  }

  get topicName(): string {
    return this.connection.topicName(topic);
  }

  /** Appends `countEach` records to each of the partitions. */
  async append(countEach: number, bytes = 300, to = partitions): Promise<void> {
    const value = 'x'.repeat(bytes);
    const messages = to.flatMap((partition) => Array.from({ length: countEach }, () => ({ partition, value })));
    await this.producer.send({ topic: this.topicName, messages });
  }

  /** Appends continuously. Returns a function that stops. */
  flow(): () => Promise<void> {
    let isFlowing = true;
    const flowing = (async () => {
      for (; isFlowing; await delay(10)) await this.append(10).catch(() => {});
    })();
    return async () => {
      isFlowing = false;
      await flowing;
    };
  }

  /** Starts a member with separate connections, like a process. */
  async member(name: string, { handler, workMs = () => 1, observer, ...settings }: MemberSettings = {}) {
    const onProblem = (message: string) => this.problems.push(`${name}: ${message}`);
    const connection = await connectKafka(this.options, onProblem, { observer });
    const tell = (told: Told) => this.told.push({ ...told, member: name });
    const reader = createReader(connection, wire);
    const subscription = startGroupConsumer({
      connection,
      log: reader,
      wire,
      options: {
        topic,
        group,
        handler: handler ?? ledgerHandler(this.ledger, workMs, tell),
        maxBatchRecords: 50,
        maxWaitMs: 0,
      },
      sessionTimeoutMs,
      stallTimeoutMs: 60_000,
      ...settings,
      onProblem,
    });
    /** The error with which it ended. */
    const ended = subscription.done.then(
      () => undefined,
      (error) => error as Error,
    );
    const close = async (): Promise<void> => {
      await subscription.close();
      await reader.close();
      await connection.close();
    };
    this.onTestFinished(close);
    return { close, ended, told: () => this.told.filter(({ member }) => member === name) };
  }

  /** Starts a member in a separate process. */
  process(workMs: number) {
    const work: MemberWork = { kafka: this.options, redis: services()!.redis, workMs };
    const program = startProgram('test/cluster/programs/group-member', [JSON.stringify(work)]);
    this.onTestFinished(() => void program.child.kill('SIGKILL'));
    return { ...program, told: () => program.lines.map((line) => JSON.parse(line) as Told) };
  }

  async ends(): Promise<number[]> {
    const offsets = await this.connection.admin.fetchTopicOffsets(this.topicName);
    return partitions.map((partition) => Number(offsets.find((each) => each.partition === partition)!.high));
  }

  /** Returns the generation of the group, which changes with every rebalance. */
  async generation(): Promise<string> {
    const { groups } = await this.connection.admin.describeGroups([this.connection.groupName(group, topic)]);
    return groups[0]!.members.map(({ memberId }) => memberId).join();
  }

  /** Resolves when the ledger has all records of the log, once and in order. */
  async settled(): Promise<void> {
    const ends = await this.ends();
    const committed = async () =>
      Promise.all(partitions.map(async (each) => (await this.ledger.entries(each)).at(-1)?.end));
    await until(async () => `${await committed()}` === `${ends}`, {
      describe: () => `all up to ${ends} is committed`,
    });
    for (const partition of partitions) {
      const entries = await this.ledger.entries(partition);
      expect(entries.map(({ from }) => from)).toEqual([0, ...entries.slice(0, -1).map(({ end }) => end)]);
      expect(entries.map(({ token }) => token)).toEqual(entries.map(({ token }) => token).sort((a, b) => a - b));
    }
  }
}

const of = (told: readonly Told[], event: Told['event']): Told[] => told.filter((each) => each.event === event);

/** Returns how often a partition was assigned to a member before the previous member had released it. */
function overlaps(told: Scene['told']): number {
  const holders = new Map<number, string>();
  return told.filter(({ event, partition, member }) => {
    const holder = holders.get(partition);
    if (event === 'assigned') holders.set(partition, member);
    if (event === 'revoked' && holder === member) holders.delete(partition);
    return event === 'assigned' && holder !== undefined;
  }).length;
}

test('under frequent rebalances, no member claims a partition that another one still processes', async (context) => {
  const scene = await Scene.make(context);
  const workMs = () => Math.random() * 100;
  const stopFlow = scene.flow();
  const assignments = () => of(scene.told, 'assigned').length;
  const comeAndGo = async (name: string): Promise<void> => {
    for (let life = 1; life <= 4 || assignments() <= 4 * partitions.length; life++) {
      const member = await scene.member(`${name} ${life}`, { workMs });
      // Some members leave before they get any partition.
      if (life % 2 === 0) await delay(Math.random() * 500);
      else await until(() => of(member.told(), 'committed').length > 10 * Math.random());
      await member.close();
      expect(of(member.told(), 'revoked')).toHaveLength(of(member.told(), 'assigned').length);
    }
  };
  const stayer = await scene.member('stayer', { workMs });
  await Promise.all([comeAndGo('one'), comeAndGo('two')]);
  await stopFlow();
  await scene.settled();
  await stayer.close();

  expect(overlaps(scene.told)).toBe(0);
  expect(of(scene.told, 'fenced')).toEqual([]);
});

test('a partition that stays in a rebalance is neither revoked nor interrupted', async (context) => {
  const scene = await Scene.make(context);
  const stopFlow = scene.flow();
  const first = await scene.member('first');
  await until(() => of(first.told(), 'committed').length > 10);
  const second = await scene.member('second');
  await until(() => of(second.told(), 'assigned').length === 3);
  expect(of(first.told(), 'revoked')).toHaveLength(3);
  expect(of(first.told(), 'assigned')).toHaveLength(6);
  const third = await scene.member('third');
  await until(() => of(third.told(), 'assigned').length === 2);
  await third.close();
  await second.close();
  await until(() => of(first.told(), 'assigned').length >= 10);
  await stopFlow();
  await scene.settled();
  expect(of(first.told(), 'revoked')).toHaveLength(4);
  expect(of(scene.told, 'fenced')).toEqual([]);
  expect(scene.problems.filter((problem) => problem.includes('rebalanc'))).toEqual([]);
});

test('an idle member fetches once a second', async (context) => {
  const scene = await Scene.make(context);
  const fetchesMs: number[] = [];
  const started = (operation: string) => {
    const startedMs = performance.now();
    return () => operation === 'Fetch' && fetchesMs.push(performance.now() - startedMs);
  };
  await scene.member('idle', { observer: { ...noObserver, started } });
  // The first fetches lack the partitions that are still claimed.
  await until(() => fetchesMs.slice(-2).every((ms) => ms >= 950) && fetchesMs.length > partitions.length);
});

describe.concurrent('over many seconds', () => {
  test('a call longer than the session timeout keeps the membership and delays no other partition', async (context) => {
    const scene = await Scene.make(context);
    // Another group, whose member stops its heartbeats: it loses its session when the call has lasted as long.
    const silent = await Scene.make(context);
    const silentMember = silent.process(20);
    await until(() => of(silentMember.told(), 'assigned').length === partitions.length);
    const calls: number[] = [];
    const ledger = ledgerHandler(
      scene.ledger,
      () => 1,
      () => {},
    );
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const revoked: number[] = [];
    await scene.member('only', {
      handler: {
        assigned: ledger.assigned,
        revoked: async (partition) => void revoked.push(partition),
        async records(partition, records) {
          calls.push(partition);
          if (partition === 2) await held;
          await ledger.records(partition, records);
        },
      },
    });
    const stopFlow = scene.flow();
    await until(() => calls.includes(2));
    const before = await scene.generation();
    await pauseProcess(silentMember.child.pid!);
    await until(async () => (await silent.generation()) === '');
    expect(await scene.generation()).toBe(before);
    await stopFlow();
    const callsBefore = calls.length;
    await scene.append(10);
    await until(() => new Set(calls.slice(callsBefore)).size === partitions.length - 1);
    expect(calls.filter((partition) => partition === 2)).toHaveLength(1);
    release();
    await scene.settled();
    expect(revoked).toEqual([]);
  });

  test('a member that was paused beyond its session writes nothing and joins again', async (context) => {
    const scene = await Scene.make(context);
    const stopFlow = scene.flow();
    const waker = await scene.member('waker', { workMs: () => 20 });
    await until(() => of(waker.told(), 'committed').length > 10);
    const sleeper = scene.process(20);
    await until(() => of(sleeper.told(), 'assigned').length >= 3 && of(sleeper.told(), 'committed').length > 10);
    await pauseProcess(sleeper.child.pid!);
    // Six at first, then the three of the paused member.
    await until(() => of(waker.told(), 'assigned').length >= 9);
    await until(() => of(waker.told(), 'committed').length > 200);
    const heard = sleeper.lines.length;
    sleeper.child.kill('SIGCONT');
    await until(() => of(sleeper.told().slice(heard), 'revoked').length >= 3);
    await until(() => of(sleeper.told().slice(heard), 'assigned').length >= 3);
    const revivedAt = sleeper.lines.length;
    await until(() => of(sleeper.told().slice(revivedAt), 'committed').length > 10);
    await stopFlow();
    await scene.settled();
    sleeper.child.kill('SIGTERM');
    expect(await sleeper.ended).toBe(0);
  });

  test('a request that Kafka always refuses ends the consumer', async (context) => {
    const scene = await Scene.make(context);
    const member = await scene.member('hasty', { sessionTimeoutMs: 100 });
    expect((await member.ended)?.message).toMatch(/session timeout/);
  });

  test('a hanging handler ends the consumer with a report on all partitions', async (context) => {
    const scene = await Scene.make(context);
    const handled = new Set<number>();
    const hung = await scene.member('hung', {
      stallTimeoutMs: patientStallMs,
      handler: {
        assigned: async () => 0,
        revoked: async () => {},
        async records(partition) {
          if (partition === 4) await new Promise(() => {});
          handled.add(partition);
        },
      },
    });
    const others = partitions.filter((partition) => partition !== 4);
    await scene.append(3, 300, others);
    await until(() => handled.size === others.length);
    await scene.append(3, 300, [4]);
    const error = await hung.ended;
    expect(error?.message).toMatch(/^no progress for 10000 ms: partition 4 \(\S+\)\n/);
    expect(error?.message).toMatch(/partition 4 \(\S+\): held, next 0, fetched to 3, 0 records queued, fetching, /);
    expect(error?.message).toMatch(/ 0 records queued, fetching, handler busy for \d+ ms, the log holds 0 to 3/);
    expect(error?.message).toMatch(/partition 5 \(\S+\): held, next 3, .* handler idle/);
    await hung.close();
  });

  test('a position before the start moves to it, and says so; one beyond the end is not skipped', async (context) => {
    const scene = await Scene.make(context);
    await scene.append(20);
    await scene.connection.admin.deleteTopicRecords({
      topic: scene.topicName,
      partitions: [{ partition: 1, offset: '15' }],
    });
    const handed = new Map<number, number[]>();
    const expired: ExpiredRecords[] = [];
    const reader = await scene.member('reader', {
      // It ends the whole consumer, so the other partitions must be read before, on a busy machine too.
      stallTimeoutMs: 20_000,
      handler: {
        assigned: async (partition) => (partition === 2 ? 25 : 3),
        revoked: async () => {},
        records: async (partition, records) =>
          void handed.set(partition, [...(handed.get(partition) ?? []), ...records.map(({ offset }) => offset)]),
        expired: (records) => void expired.push(records),
      },
    });
    let end: Error | undefined;
    void reader.ended.then((error) => {
      end = error;
    });
    await until(() => {
      if (handed.get(1)?.at(-1) === 19 && handed.get(3)?.at(-1) === 19) return true;
      if (end) throw end;
      return false;
    });
    expect([handed.get(1)![0], handed.get(3)![0]]).toEqual([15, 3]);
    expect(expired).toEqual([{ topic: topics.locations, partition: 1, from: 3, end: 15 }]);
    // Other records may follow at the offsets of ours: an operator must decide.
    expect((await reader.ended)?.message).toMatch(/partition 2 \(\S+\): held, next 25, .*, the log holds 0 to 20/);
    expect(handed.has(2)).toBe(false);
  });

  // They were skipped in silence: no log, no metric.
  test('records that the log loses while it is read are skipped, and reported', async (context) => {
    const scene = await Scene.make(context);
    const offsets: number[] = [];
    const expired: ExpiredRecords[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await scene.member('reader', {
      handler: {
        assigned: async () => 0,
        revoked: async () => {},
        async records(partition, records) {
          if (partition !== 1) return;
          await held;
          offsets.push(...records.map(({ offset }) => offset));
        },
        expired: (records) => void expired.push(records),
      },
    });
    // More than the queue holds: fetching pauses until the handler continues. Beside records of other partitions, some
    // would be fetched alone, and then all of them at once.
    for (let i = 0; i < 20; i++) await scene.append(1, 500_000, [1]);
    await scene.connection.admin.deleteTopicRecords({
      topic: scene.topicName,
      partitions: [{ partition: 1, offset: '18' }],
    });
    release();
    await until(() => offsets.at(-1) === 19);
    expect(offsets.slice(-2)).toEqual([18, 19]);
    expect(offsets).toEqual([...offsets.slice(0, -2).map((_, i) => i), 18, 19]);
    expect(offsets.length).toBeLessThan(18);
    expect(expired).toEqual([{ topic: topics.locations, partition: 1, from: offsets.length - 2, end: 18 }]);
  });

  test('the end marker of a transaction is not an unread record', async (context) => {
    const scene = await Scene.make(context);
    const values: string[] = [];
    const other = await Scene.make(context);
    const hung = await other.member('hung', {
      stallTimeoutMs: patientStallMs,
      handler: { assigned: async () => 0, revoked: async () => {}, records: () => new Promise(() => {}) },
    });
    const reader = await scene.member('reader', {
      stallTimeoutMs: patientStallMs,
      handler: {
        assigned: async () => 0,
        revoked: async () => {},
        records: async (_, records) => void values.push(...records.map(({ value }) => `${value}`)),
      },
    });
    const producer = scene.connection.kafka.producer({
      transactionalId: scene.options.prefix,
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: scene.topicName, messages: [{ partition: 0, value: 'x' }] });
    await until(() => values.length === 1);
    await transaction.commit();
    await producer.disconnect();
    // The end of the transaction is written a moment after its acknowledgement.
    await until(async () => (await scene.ends())[0] === 2);
    // A consumer with the same time limit, which hangs on the next record, ends while this one continues.
    await other.append(1);
    expect((await hung.ended)?.message).toMatch(/^no progress for/);
    expect(await Promise.race([reader.ended, delay(0, 'still there')])).toBe('still there');
    expect(values).toEqual(['x']);
  });

  test('the consumer survives an outage of the brokers', async (context) => {
    const broker = await startKafka();
    context.onTestFinished(() => broker.stop());
    const scene = await Scene.make(context, broker.brokers);
    const stopFlow = scene.flow();
    const members = [await scene.member('one'), await scene.member('two')];
    await until(() => members.every((member) => of(member.told(), 'committed').length > 10));
    await broker.kill();
    await broker.restart();
    const [before] = await until(() => scene.ends().catch(() => undefined));
    await until(async () => (await scene.ends())[0]! > before! + 100);
    await stopFlow();
    await scene.settled();
    for (const member of members)
      expect(await Promise.race([member.ended, delay(0, 'still there')])).toBe('still there');
  });
});
