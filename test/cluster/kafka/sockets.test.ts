/**
 * A connection is reset in the middle of a response. Regression: kafkajs threw in its socket's handler, or hung without
 * an error. `sockets.ts` explains why.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { KafkaProducer } from '../../../backends/cluster/kafka/produce/producer.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics, withDetours } from './fresh-kafka.js';

const { detours, openSocket } = withDetours();

/** Starts a proxy that resets connections `resets` times, in the middle of a large response. */
async function startResettingProxy(brokerPort: number, resets: number) {
  let left = resets;
  const server = createServer((client) => {
    let carriedBytes = 0;
    const broker = connect(brokerPort, '127.0.0.1');
    client.pipe(broker);
    broker.on('data', (piece) => {
      carriedBytes += piece.length;
      client.write(piece);
      if (carriedBytes < 300_000 || left === 0) return;
      left -= 1;
      broker.destroy();
      client.resetAndDestroy();
    });
    for (const socket of [client, broker]) socket.on('error', () => {});
    client.on('close', () => broker.destroy());
    broker.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close(), left: () => left };
}

test('a consumer continues after connections were reset during a response', async ({ onTestFinished }) => {
  const options = freshKafkaOptions();
  const connection = await connectKafka(options, () => {}, { openSocket });
  onTestFinished(() => removeTopics(connection));
  const appender = new KafkaProducer(connection);
  const count = 2_000;
  const value = Buffer.alloc(1_000);
  await appender.append(
    'locations',
    Array.from({ length: count }, () => ({ key: 'a', value })),
  );
  await appender.close();

  const brokerPort = Number(options.brokers[0]!.split(':')[1]);
  const proxy = await startResettingProxy(brokerPort, 3);
  detours.set(brokerPort, proxy.port);
  onTestFinished(() => {
    detours.clear();
    proxy.close();
  });
  const consumer = connection.kafka.consumer({
    groupId: connection.groupName('test', 'locations'),
    maxWaitTimeInMs: 200,
  });
  onTestFinished(() => consumer.disconnect());
  const seen = new Set<string>();
  await consumer.connect();
  await consumer.subscribe({ topic: connection.topicName('locations'), fromBeginning: true });
  await consumer.run({
    eachBatch: async ({ batch }) => {
      for (const { offset } of batch.messages) seen.add(offset);
    },
  });
  await until(() => seen.size === count, { describe: () => `${seen.size} of ${count} records` });
  expect(proxy.left()).toBe(0);
});
