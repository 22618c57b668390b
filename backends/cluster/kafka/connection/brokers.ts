/**
 * The brokers that lead our partitions, for requests of one's own.
 *
 * Flows in: what to ask whom. Flows out: answers. What fails is told to the one who asked. Before the next request
 * leaders are looked up anew, or, where a connection broke, all connections are made anew: kafkajs goes on using what
 * it knows of broken ones.
 */
import type { Broker, Cluster } from 'kafkajs';
import type { KafkaConnection } from './connection.js';

/** An error that a broker answered with has Kafka's name of it. The connection is sound. */
const isAnswer = (error: unknown): boolean => error instanceof Error && 'type' in error;

export class ConnectionClosed extends Error {}

class NoLeader extends Error {
  readonly type = 'LEADER_NOT_AVAILABLE';
}

export class Brokers {
  private connecting: Promise<Cluster> | undefined;
  private isClosed = false;

  /** Connects when it is first asked. */
  constructor(private readonly connection: Pick<KafkaConnection, 'newCluster'>) {}

  /** Node id of the broker that leads the partition. Rejects when there is none at the moment. */
  leaderOf(topicName: string, partition: number): Promise<number> {
    return this.on(async (cluster) => {
      const [leader] = Object.keys(cluster.findLeaderForPartitions(topicName, [partition])).map(Number);
      if (leader === undefined || leader < 0)
        throw new NoLeader(`partition ${partition} of ${topicName} has no leader`);
      return leader;
    });
  }

  ask<Answer>(node: number, request: (broker: Broker) => Promise<Answer>): Promise<Answer> {
    return this.on(async (cluster) => request(await cluster.findBroker({ nodeId: `${node}` })));
  }

  /** Looks leaders up anew: an answer may say that one has changed. */
  async refresh(): Promise<void> {
    await this.on((cluster) => cluster.refreshMetadata());
  }

  async on<Result>(use: (cluster: Cluster) => Promise<Result>): Promise<Result> {
    const connecting = this.connect();
    const cluster = await connecting;
    try {
      return await use(cluster);
    } catch (error) {
      if (isAnswer(error)) await cluster.refreshMetadata().catch(() => this.forget(connecting));
      else this.forget(connecting);
      throw error;
    }
  }

  /** Requests under way get their answers first. */
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
