/**
 * All uses of kafkajs beyond its declared types. {@link verifyInternals} checks them at start.
 * `docs/decisions/022-kafka-client.md` explains why Fenceline has its own producer, and compares other clients.
 */
import { createRequire } from 'node:module';
import {
  type Broker,
  type Cluster,
  type ISocketFactory,
  type Kafka,
  type KafkaMessage,
  PartitionAssigners,
} from 'kafkajs';
import { withinMs } from '../../../../pipeline/time-limit.js';
import { type ClientObserver, observed } from '../../client-observer.js';
import { encodeBatch } from '../produce/record-batch.js';
import { singleFlight } from './single-flight.js';

/** The version that is tested and pinned in package.json. */
const testedVersion = '2.2.4';

/** An encoded request and the parser of its response. */
export interface Exchange<Answer extends Throttled> {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  readonly body: Buffer;
  readonly parse: (body: Buffer) => Answer;
}

interface Throttled {
  /** How long the broker wants no more requests on this connection. kafkajs observes it. */
  readonly throttleMs: number;
}

interface InternalBroker {
  readonly connectionPool: {
    readonly host: string;
    readonly port: number;
    send<Decoded, Answer>(exchange: {
      request: {
        apiKey: number;
        apiVersion: number;
        apiName: string;
        encode: () => Promise<{ buf: Buffer; buffer: Buffer }>;
      };
      response: { decode: (body: Buffer) => Promise<Decoded>; parse: (decoded: Decoded) => Promise<Answer> };
    }): Promise<Answer>;
  };
  findGroupCoordinator(request: { groupId: string; coordinatorType: number }): Promise<unknown>;
  initProducerId(request: { transactionTimeout: number }): Promise<ProducerId>;
  listOffsets(request: {
    isolationLevel: number;
    topics: { topic: string; partitions: { partition: number; timestamp: number }[] }[];
  }): Promise<{ responses: { partitions: { partition: number; offset: string }[] }[] }>;
}

/** Sends an encoded request. Rejects when the broker can't be reached or doesn't answer in time. */
export const exchange = <Answer extends Throttled>(
  broker: Broker,
  { body, parse, ...request }: Exchange<Answer>,
): Promise<Answer> =>
  (broker as unknown as InternalBroker).connectionPool.send({
    request: { ...request, encode: async () => ({ buf: body, buffer: body }) },
    response: {
      decode: async (bytes) => {
        const answer = parse(bytes);
        return { clientSideThrottleTime: answer.throttleMs, answer };
      },
      parse: async ({ answer }) => answer,
    },
  });

