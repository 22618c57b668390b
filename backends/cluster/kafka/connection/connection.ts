/**
 * One process's way to Kafka: the client, the names of topics and groups, and connections to the brokers for those who
 * speak to them directly.
 *
 * Flows in: addresses and credentials. Flows out: a client whose topics exist. What kafkajs warns of goes to
 * `onProblem`, without secrets.
 */
import type { Admin, Cluster, Kafka } from 'kafkajs';
import { type Topic, topics } from '../../../../pipeline/ports.js';
import { withinMs } from '../../../../pipeline/time-limit.js';
import type { KafkaOptions } from '../../options.js';
import { createKafka, groupNameOf } from './client.js';
import { clusterOf, verifyInternals } from './kafkajs-internals.js';
import { ensureTopics, partitionsOf } from './topics.js';

/** Then another broker is tried. */
const clusterTimeoutMs = 5_000;

export interface KafkaConnection {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /**
   * Connections of one's own to the brokers that lead our topics. A broker answers the requests of one connection in
   * their order: whoever lets it wait for records shares it with nobody. To be disconnected by whoever asked for it.
   */
  newCluster(): Promise<Cluster>;
  topicName(topic: Topic): string;
  /** Kafka's name of a group. */
  groupName(group: string, topic: Topic): string;
  partitions(topic: Topic): number;
  /**
   * How often a broker was connected to. While it stays the same, every broker is the one that it was, with the log
   * that it had.
   */
  socketsOpened(): number;
  close(): Promise<void>;
}

/** Rejects when no broker can be reached, a topic can't be used, or kafkajs isn't as we use it. */
export async function connectKafka(
  options: KafkaOptions,
  onProblem: (message: string) => void,
): Promise<KafkaConnection> {
  await verifyInternals();
  let opened = 0;
  const kafka = createKafka(options, onProblem, () => {
    opened += 1;
  });
  const topicName = (topic: Topic): string => options.prefix + topic;
  const admin = kafka.admin();
  try {
    await admin.connect();
    await ensureTopics(admin, options, onProblem);
  } catch (error) {
    await admin.disconnect();
    throw error;
  }
  return {
    kafka,
    admin,
    async newCluster() {
      const cluster = clusterOf(kafka);
      try {
        await withinMs(clusterTimeoutMs, connected(cluster, Object.values(topics).map(topicName)), noAnswer);
        return cluster;
      } catch (error) {
        // Waits for answers that may never come.
        cluster.disconnect().catch(() => {});
        throw error;
      }
    },
    topicName,
    groupName: (group, topic) => groupNameOf(options, group, topic),
    partitions: (topic) => partitionsOf(topic, options),
    socketsOpened: () => opened,
    close: () => admin.disconnect(),
  };
}

const noAnswer = (): Error => new Error(`no broker answered within ${clusterTimeoutMs} ms`);

async function connected(cluster: Cluster, topicNames: string[]): Promise<void> {
  await cluster.connect();
  await cluster.addMultipleTargetTopics(topicNames);
}
