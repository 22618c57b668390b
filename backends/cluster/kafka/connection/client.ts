/** Creates the kafkajs client with short timeouts and few retries. Its warnings go to `onProblem`, without secrets. */
import { type ISocketFactory, Kafka, type LogEntry, logLevel, type SASLOptions } from 'kafkajs';
import type { Topic } from '../../../../pipeline/ports.js';
import { retried } from '../../../../pipeline/retrying.js';
import { type ClientObserver, noObserver } from '../../client-observer.js';
import type { KafkaOptions } from '../../options.js';
import {
  observeRequests,
  shareAttemptsToConnect,
  stopIdleTimers,
  tolerateMissingLeaders,
} from './kafkajs-internals.js';
import { socketFactory } from './sockets.js';

const connectionTimeoutMs = 5_000;
/** A broker that doesn't answer within this time counts as down. */
const requestTimeoutMs = 15_000;
/** Retries of kafkajs, about four seconds. Code that must survive longer outages retries on its own. */
const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5 };

/** Creates a client that is not connected yet. It opens all its sockets with `openSocket`. */
export const createKafka = (
  options: KafkaOptions,
  onProblem: (message: string) => void,
  observer: ClientObserver = noObserver,
  openSocket: ISocketFactory = socketFactory,
): Kafka => {
  stopIdleTimers();
  shareAttemptsToConnect();
  tolerateMissingLeaders();
  const openObserved: ISocketFactory = (socketOptions) => {
    // Without a connection nothing is sent, and an outage would have no request that failed.
    let end: ((hasFailed: boolean) => void) | undefined = observer.started('Connect');
    const ended = (hasFailed: boolean): void => {
      end?.(hasFailed);
      end = undefined;
    };
    const socket = openSocket({
      ...socketOptions,
      onConnect() {
        ended(false);
        socketOptions.onConnect();
      },
    });
    observer.connections(1);
    return socket.once('close', () => {
      ended(true);
      observer.connections(-1);
    });
  };
  observeRequests(openObserved, observer);
  return new Kafka({
    brokers: () => shuffled(options.brokers),
    clientId: options.clientId,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry,
    socketFactory: openObserved,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      if (!isRebalance(entry)) onProblem(describe(entry));
    },
    ...(options.tls && { ssl: { ...options.tls } }),
    ...(options.sasl && { sasl: options.sasl as SASLOptions }),
  });
};

/** How long a broker may be known to clients after its end, and how long others may take to learn of a new topic. */
const changeLimitMs = 30_000;

/**
 * Repeats a request of the admin client, which kafkajs sends to one broker drawn by lot, or to the one that it believes
 * to be the controller. Rejects after 30 seconds, or at once with an error that kafkajs marks as lasting.
 */
export const whileBrokersChange = <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
  retried(ask, { limitMs: changeLimitMs, isFinal: (error) => !mayPass(error) });

/**
 * When kafkajs gives up its own retries, it marks the error as lasting, and the cause as before. A broker that demands
 * a login closes connections without one.
 */
function mayPass(error: unknown): boolean {
  const { name, retriable, cause } = error as Error & { readonly retriable?: boolean };
  if (name === 'KafkaJSConnectionClosedError') return false;
  return retriable === true || (cause instanceof Error && mayPass(cause));
}

/** Returns Kafka's name of a group. It includes the topic, because all members must subscribe to the same topics. */
export const groupNameOf = ({ prefix }: Pick<KafkaOptions, 'prefix'>, group: string, topic: Topic): string =>
  `${prefix}${group}.${topic}`;

/**
 * Shuffles the brokers. kafkajs starts with the first, and stays with one that accepts connections but never answers.
 */
const shuffled = (brokers: readonly string[]): string[] =>
  brokers
    .map((broker) => ({ broker, drawn: Math.random() }))
    .sort((a, b) => a.drawn - b.drawn)
    .map(({ broker }) => broker);

/** Returns whether the entry is about a rebalance, of which kafkajs warns although it is normal. */
const isRebalance = ({ log }: LogEntry): boolean =>
  [log.message, log.error].some((text) => typeof text === 'string' && text.startsWith('The group is rebalancing'));

/** Describes the entry by fields that contain no secrets. */
function describe({ namespace, log }: LogEntry): string {
  const facts = ['broker', 'groupId', 'topic', 'error'].flatMap((name) => {
    const value: unknown = log[name];
    return typeof value === 'string' ? [`${name} ${value}`] : [];
  });
  return `kafka ${namespace}: ${[log.message, ...facts].join(', ')}`;
}