/** The id and epoch by which a broker recognises repeated batches of a producer. */
export interface ProducerId {
  /** A 64-bit integer in decimal digits. */
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** Requests a new id for an idempotent producer. Any broker can assign one. */
export const newProducerId = (broker: Broker): Promise<ProducerId> =>
  (broker as unknown as InternalBroker).initProducerId({ transactionTimeout: 60_000 });

/** Kafka's code of the coordinator of a group, beside that of a transaction. */
const ofGroups = 0;

/** Asks a broker which one coordinates the group. Rejects when none can. */
export async function findCoordinator(broker: Broker, groupId: string): Promise<void> {
  await (broker as unknown as InternalBroker).findGroupCoordinator({ groupId, coordinatorType: ofGroups });
}

const readUncommitted = 0;
/** Kafka's names of the two ends of a partition, in place of a time. */
const ends = { first: -2, end: -1 };

/**
 * Returns the first offset, or the offset after the last record, of each partition. All of them must be led by the
 * broker. Rejects with the first partition's error, if any has one.
 */
export async function listOffsets(
  broker: Broker,
  topic: string,
  partitions: readonly number[],
  which: keyof typeof ends,
): Promise<ReadonlyMap<number, number>> {
  const timestamp = ends[which];
  const { responses } = await (broker as unknown as InternalBroker).listOffsets({
    isolationLevel: readUncommitted,
    topics: [{ topic, partitions: partitions.map((partition) => ({ partition, timestamp })) }],
  });
  return new Map(responses.flatMap((each) => each.partitions).map(({ partition, offset }) => [partition, +offset]));
}

interface InternalCluster {
  readonly brokerPool: { readonly brokers: Readonly<Record<string, Broker | undefined>> };
}

/** Returns the object by which the cluster reaches the broker; undefined when it knows none. It may be replaced. */
export const knownBroker = (cluster: Cluster, node: number): Broker | undefined =>
  (cluster as unknown as InternalCluster).brokerPool.brokers[node];

/** Lets the cluster open new connections to the broker, with new state. The others stay. */
export function dropBroker(cluster: Cluster, broker: Broker): void {
  cluster.removeBroker((broker as unknown as InternalBroker).connectionPool);
  // Not awaited: it waits for responses that may never come.
  broker.disconnect().catch(() => {});
}

/** A record as kafkajs decodes it. The context is absent in the formats before Kafka 0.11. */
export type RawRecord = KafkaMessage & {
  readonly isControlRecord?: boolean;
  readonly batchContext?: {
    readonly firstOffset: string;
    readonly lastOffsetDelta: number;
    readonly partitionLeaderEpoch: number;
  };
};

/** Returns the epoch of the leader that appended the record; undefined in formats without epochs. */
export const leaderEpochOf = (message: KafkaMessage): number | undefined =>
  (message as RawRecord).batchContext?.partitionLeaderEpoch;

/** One partition of a fetch response. */
interface RawPartition {
  readonly partition: number;
  readonly highWatermark: string;
  readonly messages: readonly RawRecord[];
}

/**
 * Sends one fetch request. Rejects with the first partition's error, if any has one; `KafkaJSOffsetOutOfRange` names
 * its partition.
 */
export async function fetchRaw(broker: Broker, request: Parameters<Broker['fetch']>[0]): Promise<RawPartition[]> {
  const { responses }: { responses: { partitions: RawPartition[] }[] } = await broker.fetch(request);
  return responses.flatMap(({ partitions }) => partitions);
}

/**
 * Returns a separate cluster object, not yet connected. kafkajs passes clusters only to the partition assigners of a
 * new consumer, so this function makes a consumer that is never used.
 */
export function clusterOf(kafka: Kafka): Cluster {
  let captured: Cluster | undefined;
  kafka.consumer({
    groupId: 'never-joined',
    allowAutoTopicCreation: false,
    readUncommitted: true,
    partitionAssigners: [
      (parts) => {
        captured = parts.cluster;
        return PartitionAssigners.roundRobin(parts);
      },
    ],
  });
  if (captured === undefined) throw unusable(versionOf(load), ['a new consumer passes no cluster to its assigners']);
  return captured;
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests(): void;
}

const requestQueueModule = 'kafkajs/src/network/requestQueue/index.js';
const idleQueues = Symbol('queues of requests that are idle stay idle');

/**
 * Stops the timers of idle connections. kafkajs wakes each connection every millisecond to look for waiting requests,
 * with a delay below zero, of which Node 24 warns. A queue looks again when a request is added or answered, so only
 * one with waiting requests needs a timer. Calling it again changes nothing.
 */
export function stopIdleTimers(): void {
  const queue: RequestQueue & { [idleQueues]?: true } = load(requestQueueModule).prototype;
  if (queue[idleQueues]) return;
  const schedule = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
  queue[idleQueues] = true;
}

interface PartitionLeader {
  readonly partitionErrorCode: number;
  readonly leader: number;
}

interface Metadata {
  readonly topicMetadata: readonly { readonly partitionMetadata: readonly PartitionLeader[] }[];
}

/** The version of the request that all supported brokers answer. */
const metadataModule = 'kafkajs/src/protocol/requests/metadata/v6/response.js';
const isTolerant = Symbol('partitions without a leader are tolerated');
const noLeader = -1;

/**
 * Lets metadata have partitions with an error, whose leader is then -1. kafkajs rejects the metadata of all topics when
 * one partition has no leader: nobody could connect or look for leaders until it has one.
 */
export function tolerateMissingLeaders(): void {
  const response: { parse(answer: Metadata): Promise<Metadata>; [isTolerant]?: true } = load(metadataModule);
  if (response[isTolerant]) return;
  const { parse } = response;
  const tolerated = (partition: PartitionLeader): PartitionLeader =>
    partition.partitionErrorCode === 0 ? partition : { ...partition, partitionErrorCode: 0, leader: noLeader };
  response.parse = (answer) =>
    parse({
      ...answer,
      topicMetadata: answer.topicMetadata.map((topic) => ({
        ...topic,
        partitionMetadata: topic.partitionMetadata.map(tolerated),
      })),
    });
  response[isTolerant] = true;
}

interface InternalConnection {
  readonly socketFactory: ISocketFactory;
  readonly connectionTimeout: number;
  connect(): Promise<boolean>;
  send(exchange: { readonly request: { readonly apiName: string } }): Promise<unknown>;
}

const connectionModule = 'kafkajs/src/network/connection.js';
/** Observers by the function that opens a client's sockets. kafkajs passes this function to all connections. */
const observers = new WeakMap<ISocketFactory, ClientObserver>();
const isObserved = Symbol('requests are observed');

/** Observes the requests of all connections that this function opens. kafkajs reports only those that were answered. */
export function observeRequests(openSocket: ISocketFactory, observer: ClientObserver): void {
  observers.set(openSocket, observer);
  const connection: InternalConnection & { [isObserved]?: true } = load(connectionModule).prototype;
  if (connection[isObserved]) return;
  const { send } = connection;
  connection.send = function (this: InternalConnection, exchange) {
    const observing = observers.get(this.socketFactory);
    if (observing === undefined) return send.call(this, exchange);
    return observed(observing, exchange.request.apiName, () => send.call(this, exchange));
  };
  connection[isObserved] = true;
}

/** Time in which kafkajs reports an attempt that has reached its limit. */
const connectingGraceMs = 1_000;
const isShared = Symbol('attempts to connect are shared');
const connectors = new WeakMap<InternalConnection, () => Promise<boolean>>();

/**
 * Lets requests share an attempt to connect. kafkajs opens a socket for each request that finds no connection and keeps
 * one. The others stay open, and when a broker closes one of them, kafkajs rejects the requests of the kept one. An
 * attempt has a limit of its own, because kafkajs clears its limit without a result when a socket ends before.
 */
export function shareAttemptsToConnect(): void {
  const connection: InternalConnection & { [isShared]?: true } = load(connectionModule).prototype;
  if (connection[isShared]) return;
  const { connect } = connection;
  function limited(one: InternalConnection): Promise<boolean> {
    const limitMs = one.connectionTimeout + connectingGraceMs;
    return withinMs(limitMs, connect.call(one), () => new Error(`no connection within ${limitMs} ms`));
  }
  connection.connect = function (this: InternalConnection) {
    const connector = connectors.get(this) ?? singleFlight(() => limited(this));
    connectors.set(this, connector);
    return connector();
  };
  connection[isShared] = true;
}

/** Returns a module of kafkajs by its name. */
// biome-ignore lint/suspicious/noExplicitAny: kafkajs declares no types of its internals; the checks below test them.
type Load = (name: string) => any;

const load: Load = createRequire(import.meta.url);

const versionOf = (from: Load): string => from('kafkajs/package.json').version;

const unusable = (version: string, faults: readonly string[]): Error =>
  new Error(
    `kafkajs ${version} can't be used: ${faults.join('; ')}. ` +
      `Fenceline uses undeclared parts of kafkajs: install ${testedVersion}`,
  );

/** Decodes a batch of records with the decoder that kafkajs uses for fetches. */
export async function decodeBatch(
  batch: Buffer,
  from: Load = load,
): Promise<Record<string, unknown> & { readonly records: readonly RawRecord[] }> {
  const Decoder = from('kafkajs/src/protocol/decoder.js');
  return from('kafkajs/src/protocol/recordBatch/v0/decoder.js')(new Decoder(batch));
}

/** What Fenceline requires of kafkajs, keyed by the message for its absence. */
const checks: Readonly<Record<string, (from: Load) => boolean | Promise<boolean>>> = {
  'connections have no method send': (from) =>
    typeof from('kafkajs/src/network/connectionPool.js').prototype.send === 'function',
  'brokers do not keep their connections in connectionPool': (from) => {
    const connectionPool = {};
    const logger = { namespace: () => logger };
    return new (from('kafkajs/src/broker/index.js'))({ connectionPool, logger }).connectionPool === connectionPool;
  },
  'request queues have no method scheduleCheckPendingRequests': (from) =>
    typeof from(requestQueueModule).prototype.scheduleCheckPendingRequests === 'function',
  'connections do not keep the function that opens their sockets': (from) => {
    const socketFactory = () => {};
    const logger = { namespace: () => logger };
    const connection = new (from(connectionModule))({ host: 'none', port: 1, logger, socketFactory });
    return connection.socketFactory === socketFactory && typeof connection.send === 'function';
  },
  'connections have no method connect': (from) => typeof from(connectionModule).prototype.connect === 'function',
  'brokers have no method fetch': (from) => typeof from('kafkajs/src/broker/index.js').prototype.fetch === 'function',
  'brokers have no method initProducerId': (from) =>
    typeof from('kafkajs/src/broker/index.js').prototype.initProducerId === 'function',
  'brokers have no method findGroupCoordinator': (from) =>
    typeof from('kafkajs/src/broker/index.js').prototype.findGroupCoordinator === 'function',
  'brokers have no method listOffsets': (from) =>
    typeof from('kafkajs/src/broker/index.js').prototype.listOffsets === 'function',
  'clusters do not keep their brokers in brokerPool': (from) => {
    const logger = { namespace: () => logger };
    const { brokerPool } = new (from('kafkajs/src/cluster/index.js'))({ brokers: ['none:1'], logger });
    return typeof brokerPool.brokers === 'object' && typeof brokerPool.removeBroker === 'function';
  },
  'metadata is not parsed with its partitions': async (from) => {
    const partition = { partitionErrorCode: 0, leader: 1 };
    const answer = { topicMetadata: [{ topicErrorCode: 0, partitionMetadata: [partition] }] };
    return (await from(metadataModule).parse(answer)).topicMetadata[0].partitionMetadata[0].leader === 1;
  },
  'fetched records do not refer to their batch': async (from) => {
    const written = { key: 'key', value: Buffer.from('value') };
    const sequence = { producerId: '5', producerEpoch: 1, firstSequence: 3 };
    const { records } = await decodeBatch(encodeBatch([written, written], sequence, 1_000), from);
    const last = records[1];
    return (
      last?.offset === '1' &&
      last.timestamp === '1000' &&
      `${last.key}` === written.key &&
      `${last.value}` === `${written.value}` &&
      last.isControlRecord === false &&
      last.batchContext?.firstOffset === '0' &&
      last.batchContext.lastOffsetDelta === 1 &&
      last.batchContext.partitionLeaderEpoch === -1
    );
  },
};

/** Checks the installed kafkajs. Rejects with its version and every missing part. */
export async function verifyInternals(from: Load = load): Promise<void> {
  const faults: string[] = [];
  for (const [fault, holds] of Object.entries(checks)) {
    try {
      if (!(await holds(from))) faults.push(fault);
    } catch (error) {
      faults.push(`${fault} (${(error as Error).message.split('\n', 1)[0]})`);
    }
  }
  if (faults.length > 0) throw unusable(versionOf(from), faults);
}
