/** What a read ends with when Kafka is away for too long. */
import { expect, test } from 'vitest';
import { topics } from '../../../../pipeline/ports.js';
import { freePorts } from '../../../../testing/services/ports.js';
import { Patience } from '../../patience.js';
import { ServiceError } from '../../service-error.js';
import { createKafka } from '../connection/client.js';
import type { KafkaConnection } from '../connection/connection.js';
import { clusterOf } from '../connection/kafkajs-internals.js';
import { unchangedWire } from '../produce/publish-missing.js';
import { createReader } from './reader.js';

// `repair` and `replay` printed the stack of the client, like a fault of the program.
test('regression: a read that is given up is a failure of the service, and names the partition', async () => {
  const [port] = await freePorts(1);
  const kafka = createKafka({ brokers: [`127.0.0.1:${port}`], clientId: 'test' } as never, () => {});
  const connection = {
    patience: new Patience(),
    topicName: (topic: string) => `fenceline.${topic}`,
    async newCluster() {
      const cluster = clusterOf(kafka);
      await cluster.connect();
      return cluster;
    },
  } as unknown as KafkaConnection;
  const reader = createReader(connection, unchangedWire, { outageLimitMs: 0 });
  for (const answer of [
    reader.read(topics.locations, 3, 0, 1),
    reader.end(topics.locations, 3),
    reader.bounds(topics.locations, 3),
  ]) {
    await expect(answer).rejects.toBeInstanceOf(ServiceError);
    await expect(answer).rejects.toThrow(/^Kafka: fenceline\.locations\/3 could not be read: .*ECONNREFUSED/);
  }
  await reader.close();
});
