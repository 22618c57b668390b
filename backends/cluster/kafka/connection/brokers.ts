/**
 * Connections to the brokers that lead our partitions.
 *
 * A failed request rejects and is not retried here. Before the next request, the leaders are looked up again; after a
 * broken connection, all connections are replaced, because kafkajs keeps using the state of broken ones.
 */
import type { Broker, Cluster } from 'kafkajs';
import type { KafkaConnection } from './connection.js';

/** Returns whether a broker answered with an error, which has Kafka's name as `type`. The connection is intact. */
const isResponse = (error: unknown): boolean => error instanceof Error && 'type' in error;

export class ConnectionClosed extends Error {}

class NoLeader extends Error {
  readonly type = 'LEADER_NOT_AVAILABLE';
}

export class Brokers {
  private connecting: Promise<Cluster> | undefined;
  private isClosed = false;

  /** Connects at the first request. */
  constructor(private readonly connection: Pick<KafkaConnection, 'newCluster'>) {}

  /** Returns the node id of the partition's leader. Rejects when there is none at the moment. */
  leaderOf(topicName: string, partition: number): Promise<number> {
    return this.use(async (cluster) => {
      const [leader] = Object.keys(cluster.findLeaderForPartitions(topicName, [partition])).map(Number);
      if (leader === undefined || leader < 0)
        throw new NoLeader(`partition ${partition} of ${topicName} has no leader`);
      return leader;
    });
  }

  /** Sends a request to the broker. */
  request<Answer>(node: number, send: (broker: Broker) => Promise<Answer>): Promise<Answer> {
    return this.use(async (cluster) => send(await cluster.findBroker({ nodeId: `${node}` })));
  }

  /** Looks up the leaders again, after a response that says that one has changed. */
  async refresh(): Promise<void> {
    await this.use((cluster) => cluster.refreshMetadata());
  }

  async use<Result>(use: (cluster: Cluster) => Promise<Result>): Promise<Result> {
    const connecting = this.connect();
    const cluster = await connecting;
    try {
      return await use(cluster);
    } catch (error) {
      if (isResponse(error)) await cluster.refreshMetadata().catch(() => this.forget(connecting));
      else this.forget(connecting);
      throw error;
    }
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
    connecting.then((cluster) => cluster.disconnect()).catch(() => {});
  }
}
