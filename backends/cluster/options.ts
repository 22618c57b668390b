/** Addresses and credentials of the cluster's services. Made from the configuration after its files were read. */
import type { Topic } from '../../pipeline/ports.js';

/** PEM texts. If present, the connection is encrypted and the server's certificate is verified. */
export interface TlsOptions {
  /** Trusted authorities. Default: those of the system. */
  readonly ca?: string;
  /** Client certificate and its key, if the server requires one. */
  readonly cert?: string;
  readonly key?: string;
}

/** How to reach Kafka, and how topics are created. */
export interface KafkaOptions {
  /** `host:port` of some of the brokers. */
  readonly brokers: readonly string[];
  /** Shown in the brokers' logs. */
  readonly clientId: string;
  /** Prefix of every topic and group, such as `fenceline.`, so that several installations can share brokers. */
  readonly prefix: string;
  /** Partitions of the topics that are created. Topic `changes` always has one. */
  readonly partitions: number;
  /** -1 uses the broker's default. */
  readonly replicationFactor: number;
  /** Replicas that must have a record before it is acknowledged. 0: two of three or more replicas, otherwise one. */
  readonly minInSyncReplicas: number;
  /** Retention of the topics that are created. Default: {@link topicRetentionMs}. */
  readonly retentionMs: Partial<Readonly<Record<Topic, number>>>;
  /** A consumer without a heartbeat for this time loses its partitions. */
  readonly sessionTimeoutMs: number;
  /** The process ends when a partition with records makes no progress for this time. */
  readonly stallTimeoutMs: number;
  readonly tls?: TlsOptions;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

/** How to reach the schema registry. Absent user and password: it asks for none. */
export interface RegistryOptions {
  /** URL of the Confluent-compatible API. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
}

/** How to reach Redis. Without a password it gets none. */
export interface RedisOptions {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** Whether it is a Redis Cluster, of which `nodes` are some nodes. Otherwise the first node is used. */
  readonly isCluster: boolean;
  /** Prefix of every key and channel. */
  readonly prefix: string;
  /** An ACL user. */
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
  readonly connectTimeoutMs: number;
  /** After this time a command counts as failed. */
  readonly commandTimeoutMs: number;
}

/** How to reach ClickHouse. Without user and password it is the user `default` without a password. */
export interface ClickHouseOptions {
  readonly url: string;
  readonly database: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
  readonly requestTimeoutMs: number;
  /** Name of the cluster in ClickHouse's configuration. Tables are then `Replicated…`, behind `Distributed` ones. */
  readonly cluster?: string;
}
