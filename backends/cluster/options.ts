/**
 * Where the cluster's services are and how to speak to them. Made from the configuration; files named there are read
 * before.
 */
import type { Topic } from '../../pipeline/ports.js';

/** Given at all, the connection is encrypted and the server's certificate checked. PEM texts. */
export interface TlsOptions {
  /** Authorities that are trusted; absent: those of the system. */
  readonly ca?: string;
  /** Our own certificate and its key, where the server asks for one. */
  readonly cert?: string;
  readonly key?: string;
}

export interface KafkaOptions {
  /** `host:port` of some of the brokers. */
  readonly brokers: readonly string[];
  /** Shown in the brokers' logs. */
  readonly clientId: string;
  /** Before the name of every topic and group, such as `fenceline.`: several installations may share brokers. */
  readonly prefix: string;
  /** Of topics that are made: of all but `changes`, which has one. */
  readonly partitions: number;
  /** -1 takes the broker's default. */
  readonly replicationFactor: number;
  /** Replicas that must have a record before it is acknowledged; 0: 2 where there are at least three, else 1. */
  readonly minInSyncReplicas: number;
  /** How long records are kept, of topics that are made. Those not named keep the broker's default. */
  readonly retentionMs: Partial<Readonly<Record<Topic, number>>>;
  /** A consumer that wasn't heard of for so long loses its partitions to others. */
  readonly sessionTimeoutMs: number;
  /** A partition that has records and hands over none for so long ends the process. */
  readonly stallTimeoutMs: number;
  readonly tls?: TlsOptions;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

export interface RegistryOptions {
  /** Of the Confluent-compatible API. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
}

export interface RedisOptions {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** Redis Cluster; `nodes` are then some of its nodes. Else the first is the one. */
  readonly isCluster: boolean;
  /** Before every key and channel. */
  readonly prefix: string;
  /** An ACL user. */
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
  readonly connectTimeoutMs: number;
  /** After which a command counts as failed. */
  readonly commandTimeoutMs: number;
}

export interface ClickHouseOptions {
  readonly url: string;
  readonly database: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
  readonly requestTimeoutMs: number;
  /** Of a query. */
  readonly maxThreads?: number;
  /**
   * Name of the cluster in ClickHouse's configuration: tables are then `Replicated…`, with `Distributed` ones over
   * them.
   */
  readonly cluster?: string;
}
