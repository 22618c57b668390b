/** Separate topics of a test on the shared Kafka. */
import { randomBytes } from 'node:crypto';
import type { ISocketFactory } from 'kafkajs';
import type { KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { socketFactory } from '../../../backends/cluster/kafka/connection/sockets.js';
import { unchangedWire } from '../../../backends/cluster/kafka/produce/publish-missing.js';
import type { KafkaOptions } from '../../../backends/cluster/options.js';
import type { WireSchemas } from '../../../backends/cluster/registry/wire-schemas.js';
import { topics } from '../../../pipeline/ports.js';
import { services } from '../../../testing/services/services.js';

/** Returns options with a new prefix. */
export const freshKafkaOptions = (): KafkaOptions => ({
  brokers: services()!.kafka.brokers,
  clientId: 'test',
  prefix: `test-${randomBytes(8).toString('hex')}.`,
  partitions: 4,
  replicationFactor: 1,
  minInSyncReplicas: 1,
  retentionMs: {},
  sessionTimeoutMs: 6_000,
  stallTimeoutMs: 30_000,
});

/** Returns a way to open sockets, which connects to the port of a proxy for each broker's port in `detours`. */
export function withDetours(): { readonly detours: Map<number, number>; readonly openSocket: ISocketFactory } {
  const detours = new Map<number, number>();
  const openSocket: ISocketFactory = (options) =>
    socketFactory({ ...options, port: detours.get(options.port) ?? options.port });
  return { detours, openSocket };
}

/** Deletes the topics that are under the connection's prefix and closes it. */
export async function removeTopics({ admin, topicName, close }: KafkaConnection): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const ours = Object.values(topics)
    .map(topicName)
    .filter((name) => existing.has(name));
  // Another node of the same test may be deleting them as well.
  await admin.deleteTopics({ topics: ours }).catch(() => {});
  await close();
}

/** Leaves frames unchanged. */
export const sameOnTheWire: WireSchemas = { ...unchangedWire, toWire: () => {} };
