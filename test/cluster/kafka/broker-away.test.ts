/**
 * One of three brokers is away, and with it the only replicas of its partitions and of the coordinators of its groups.
 * The others must not notice.
 */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { whileBrokersChange } from '../../../backends/cluster/kafka/connection/client.js';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { socketFactory } from '../../../backends/cluster/kafka/connection/sockets.js';
import { createKafkaLog, type KafkaLog } from '../../../backends/cluster/kafka/log.js';
import type { ProducerOptions } from '../../../backends/cluster/kafka/produce/producer.js';
import type { KafkaOptions } from '../../../backends/cluster/options.js';
import { type Topic, topics } from '../../../pipeline/ports.js';
import { type KafkaServer, startKafka } from '../../../testing/services/kafka.js';
import { freePorts } from '../../../testing/services/ports.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { until } from '../../../testing/until.js';
import { record } from '../../contract/backend.js';
import { freshKafkaOptions, sameOnTheWire, withDetours } from './fresh-kafka.js';

const topic = topics.locations;
/** A slow machine starts a broker within this time. */
const outageLimitMs = 240_000;

let kafka: KafkaServer;

beforeAll(async () => {
  kafka = await startKafka({ brokers: 3, coordinatorReplicas: 1 });
  return () => kafka.stop();
});

/** Returns options with topics of their own. */
const freshOptions = (): KafkaOptions => ({ ...freshKafkaOptions(), brokers: kafka.brokers, partitions: 6 });

const portOf = (broker: string): number => Number(broker.split(':')[1]);

async function open(options: KafkaOptions, openSocket = socketFactory, limits: ProducerOptions = { outageLimitMs }) {
  const connection = await connectKafka(options, () => {}, { openSocket });
  const log = createKafkaLog({ ...options, connection, wire: sameOnTheWire, onProblem: () => {}, ...limits });
  onTestFinished(async () => {
    await log.close();
    await connection.close();
  });
  return { connection, log };
}

interface Node {
  readonly connection: KafkaConnection;
  readonly log: KafkaLog;
}

/** Returns a key of each partition that the broker leads, or that others lead. */
async function keysOf({ connection, log }: Node, node: number, of: Topic = topic) {
  const asked = { topics: [connection.topicName(of)] };
  // A broker may not have heard of a new topic yet.
  const metadata = await until(() => connection.admin.fetchTopicMetadata(asked).catch(() => undefined));
  const { partitions } = metadata.topics[0]!;
  const keyOf = (partition: number): string => {
    for (let key = 0; ; key++) if (log.partitionOf(of, `${key}`) === partition) return `${key}`;
  };
  const keys = (isLed: boolean) =>
    partitions.filter(({ leader }) => (leader === node) === isLed).map(({ partitionId }) => keyOf(partitionId));
  return { led: keys(true), others: keys(false) };
}

/** Resolves when Kafka knows that a broker is away. */
async function leaderless({ connection }: Node): Promise<void> {
  const asked = { topics: [connection.topicName(topic)] };
  await until(async () => {
    const metadata = await connection.admin.fetchTopicMetadata(asked).catch(() => undefined);
    return metadata === undefined || metadata.topics[0]!.partitions.some(({ leader }) => leader < 0);
  });
}

/** Returns the name of a group that the broker coordinates. */
async function groupCoordinatedBy({ connection }: Node, node: number): Promise<string> {
  const cluster = await whileBrokersChange(() => connection.newCluster());
  const coordinatorOf = async (groupId: string): Promise<number> =>
    (await whileBrokersChange(() => cluster.findGroupCoordinatorMetadata({ groupId }))).coordinator.nodeId;
  try {
    for (let group = 0; ; group++)
      if ((await coordinatorOf(connection.groupName(`stage-${group}`, topic))) === node) return `stage-${group}`;
  } finally {
    await cluster.disconnect();
  }
}

/** Starts a member of a group that publishes an outcome of each record, from positions that all members share. */
function startStage({ log }: Node, group: string, positions = new Map<number, number>()) {
  const outcomes: string[] = [];
  const failures: unknown[] = [];
  const held = new Set<number>();
  const subscription = log.consume({
    topic,
    group,
    maxBatchRecords: 10,
    maxWaitMs: 0,
    handler: {
      async assigned(partition) {
        held.add(partition);
        return positions.get(partition) ?? 0;
      },
      async revoked(partition) {
        held.delete(partition);
      },
      async records(partition, records) {
        for (const { key, value, offset } of records) {
          await log.publish(topics.outcomes, [record(key, `${value}`)]);
          positions.set(partition, offset + 1);
          outcomes.push(key);
        }
      },
    },
  });
  subscription.done.catch((error: unknown) => failures.push(error));
  const countOf = (key: string): number => outcomes.filter((each) => each === key).length;
  return { outcomes, failures, held, countOf, subscription };
}

