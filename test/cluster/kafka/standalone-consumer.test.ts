/** Reading and following without a group, where the log has gaps and through outages. */
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { noObserver } from '../../../backends/cluster/client-observer.js';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import {
  type StandaloneConsumerParts,
  startStandaloneConsumer,
} from '../../../backends/cluster/kafka/consume/standalone-consumer.js';
import { KafkaProducer } from '../../../backends/cluster/kafka/produce/producer.js';
import { createReader, type Reader } from '../../../backends/cluster/kafka/read/reader.js';
import type { Divergence, LogRecord, StreamHandler, Topic } from '../../../pipeline/ports.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics, sameOnTheWire, withDetours } from './fresh-kafka.js';

const { detours, openSocket } = withDetours();

const [host, port] = freshKafkaOptions().brokers[0]!.split(':') as [string, string];

let connection: KafkaConnection;
let reader: Reader;
let appender: KafkaProducer;

beforeEach(async () => {
  await open({ ...freshKafkaOptions(), partitions: 1 });
});

async function open(options: ReturnType<typeof freshKafkaOptions>, observer = noObserver): Promise<void> {
  const opened = await connectKafka(options, () => {}, { observer, openSocket });
  connection = opened;
  const [itsReader, itsAppender] = [createReader(connection, sameOnTheWire), new KafkaProducer(connection)];
  reader = itsReader;
  appender = itsAppender;
  onTestFinished(async () => {
    detours.clear();
    await itsReader.close();
    await itsAppender.close();
    await removeTopics(opened);
  });
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ key: `${from + i}`, value: Buffer.from(`${from + i}`) }));

/** Records the calls of a handler in one list: offsets of records, and `to 7` for an end without records. */
class Ledger implements StreamHandler {
  readonly calls: (number | string)[] = [];
  constructor(private readonly startAt = 0) {}
  assigned = async () => this.startAt;
  async records(_: number, records: readonly LogRecord[]): Promise<void> {
    this.calls.push(...records.map(({ offset }) => offset));
  }
  revoked = async () => {};
  async passed(_: number, nextOffset: number): Promise<void> {
    this.calls.push(`to ${nextOffset}`);
  }
}

function follow(handler: StreamHandler, topic: Topic = 'events', parts: Partial<StandaloneConsumerParts> = {}) {
  const subscription = startStandaloneConsumer({
    connection,
    wire: sameOnTheWire,
    options: { topic, handler, maxBatchRecords: 100, maxWaitMs: 0 },
    log: reader,
    ...parts,
  });
  subscription.done.catch(() => {});
  onTestFinished(() => subscription.close());
  return subscription;
}

/** Appends a transaction. Its last offset is a marker, not a record. */
async function appendTransaction(topic: Topic, count: number, outcome: 'commit' | 'abort'): Promise<void> {
  const producer = connection.kafka.producer({
    transactionalId: connection.topicName(topic),
    maxInFlightRequests: 1,
    idempotent: true,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic: connection.topicName(topic), messages: numbered(count) });
  await transaction[outcome]();
  await producer.disconnect();
}

const offsets = async (topic: Topic, offset: number, maxRecords = 1_000) =>
  (await reader.read(topic, 0, offset, maxRecords)).records.map((record) => record.offset);

const range = (first: number, end: number) => Array.from({ length: end - first }, (_, i) => first + i);

describe('a log that begins after the requested offset', () => {
  beforeEach(async () => {
    await appender.append('events', numbered(20));
    await connection.admin.deleteTopicRecords({
      topic: connection.topicName('events'),
      partitions: [{ partition: 0, offset: '8' }],
    });
  });

  test('reads start at the first record', async () => {
    expect(await reader.bounds('events', 0)).toEqual({ first: 8, end: 20 });
    expect(await offsets('events', 3, 4)).toEqual([8, 9, 10, 11]);
    expect(await offsets('events', 20)).toEqual([]);
    expect(await offsets('events', 23)).toEqual([]);
  });

  test('standalone consumers start there too', async () => {
    const ledger = new Ledger(3);
    follow(ledger);
    await until(() => ledger.calls.length === 12);
    expect(ledger.calls).toEqual(range(8, 20));
  });

  test('an empty log is reported to the handler', async () => {
    await connection.admin.deleteTopicRecords({
      topic: connection.topicName('events'),
      partitions: [{ partition: 0, offset: '-1' }],
    });
    const ledger = new Ledger(3);
    follow(ledger);
    await until(() => ledger.calls.length === 1);
    await appender.append('events', numbered(2));
    await until(() => ledger.calls.length === 3);
    expect(ledger.calls).toEqual(['to 20', 20, 21]);
    expect(await offsets('events', 0)).toEqual([20, 21]);
  });
});

