/** Appending over a bad network to the broker. By a ledger of the appended records, each must exist once, in order. */
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Brokers } from '../../../backends/cluster/kafka/connection/brokers.js';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { exchange, newProducerId } from '../../../backends/cluster/kafka/connection/kafkajs-internals.js';
import { produceRequest } from '../../../backends/cluster/kafka/produce/produce-request.js';
import { KafkaProducer, type ProducerOptions } from '../../../backends/cluster/kafka/produce/producer.js';
import { ProducerSequences } from '../../../backends/cluster/kafka/produce/producer-ids.js';
import { encodeBatch } from '../../../backends/cluster/kafka/produce/record-batch.js';
import { createReader, type Reader } from '../../../backends/cluster/kafka/read/reader.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics, sameOnTheWire, withDetours } from './fresh-kafka.js';

const { detours, openSocket } = withDetours();

const topic = 'locations';
const partition = 0;
const texts = (count: number, name = 'n') =>
  Array.from({ length: count }, (_, i) => ({ key: 'key', value: Buffer.from(`${name}${i}`) }));

let connection: KafkaConnection;
let reader: Reader;

beforeEach(async () => {
  const options = { ...freshKafkaOptions(), partitions: 1 };
  connection = await connectKafka(options, () => {}, { openSocket });
  reader = createReader(connection, sameOnTheWire);
  onTestFinished(async () => {
    detours.clear();
    await reader.close();
    await removeTopics(connection);
  });
});

/** Returns a producer whose connections use a separate network. Nothing else may connect before it does. */
async function overBadNetwork(options: ProducerOptions = {}) {
  const [host, port] = freshKafkaOptions().brokers[0]!.split(':') as [string, string];
  const network = await startProxy({ host, port: Number(port) });
  detours.set(Number(port), network.port);
  const appender = new KafkaProducer(connection, options);
  onTestFinished(async () => {
    network.mend();
    await appender.close();
    await network.stop();
  });
  return { network, appender, direct: () => detours.clear() };
}

const found = async (): Promise<string[]> =>
  (await reader.read(topic, partition, 0, 1_000_000)).records.map(({ value }) => value!.toString());

