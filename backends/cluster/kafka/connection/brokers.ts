/**
 * Connections to the brokers that lead our partitions.
 *
 * A failed request rejects and is not retried here. Before the next request, the leaders are looked up again. After a
 * broken connection, those to the same broker are replaced, because kafkajs keeps using the state of broken ones. When
 * no broker tells the leaders, all connections are replaced.
 */
import type { Broker, Cluster } from 'kafkajs';
import { ServiceError } from '../../service-error.js';
import type { KafkaConnection } from './connection.js';
import { dropBroker, knownBroker } from './kafkajs-internals.js';

/** Returns whether a broker answered with an error, which has Kafka's name as `type`. The connection is intact. */
const isResponse = (error: unknown): boolean => error instanceof Error && 'type' in error;

/** The connections are closed, so no request is sent any more. */
export class ConnectionClosed extends ServiceError {}

/** The brokers answer that they can serve no process, because replicas are away. */
export class ReplicasAway extends Error {
  readonly type = 'REPLICAS_AWAY';
}

/** The connections of one client to the brokers, looked up again after any failure. */
export class Brokers {
  private connecting: Promise<Cluster> | undefined;
  private isClosed = false;

  /** Connects at the first request. */
  constructor(private readonly connection: Pick<KafkaConnection, 'newCluster' | 'patience'>) {}

  /** Returns the node id of the partition's leader. Rejects when there is none at the moment. */
  leaderOf(topicName: string, partition: number): Promise<number> {
    return this.#use(async (cluster) => {
      const [leader] = Object.keys(cluster.findLeaderForPartitions(topicName, [partition])).map(Number);
      if (leader === undefined || leader < 0) {
        throw this.replicasAway(`partition ${partition} of ${topicName} has no leader`);
      }
      return leader;
    });
  }

  /** Returns the error of such an answer, and counts it. */
  replicasAway(message: string): ReplicasAway {
    this.connection.patience.refused('kafka', message);
    return new ReplicasAway(message);
  }

  /** Sends a request to any broker. */
  requestAny<Answer>(send: (broker: Broker) => Promise<Answer>): Promise<Answer> {
    return this.#use(async (cluster) => send(await cluster.findControllerBroker()));
  }

  /** Sends a request to the broker. */
  request<Answer>(node: number, send: (broker: Broker) => Promise<Answer>): Promise<Answer> {
    return this.#use(async (cluster) => {
      const known = knownBroker(cluster, node);
      try {
        return await send(await cluster.findBroker({ nodeId: `${node}` }));
      } catch (error) {
        // Another request that failed may have replaced it.
        if (!isResponse(error) && known !== undefined && known === knownBroker(cluster, node))
          dropBroker(cluster, known);
        throw error;
      }
    });
  }

  /** Looks up the leaders again, after a response that says that one has changed. */
  async refresh(): Promise<void> {
    const connecting = this.connect();
    await this.#refresh(connecting, await connecting);
  }

  async #use<Result>(use: (cluster: Cluster) => Promise<Result>): Promise<Result> {
    const connecting = this.connect();
    const cluster = await connecting;
    try {
      return await use(cluster);
    } catch (error) {
      // The next request tells whether the brokers can be reached again.
      await this.#refresh(connecting, cluster).catch(() => {});
      throw error;
    }
  }

  async #refresh(connecting: Promise<Cluster>, cluster: Cluster): Promise<void> {
    const isCurrent = (): boolean => !this.isClosed && this.connecting === connecting;
    try {
      if (isCurrent()) await cluster.refreshMetadata();
    } catch (error) {
      this.forget(connecting);
      throw error;
    }
    // kafkajs connects again in a cluster that was disconnected during a request.
    if (!isCurrent()) await cluster.disconnect();
  }

  /** Waits for requests in flight, then disconnects. */
  async close(): Promise<void> {
    this.isClosed = true;
    const cluster = await this.connecting?.catch(() => undefined);
    await cluster?.disconnect();
  }

  private connect(): Promise<Cluster> {
    if (this.isClosed) throw new ConnectionClosed('the connection to Kafka is closed');
    if (this.connecting === undefined) {
      const connecting = this.connection.newCluster();
      this.connecting = connecting;
      connecting.catch(() => this.forget(connecting));
    }
    return this.connecting;
  }

  private forget(connecting: Promise<Cluster>): void {
    if (this.connecting === connecting) this.connecting = undefined;
    // Nobody uses it any more, whether it could be opened or closed.
    connecting.then((cluster) => cluster.disconnect()).catch(() => {});
  }
}