describe('a log that ends before the position', () => {
  test('the handler decides where to resume, and no record is skipped', async () => {
    await appender.append('events', numbered(3));
    const ledger = new Ledger(5);
    const asked: Divergence[] = [];
    const diverged = async (_: number, divergence: Divergence) => {
      asked.push(divergence);
      return divergence.commonEnd!;
    };
    follow({ ...ledger, records: ledger.records.bind(ledger), passed: ledger.passed.bind(ledger), diverged });
    await until(() => asked.length > 0);
    await appender.append('events', numbered(4));
    await until(() => ledger.calls.length === 4);
    expect(asked).toMatchObject([
      { topic: 'events', partition: 0, position: { offset: 5 }, first: 0, end: 3, commonEnd: 3 },
    ]);
    expect(ledger.calls).toEqual([3, 4, 5, 6]);
  });

  test('a handler without `diverged` waits until the log reaches the position', async () => {
    await appender.append('events', numbered(3));
    const ledger = new Ledger(5);
    follow(ledger);
    await appender.append('events', numbered(4));
    await until(() => ledger.calls.length === 2);
    expect(ledger.calls).toEqual([5, 6]);
  });
});

describe('offsets without records', () => {
  test('are skipped, and the handler learns the end of the log', async () => {
    await appendTransaction('events', 3, 'commit');
    await appendTransaction('events', 2, 'commit');
    // A transaction ends for its producer before its marker is in the log.
    await until(async () => (await reader.bounds('events', 0)).end === 7);
    expect(await offsets('events', 0)).toEqual([0, 1, 2, 4, 5]);
    expect(await offsets('events', 3, 1)).toEqual([4]);
    expect(await offsets('events', 6)).toEqual([]);

    const ledger = new Ledger();
    follow(ledger);
    await until(() => ledger.calls.length === 6);
    const atTheEnd = new Ledger(6);
    follow(atTheEnd);
    await until(() => atTheEnd.calls.length === 1);
    await appender.append('events', numbered(1));
    await until(() => ledger.calls.length === 7 && atTheEnd.calls.length === 2);
    expect(ledger.calls).toEqual([0, 1, 2, 4, 5, 'to 7', 7]);
    expect(atTheEnd.calls).toEqual(['to 7', 7]);
  });

  test('are reported after the records before them', async () => {
    const topic = connection.topicName('events');
    const producer = connection.kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: numbered(3) });
    let goOn = () => {};
    const learned = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const learn = vi.fn(() => learned);
    const ledger = new Ledger();
    follow(ledger, 'events', { wire: { ...sameOnTheWire, learn } });
    await until(() => learn.mock.calls.length === 1);
    await transaction.commit();
    await producer.disconnect();
    // Another consumer shows when the marker can be fetched.
    const other = new Ledger();
    follow(other);
    await until(() => other.calls.length === 4);
    expect(ledger.calls).toEqual([]);
    goOn();
    await until(() => ledger.calls.length === 4);
    expect(ledger.calls).toEqual([0, 1, 2, 'to 4']);
  });

  test('compaction keeps the last record of each key, wherever reading starts', async () => {
    const options = { ...freshKafkaOptions(), partitions: 1 };
    const eager = {
      'cleanup.policy': 'compact',
      'segment.ms': 50,
      'min.cleanable.dirty.ratio': 0.001,
      'delete.retention.ms': 0,
    };
    const configEntries = Object.entries(eager).map(([name, value]) => ({ name, value: `${value}` }));
    const topics = [{ topic: `${options.prefix}changes`, numPartitions: 1, configEntries }];
    await connection.admin.createTopics({ topics, waitForLeaders: false });
    await open(options);
    // Batches of one record, of many, and batches that lose their last records.
    const keys = Array.from({ length: 600 }, (_, i) => (i * i) % 17);
    for (let at = 0; at < keys.length; at += 1 + (at % 40)) {
      const batch = keys.slice(at, at + 1 + (at % 40));
      await appender.append(
        'changes',
        batch.map((key) => ({ key: `${key}`, value: key === 4 ? null : Buffer.from('v') })),
      );
    }
    // Each append of another key ends a segment, so that the previous one can be compacted.
    let end = keys.length;
    const left = await until(
      async () => {
        await appender.append('changes', [{ key: 'other', value: Buffer.from('v') }]);
        end += 1;
        const held = await offsets('changes', 0);
        return held.filter((offset) => offset < keys.length).length <= new Set(keys).size && held;
      },
      { timeoutMs: 250_000 },
    );
    const lastOf = new Map(keys.map((key, offset) => [key, offset]));
    const lasting = [...lastOf].filter(([key]) => key !== 4).map(([, offset]) => offset);
    expect(left).toEqual(expect.arrayContaining(lasting));
    for (const start of [0, 1, 7, 100, 333, 598, 599, 600]) {
      // Compaction continues meanwhile, and only removes records.
      const [before, read, after] = [
        (await offsets('changes', 0)).filter((offset) => offset >= start),
        await offsets('changes', start),
        (await offsets('changes', 0)).filter((offset) => offset >= start),
      ];
      expect(read).toEqual(read.toSorted((a, b) => a - b));
      expect(before).toEqual(expect.arrayContaining(read));
      expect(read).toEqual(expect.arrayContaining(after));
      const ledger = new Ledger(start);
      const subscription = follow(ledger, 'changes');
      await until(() => ledger.calls.includes(end - 1));
      await subscription.close();
      const told = ledger.calls.filter((offset) => lasting.includes(offset as number));
      expect(told).toEqual(lasting.filter((offset) => offset >= start).sort((a, b) => a - b));
    }
  });
});