/** Appends to the partitions of the keys, and reads and asks about them. */
async function use(log: KafkaLog, keys: readonly string[]): Promise<void> {
  const useOne = async (key: string): Promise<void> => {
    await log.publish(topic, [record(key, 'text')]);
    const { end } = await log.bounds(topic, log.partitionOf(topic, key));
    const { records } = await log.read(topic, log.partitionOf(topic, key), end - 1, 1);
    expect(records.map(({ key }) => key)).toEqual([key]);
  };
  await Promise.all(keys.map(useOne));
}

// All connections were replaced after each failed attempt, which is up to several times a second for each partition.
test('a broker that refuses connections costs no other broker its connections', async () => {
  const options = freshOptions();
  const { detours, openSocket } = withDetours();
  const away = portOf(kafka.brokers[0]!);
  const network = await startProxy({ host: '127.0.0.1', port: away });
  detours.set(away, network.port);
  const opened: number[] = [];
  const node = await open({ ...options, brokers: kafka.brokers.slice(1) }, (socketOptions) => {
    opened.push(socketOptions.port);
    return openSocket(socketOptions);
  });
  const { led, others } = await keysOf(node, 1);
  expect(led.length).toBeGreaterThan(0);
  await use(node.log, [...led, ...others]);
  await network.stop();
  const hidden = node.log.publish(topic, [record(led[0]!, 'hidden')]).catch(() => {});
  const attempts = () => opened.filter((port) => port === away).length;
  const [attemptsBefore, madeBefore] = [attempts(), node.connection.socketsOpened()];
  const othersBefore = opened.length - attemptsBefore;
  await until(
    async () => {
      await use(node.log, others);
      return attempts() >= attemptsBefore + 8;
    },
    { describe: () => `${attempts() - attemptsBefore} attempts to connect` },
  );
  expect(opened.length - attempts() - othersBefore).toBe(0);
  // Each would let all consumers verify their logs.
  expect(node.connection.socketsOpened() - madeBefore).toBe(0);
  // The broker is there again, at another port.
  const mended = await startProxy({ host: '127.0.0.1', port: away });
  onTestFinished(() => mended.stop());
  detours.set(away, mended.port);
  await hidden;
  await use(node.log, led);
});

// kafkajs sends a request to one broker drawn by lot, so a third of the starts failed at each of four requests.
test('nodes start while a broker refuses connections', async () => {
  const { detours, openSocket } = withDetours();
  const [unused] = await freePorts(1);
  detours.set(portOf(kafka.brokers[0]!), unused!);
  for (let start = 0; start < 8; start++) {
    const { close } = await connectKafka(freshOptions(), () => {}, { openSocket });
    await close();
  }
});

// kafkajs rejects the metadata of all topics when one partition has no leader, so nobody could connect any more.
test('partitions without a leader stop no node that uses others', async () => {
  const options = freshOptions();
  const node = await open(options);
  const { led, others } = await keysOf(node, 3);
  await use(node.log, [...led, ...others]);
  await kafka.nodes[2]!.kill();
  await leaderless(node);
  // Refused by the partitions, so that the leaders are looked up again and again.
  const hidden = Promise.all(led.map((key) => node.log.publish(topic, [record(key, 'hidden')])));
  hidden.catch(() => {});
  await use(node.log, others);
  const later = await open(options);
  await use(later.log, others);
  await use(node.log, others);
  await kafka.nodes[2]!.restart();
  await hidden;
  await use(later.log, [...led, ...others]);
});

// The process ended after 90 seconds, or after a minute if it published, and so did each that followed it.
test('a consumer goes on with its other partitions for as long as some have no leader', async () => {
  const options = freshOptions();
  const node = await open(options);
  const { led, others } = await keysOf(node, 2);
  const published = await keysOf(node, 2, topics.outcomes);
  const handled = others.filter((key) => published.others.includes(key));
  expect(handled.length).toBeGreaterThan(0);
  const send = (keys: readonly string[], text: string) =>
    node.log.publish(
      topic,
      keys.map((key) => record(key, text)),
    );
  await send([...led, ...others], 'before');
  await kafka.nodes[1]!.kill();
  await leaderless(node);

  const limitMs = 4_000;
  const stage = await open(options, socketFactory, { outageLimitMs: limitMs, appendLimitMs: limitMs });
  const { outcomes, countOf, failures } = startStage(stage, await groupCoordinatedBy(stage, 1));
  await until(() => handled.every((key) => countOf(key) === 1));
  // Publishing to a partition waits, and lets requests to it fail all the same.
  const hidden = stage.log.publish(topic, [record(led[0]!, 'hidden')]);
  await expect(stage.log.append(topic, [record(led[0]!, 'refused')])).rejects.toMatchObject({ code: 'unavailable' });
  await until(() => stage.log.inFlightBytes === 0);
  const sinceMs = performance.now();
  await until(() => performance.now() > sinceMs + 3 * limitMs);
  await send(handled, 'during');
  await until(() => handled.every((key) => countOf(key) === 2));
  expect(failures).toEqual([]);

  await kafka.nodes[1]!.restart();
  await hidden;
  await until(() => [...led, ...others].every((key) => countOf(key) > 0), {
    describe: () => `${[...failures, ...outcomes]}`,
  });
  expect(failures).toEqual([]);
});

