/**
 * Readers of topic `events` whose records were appended in transactions, as mirrors that copy exactly once do. Each
 * transaction ends with a marker, which takes an offset but is no record.
 */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createSerializer } from '../../../api/serialize.js';
import { EventStream } from '../../../api/stream/event-stream.js';
import { startTailer, type Tailer } from '../../../api/stream/tailer.js';
import { interpret } from '../../../api/stream/testing/standard-parser.js';
import { eventOf } from '../../../api/stream/testing/topic.js';
import { readTopic, startPartitions } from '../../../api/topics/reading.js';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog, type KafkaLog } from '../../../backends/cluster/kafka/log.js';
import { type LogRecord, type NewRecord, type Topic, topics } from '../../../pipeline/ports.js';
import { scopeName } from '../../../pipeline/records/device-key.js';
import { analyticsSinkGroup, createAnalyticsSink } from '../../../pipeline/stages/analytics/sink.js';
import { openTestAnalytics } from '../../../pipeline/stages/testing/analytics.js';
import { location, locationRecord } from '../../../pipeline/stages/testing/node.js';
import { createTestTables } from '../../../pipeline/stages/testing/tables.js';
import { WebhookNode } from '../../../pipeline/stages/webhooks/testing/stage.js';
import { codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics, sameOnTheWire } from './fresh-kafka.js';

const project = deriveId('project');
/** Fails a reading that would not end, long before the limit of a test. */
const patienceMs = 120_000;

let connection: KafkaConnection;
let log: KafkaLog;

beforeEach(async () => {
  const options = { ...freshKafkaOptions(), partitions: 1 };
  connection = await connectKafka(options, () => {});
  log = createKafkaLog({ ...options, connection, wire: sameOnTheWire, onProblem: () => {} });
  const opened = { connection, log };
  onTestFinished(async () => {
    await opened.log.close();
    await removeTopics(opened.connection);
  });
});

/** Appends events in one transaction. Resolves with their ids when its marker can be read. */
async function appendTransaction(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => eventOf(project));
  await appendInTransaction(
    topics.events,
    events.map((event) => ({ key: `${scopeName(event)}/device`, value: codecs.event.encode(event) })),
  );
  return events.map(({ id }) => id);
}

async function appendInTransaction(to: Topic, messages: NewRecord[]): Promise<void> {
  const end = (await log.end(to, 0)) + messages.length + 1;
  const topic = connection.topicName(to);
  const producer = connection.kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages });
  await transaction.commit();
  await producer.disconnect();
  await until(async () => (await log.end(to, 0)) === end);
}

/** Starts the tailer of a node. */
async function openTailer(): Promise<Tailer> {
  const tailer = await startTailer(log);
  onTestFinished(() => tailer.close());
  return tailer;
}

/** Opens a stream and reads it until it listens to the tailer. Returns what lists the ids of its events. */
async function follow(tailer: Tailer, from: readonly number[]): Promise<() => string[]> {
  const serialize = createSerializer(Number.POSITIVE_INFINITY);
  const scope = `${project}/test`;
  const stream = new EventStream({ log, tailer, serialize, scope, matches: () => true, from, maxUnsentBytes: 2 ** 20 });
  onTestFinished(() => stream.end());
  let text = '';
  stream.output.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  const limit = AbortSignal.timeout(patienceMs);
  const late = new Promise((_, reject) => {
    limit.addEventListener('abort', () => reject(new Error('the stream does not listen to the tailer')));
  });
  await Promise.race([stream.start(), late]);
  return () => interpret(text).messages.map(({ data }) => JSON.parse(data)._id);
}

const offsetsOf = (records: readonly LogRecord[]) => records.map(({ offset }) => offset);

test('a read returns an offset beyond the marker, and none of its records is read twice', async () => {
  await appendTransaction(2);
  await appendTransaction(2);
  const read = async (offset: number, maxRecords = 100) => {
    const { records, nextOffset } = await log.read(topics.events, 0, offset, maxRecords);
    return [offsetsOf(records), nextOffset];
  };
  expect(await read(0)).toEqual([[0, 1, 3, 4], 6]);
  expect(await read(0, 3)).toEqual([[0, 1, 3], 4]);
  expect(await read(2, 1)).toEqual([[3], 4]);
  expect(await read(5)).toEqual([[], 6]);
  expect(await read(6)).toEqual([[], 6]);
});

// The stream took the marker for a record that was removed, moved to the first record, which was before, and read on.
test('a stream goes on from a marker, also when it is the last offset', async () => {
  await appendTransaction(2);
  const missed = await appendTransaction(2);
  const tailer = await openTailer();
  const received = await follow(tailer, [2]);
  expect(received()).toEqual(missed);
  const followed = await appendTransaction(1);
  await until(() => received().length === 3);
  expect(received()).toEqual([...missed, ...followed]);
});

// The tailer stood at the marker, and a stream whose client had come from another node waited until an event followed.
test('a stream listens from behind the last marker', async () => {
  const tailer = await openTailer();
  await appendTransaction(2);
  await follow(tailer, [3]);
  expect(tailer.position).toEqual([3]);
});

// The topic had one unread record until its client left, and each reading asked for it again.
test('a reading of the topic ends behind the last marker', async () => {
  const ids = [...(await appendTransaction(2)), ...(await appendTransaction(2))];
  const start = await startPartitions(log, ['earliest'], null);
  const reader = { scope: `${project}/test`, limit: 100, signal: AbortSignal.timeout(patienceMs) };
  const { partitions, records } = await readTopic(log, (_, work) => work(), start, reader);
  expect(records.map(({ event }) => event?._id)).toEqual(ids);
  expect(partitions).toEqual([{ partition: 0, first: 0, end: 6, next: 6, missing: 0 }]);
});

// The backlog always showed a record, erasures did not complete, and a change of the partitions was refused.
test('the positions of all stages pass a marker at the end of their topics', async () => {
  const webhooks = await WebhookNode.open();
  onTestFinished(() => webhooks.dispose());
  const { node } = webhooks;
  const { positions, stateStore, deliveryQueue } = node.embedded;
  const analytics = await openTestAnalytics();
  onTestFinished(() => analytics.close());
  await createTestTables(analytics);
  await appendInTransaction(topics.locations, [locationRecord(location())]);
  await appendTransaction(2);

  const locations = node.start({ log });
  onTestFinished(() => locations.close());
  const deliveries = webhooks.start({ log, monotonicMs: () => performance.now() });
  onTestFinished(() => deliveries.close());
  const bounds = { maxRows: 30_000, maxDelayMs: 20, maxDeadLetterShare: 0.5 };
  const sink = createAnalyticsSink({ log, positions, analytics, clock: Date.now, bounds });
  onTestFinished(() => sink.close());
  const stored = async () => [
    (await stateStore.position(0)).offset,
    (await deliveryQueue.position({ topic: topics.events, partition: 0 })).offset,
    (await positions.get(analyticsSinkGroup, topics.events, 0)).offset,
  ];
  const ends = async () => [
    await log.end(topics.locations, 0),
    await log.end(topics.events, 0),
    await log.end(topics.events, 0),
  ];
  let last: unknown;
  await until(
    async () => {
      last = [await stored(), await ends()];
      return `${await stored()}` === `${await ends()}`;
    },
    { describe: () => JSON.stringify(last) },
  );
});
