/**
 * Connects a process to Kafka: checks the kafkajs version, creates or checks the topics, and opens connections to
 * brokers.
 *
 * The other folders use this one. `produce/` appends records (start at `produce/producer.ts`), `read/` reads partitions
 * at any offset, `consume/` hands records to handlers, with a consumer group or without one. `log.ts` combines them
 * into the log port.
 */
import type { Admin, Cluster, ISocketFactory, Kafka } from 'kafkajs';
import { type Topic, topics } from '../../../../pipeline/ports.js';
import { withinMs } from '../../../../pipeline/time-limit.js';
import { type ClientObserver, noObserver } from '../../client-observer.js';
import type { KafkaOptions } from '../../options.js';
import { Patience } from '../../patience.js';
import { createKafka, groupNameOf, whileBrokersChange } from './client.js';
import { clusterOf, verifyInternals } from './kafkajs-internals.js';
import { socketFactory } from './sockets.js';
import { ensureTopics, partitionsOf } from './topics.js';

/** After this time another broker is tried. */
const clusterTimeoutMs = 5_000;

/** The connection that all parts of a process share. Its owner closes it after the parts. */
export interface KafkaConnection {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** The id that the brokers got when they were set up. Brokers that start on copied disks keep it. */
  readonly clusterId: string;
  /**
   * Opens separate connections to the brokers, which the caller disconnects. A broker answers the requests of one
   * connection in order, so a request that waits for records needs a connection of its own.
   */
  newCluster(): Promise<Cluster>;
  topicName(topic: Topic): string;
  /** Returns Kafka's name of a group. */
  groupName(group: string, topic: Topic): string;
  partitions(topic: Topic): number;
  /**
   * Returns the number of connections made so far, without failed attempts. While it does not change, no broker was
   * restarted or replaced.
   */
  socketsOpened(): number;
  /** With brokers that answer while replicas are away. */
  readonly patience: Patience;
  close(): Promise<void>;
}

/** How a process connects, beside its options. */
interface ConnectParts {
  readonly observer?: ClientObserver | undefined;
  /** Opens all sockets. */
  readonly openSocket?: ISocketFactory;
  /** May be shared with other services. Default: one of its own. */
  readonly patience?: Patience;
}

/** Rejects when no broker can be reached, a topic has wrong settings, or this version of kafkajs can't be used. */
export async function connectKafka(
  options: KafkaOptions,
  onProblem: (message: string) => void,
  { observer = noObserver, openSocket = socketFactory, patience = new Patience() }: ConnectParts = {},
): Promise<KafkaConnection> {
  await verifyInternals();
  let opened = 0;
  const counting: ISocketFactory = (socketOptions) =>
    openSocket(socketOptions).once('connect', () => {
      opened += 1;
    });
  const kafka = createKafka(options, onProblem, observer, counting);
  const topicName = (topic: Topic): string => options.prefix + topic;
  const admin = kafka.admin();
  let clusterId: string;
  try {
    await admin.connect();
    await ensureTopics(admin, options, onProblem);
    ({ clusterId } = await whileBrokersChange(() => admin.describeCluster()));
  } catch (error) {
    await admin.disconnect();
    throw error;
  }
  return {
    kafka,
    admin,
    clusterId,
    async newCluster() {
      const cluster = clusterOf(kafka);
      try {
        await withinMs(clusterTimeoutMs, connected(cluster, Object.values(topics).map(topicName)), noAnswer);
        return cluster;
      } catch (error) {
        // Not awaited: it waits for responses that may never come.
        cluster.disconnect().catch(() => {});
        throw error;
      }
    },
    topicName,
    groupName: (group, topic) => groupNameOf(options, group, topic),
    partitions: (topic) => partitionsOf(topic, options),
    socketsOpened: () => opened,
    patience,
    close: () => admin.disconnect(),
  };
}

const noAnswer = (): Error => new Error(`no broker answered within ${clusterTimeoutMs} ms`);

async function connected(cluster: Cluster, topicNames: string[]): Promise<void> {
  await cluster.connect();
  await cluster.addMultipleTargetTopics(topicNames);
}