// The members ended 90 seconds after their last heartbeat. Those that followed could not join, and ended as well.
test('members of a group go on for as long as their coordinator has no replicas, and a new one waits', async () => {
  // Kafka takes three seconds to notice that a broker is away.
  const limitMs = 15_000;
  const limits = { outageLimitMs: limitMs, appendLimitMs: outageLimitMs };
  const options = { ...freshOptions(), stallTimeoutMs: limitMs };
  const [node, first, second] = await Promise.all([
    open(options),
    open(options, socketFactory, limits),
    open(options, socketFactory, limits),
  ]);
  const group = await groupCoordinatedBy(node, 3);
  const { others } = await keysOf(node, 3);
  const published = await keysOf(node, 3, topics.outcomes);
  const handled = others.filter((key) => published.others.includes(key));
  expect(handled.length).toBeGreaterThan(0);
  const positions = new Map<number, number>();
  const member = startStage(first, group, positions);
  await until(() => member.held.size === options.partitions);
  await kafka.nodes[2]!.kill();
  await leaderless(node);

  const later = startStage(second, group, positions);
  const send = (text: string) =>
    node.log.publish(
      topic,
      handled.map((key) => record(key, text)),
    );
  const sinceMs = performance.now();
  await until(() => performance.now() > sinceMs + 2 * limitMs, { pollEveryMs: 100 });
  expect([...member.failures, ...later.failures]).toEqual([]);
  await send('during');
  await until(() => handled.every((key) => member.countOf(key) === 1));
  expect(later.held.size).toBe(0);

  await kafka.nodes[2]!.restart();
  await until(() => member.held.size === 3 && later.held.size === 3, {
    describe: () => `${member.failures} ${later.failures}: ${[...member.held]} and ${[...later.held]}`,
  });
  await send('after');
  const countOf = (key: string): number => member.countOf(key) + later.countOf(key);
  await until(() => handled.every((key) => countOf(key) === 2), {
    describe: () => handled.map((key) => `${key}: ${countOf(key)}`).join(),
  });
  expect([...member.failures, ...later.failures]).toEqual([]);
});

// The process ended after a minute, and so did each that followed it, for as long as replicas were away.
test('a stage waits for as long as too few replicas are in sync, and then publishes each record once', async () => {
  const limitMs = 4_000;
  const options = { ...freshOptions(), replicationFactor: 3, minInSyncReplicas: 3 };
  const node = await open(options);
  const stage = await open(options, socketFactory, { outageLimitMs: limitMs, appendLimitMs: limitMs });
  const keys = Array.from({ length: 20 }, (_, key) => `${key}`);
  await node.log.publish(
    topic,
    keys.map((key) => record(key, 'text')),
  );
  const group = await groupCoordinatedBy(node, 1);
  await kafka.nodes[1]!.kill();
  const outcomeTopic = { topics: [node.connection.topicName(topics.outcomes)] };
  await until(async () => {
    const metadata = await node.connection.admin.fetchTopicMetadata(outcomeTopic).catch(() => undefined);
    return metadata?.topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === 2));
  });
  // A new leader that does not know of its role yet is an outage, which is given up after the limit.
  for (let partition = 0; partition < options.partitions; partition++)
    await until(() => stage.log.bounds(topics.outcomes, partition).catch(() => undefined));
  const { countOf, failures, subscription } = startStage(stage, group);
  const sinceMs = performance.now();
  await until(() => performance.now() > sinceMs + 3 * limitMs && stage.connection.patience.waits > 0);
  expect(failures).toEqual([]);

  await kafka.nodes[1]!.restart();
  await until(() => keys.every((key) => countOf(key) === 1), { describe: () => `${failures}` });
  await subscription.close();
  expect(failures).toEqual([]);
  const outcomes = await Promise.all(
    Array.from({ length: options.partitions }, (_, partition) => node.log.read(topics.outcomes, partition, 0, 1_000)),
  );
  const outcomeKeys = outcomes.flatMap(({ records }) => records.map(({ key }) => key));
  expect(outcomeKeys.sort()).toEqual([...keys].sort());
});
