/**
 * How we use kafkajs: bounded in time, with few tries of its own. What it warns of goes to `onProblem`, without
 * secrets.
 */
import { Kafka, type LogEntry, logLevel, type SASLOptions } from 'kafkajs';
import type { Topic } from '../../../../pipeline/ports.js';
import type { KafkaOptions } from '../../options.js';
import { socketFactory } from './sockets.js';

const connectionTimeoutMs = 5_000;
/** A broker that doesn't answer for so long counts as gone. */
const requestTimeoutMs = 15_000;
/** Of kafkajs itself, about four seconds; what must outlast an outage tries again by itself. */
const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5 };

/** Connects to nothing yet. `onSocket` hears of every connection that is begun. */
export const createKafka = (
  options: KafkaOptions,
  onProblem: (message: string) => void,
  onSocket = (): void => {},
): Kafka =>
  new Kafka({
    brokers: () => shuffled(options.brokers),
    clientId: options.clientId,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry,
    socketFactory: (socketOptions) => {
      onSocket();
      return socketFactory(socketOptions);
    },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      if (!isRebalance(entry)) onProblem(describe(entry));
    },
    ...(options.tls && { ssl: { ...options.tls } }),
    ...(options.sasl && { sasl: options.sasl as SASLOptions }),
  });

/** Kafka's name of a group: of one topic only, for all members of a group must read the same topics. */
export const groupNameOf = ({ prefix }: Pick<KafkaOptions, 'prefix'>, group: string, topic: Topic): string =>
  `${prefix}${group}.${topic}`;

/** kafkajs begins with the first, and keeps to one that takes connections and doesn't answer. */
const shuffled = (brokers: readonly string[]): string[] =>
  brokers
    .map((broker) => ({ broker, drawn: Math.random() }))
    .sort((a, b) => a.drawn - b.drawn)
    .map(({ broker }) => broker);

/** kafkajs warns each member of each new division of the partitions, which is how a group works. */
const isRebalance = ({ log }: LogEntry): boolean =>
  [log.message, log.error].some((text) => typeof text === 'string' && text.startsWith('The group is rebalancing'));

/** Names only what can't be a secret. */
function describe({ namespace, log }: LogEntry): string {
  const facts = ['broker', 'groupId', 'topic', 'error'].flatMap((name) => {
    const value: unknown = log[name];
    return typeof value === 'string' ? [`${name} ${value}`] : [];
  });
  return `kafka ${namespace}: ${[log.message, ...facts].join(', ')}`;
}