test('records larger than a fetch are read, also when those of several partitions come at once', async () => {
  await open({ ...freshKafkaOptions(), partitions: 2 });
  const large = Array.from({ length: 8 }, (_, i) => ({ key: `${i}`, value: Buffer.alloc(3_900_000, 'x') }));
  for (const record of large) await appender.append('events', [record]);
  const slices = await Promise.all([0, 1].map((partition) => reader.read('events', partition, 0, 10, 2 ** 26)));
  const read = slices.map(({ records }) => records);
  expect(read.map((records) => records.length > 0)).toEqual([true, true]);
  expect(read.flat().map(({ value }) => value!.length)).toEqual(large.map(({ value }) => value.length));
  const ledger = new Ledger();
  follow(ledger);
  await until(() => ledger.calls.length === large.length);
});

test('an idle consumer asks once a second, and four times if a partition could miss its turn', async () => {
  const fetchesMs: number[] = [];
  const started = (operation: string) => {
    const startedMs = performance.now();
    return () => operation === 'Fetch' && fetchesMs.push(performance.now() - startedMs);
  };
  await open({ ...freshKafkaOptions(), partitions: 2 }, { ...noObserver, started });
  const waits = async (atLeastMs: number, belowMs: number) => {
    const before = fetchesMs.length;
    await until(() => fetchesMs.slice(before).some((ms) => ms >= atLeastMs && ms < belowMs));
  };
  const ledger = new Ledger();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const records = async (partition: number, taken: readonly LogRecord[]) => {
    await released;
    await ledger.records(partition, taken);
  };
  follow({ ...ledger, passed: ledger.passed.bind(ledger), records });
  await waits(950, Infinity);
  // More than the queue of a partition takes while its handler is busy.
  const full = Array.from({ length: 6 }, () => ({ key: 'same', value: Buffer.alloc(900_000) }));
  for (const record of full) await appender.append('events', [record]);
  await waits(240, 900);
  release();
  await until(() => ledger.calls.length === full.length);
  await waits(950, Infinity);
});

describe('an outage', () => {
  async function badNetwork() {
    const network = await startProxy({ host, port: Number(port) });
    detours.set(Number(port), network.port);
    onTestFinished(() => network.stop());
    return network;
  }

  test('delays consumers, which get every record once', async () => {
    const direct = new KafkaProducer(connection);
    onTestFinished(() => direct.close());
    await direct.append('events', numbered(1));
    const network = await badNetwork();
    const ledger = new Ledger();
    follow(ledger);
    for (let round = 0; round < 5; round++) {
      await until(() => ledger.calls.length === 1 + round * 50);
      network.cutOff();
      await direct.append('events', numbered(50));
      network.mend();
    }
    await until(() => ledger.calls.length === 251);
    expect(ledger.calls).toEqual(range(0, 251));
  });

  test('that lasts too long fails consumers and reads', async () => {
    await appender.append('events', numbered(1));
    const network = await badNetwork();
    const ledger = new Ledger();
    const impatient = createReader(connection, sameOnTheWire, { outageLimitMs: 300 });
    onTestFinished(() => impatient.close());
    const subscription = follow(ledger, 'events', { outageLimitMs: 300 });
    await until(() => ledger.calls.length === 1);
    network.cutOff();
    await expect(subscription.done).rejects.toThrow();
    await expect(impatient.read('events', 0, 0, 1)).rejects.toThrow();
    await expect(impatient.bounds('events', 0)).rejects.toThrow();
    await subscription.close();
  });

  test('does not delay closing', async () => {
    await appender.append('events', numbered(1));
    const network = await badNetwork();
    const ledger = new Ledger();
    const subscription = follow(ledger);
    await until(() => ledger.calls.length === 1);
    network.dropsAnswers = true;
    // No response ever arrives.
    await subscription.close();
    await subscription.done;
  });
});