describe('appending', () => {
  test('appends during a request share the next one', async () => {
    const appender = new KafkaProducer(connection);
    await appender.append(topic, texts(1));
    const appends = Array.from({ length: 300 }, (_, i) => appender.append(topic, texts(2, `${i}:`)));
    await Promise.all(appends);
    await appender.close();
    const { records } = await reader.read(topic, 0, 0, 1_000);
    expect(records.length).toBe(601);
    // The broker gives all records of a batch the same time.
    expect(new Set(records.map(({ timestamp }) => timestamp)).size).toBeLessThan(10);
  });

  test('appends beyond the limit of bytes in flight are rejected', async () => {
    const { network, appender } = await overBadNetwork({ maxInFlightBytes: 10_000 });
    await appender.append(topic, texts(1));
    network.delayMs = 100;
    const value = Buffer.alloc(6_000);
    const first = appender.append(topic, [{ key: 'a', value }]);
    await expect(appender.append(topic, [{ key: 'a', value }])).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterS: 1,
    });
    await first;
    expect(appender.inFlightBytes).toBe(0);
    await appender.append(topic, [{ key: 'a', value: Buffer.alloc(20_000) }]);
    expect((await found()).length).toBe(3);
  });

  test('during an outage appends reject, and their records are written afterwards', async () => {
    const { network, appender } = await overBadNetwork({ appendLimitMs: 300 });
    await appender.publish(topic, texts(1, 'before'));
    network.cutOff();
    await expect(appender.append(topic, texts(2, 'during'))).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterS: 5,
    });
    const later = appender.publish(topic, texts(2, 'after'));
    network.mend();
    await later;
    expect(await found()).toEqual(['before0', 'during0', 'during1', 'after0', 'after1']);
  });

  test('lost responses neither duplicate nor reorder records', async () => {
    const { network, appender } = await overBadNetwork();
    const total = 400;
    for (let i = 0; i < total; i++) {
      const isDisturbed = i % 50 === 49;
      const dropped = network.droppedPieces;
      network.dropsAnswers = isDisturbed;
      const appends = [appender.publish(topic, texts(2, `${i}:`)), appender.publish(topic, texts(1, `${i}:more`))];
      if (isDisturbed) {
        await until(() => network.droppedPieces > dropped);
        network.cutOff();
        network.mend();
      }
      await Promise.all(appends);
    }
    const expected = Array.from({ length: total }, (_, i) => [`${i}:0`, `${i}:1`, `${i}:more0`]).flat();
    expect(await found()).toEqual(expected);
  });

  test('records that were given up are never confused with later ones', async () => {
    // A new partition may refuse at first, for longer than the limit below.
    const patient = new KafkaProducer(connection);
    await patient.publish(topic, texts(1, 'before'));
    await patient.close();
    const { network, appender, direct } = await overBadNetwork({ outageLimitMs: 200 });
    await appender.publish(topic, texts(1, 'good'));
    network.dropsAnswers = true;
    const lost = appender.publish(topic, texts(2, 'lost'));
    const reason = expect(lost).rejects.toThrow('could not be appended to');
    direct();
    await until(async () => (await found()).length === 4);
    detours.set(Number(freshKafkaOptions().brokers[0]!.split(':')[1]), network.port);
    network.cutOff();
    await reason;
    network.mend();
    await until(async () =>
      appender.publish(topic, texts(2, 'after')).then(
        () => true,
        () => false,
      ),
    );
    expect(await found()).toEqual(['before0', 'good0', 'lost0', 'lost1', 'after0', 'after1']);
  });

  test('a refused batch affects no other append', async () => {
    const options = freshKafkaOptions();
    const name = `${options.prefix}locations`;
    // The brokers' default, as if another program had created the topic.
    const configEntries = [{ name: 'max.message.bytes', value: '1048588' }];
    await connection.admin.createTopics({
      topics: [{ topic: name, numPartitions: options.partitions, configEntries }],
      waitForLeaders: false,
    });
    const refusing = await connectKafka(options, () => {}, { openSocket });
    onTestFinished(() => removeTopics(refusing));
    const appender = new KafkaProducer(refusing);
    const appends = [texts(3), [{ key: 'key', value: Buffer.alloc(1_500_000) }], texts(4)].map((records) =>
      appender.append(topic, records),
    );
    const sizes = await Promise.allSettled([
      ...appends,
      appender.append(topic, [{ key: 'key', value: Buffer.alloc(5_000_000) }]),
    ]);
    await appender.append(topic, texts(1));
    await appender.close();
    expect(sizes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    expect((sizes[1] as PromiseRejectedResult).reason.message).toContain("answers with Kafka's error 10");
  });

  test('sequence numbers wrap around', async () => {
    const brokers = new Brokers(connection);
    onTestFinished(() => brokers.close());
    const name = connection.topicName(topic);
    const leader = await brokers.leaderOf(name, partition);
    // A broker that has just started assigns no ids yet.
    const id = await vi.waitFor(() => brokers.request(leader, newProducerId), { timeout: 120_000, interval: 100 });
    const sequences = new ProducerSequences(id);
    const send = async (count: number) => {
      const bytes = encodeBatch(texts(count), sequences.nextOf('partition'), Date.now());
      const request = produceRequest([{ topic: name, partition, bytes }], 5_000);
      return (await brokers.request(leader, (broker) => exchange(broker, request))).errorCode(name, partition);
    };
    sequences.advance('partition', 2 ** 31 - 3);
    // It does not lead a new partition yet, either.
    await vi.waitFor(async () => expect(await send(5)).toBe(0), { timeout: 120_000, interval: 100 });
    sequences.advance('partition', 5);
    expect(sequences.nextOf('partition').firstSequence).toBe(2);
    expect(await send(4)).toBe(0);
    // The batch counts as a repetition: acknowledged, but not written.
    expect(await send(4)).toBe(0);
    sequences.advance('partition', 5);
    const outOfOrder = 45;
    expect(await send(1)).toBe(outOfOrder);
    expect((await found()).length).toBe(9);
  });
});
