/** Connections to a ClickHouse server. */
import { Agent, type AgentOptions } from 'node:https';
import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import { answerSettings } from '../../clickhouse-answers.js';
import type { ClickHouseOptions, TlsOptions } from '../options.js';
import { maxQueryMs } from './queries.js';

export interface Clients {
  /** For statements and inserts. */
  readonly writing: ClickHouseClient;
  readonly reading: ClickHouseClient;
  /**
   * Of no database, as long as ours isn't there. Without settings that a server may be too old for, so that it can be
   * asked its age.
   */
  readonly outside: ClickHouseClient;
}

const maxConnections = 10;
/** Below what servers keep idle connections for: 3 seconds in the oldest, 30 in new ones. */
const idleMs = 2_500;

export function createClients(options: ClickHouseOptions): Clients {
  const { requestTimeoutMs, database, cluster, maxThreads } = options;
  const readTimeoutMs = Math.min(requestTimeoutMs, maxQueryMs);
  // So that a failure midway is answered as one, and not amid the rows.
  const always: ClickHouseSettings = { wait_end_of_query: 1 };
  const make = (timeoutMs: number, settings: ClickHouseSettings, inDatabase?: string): ClickHouseClient =>
    createClient({
      url: options.url,
      ...(inDatabase !== undefined && { database: inDatabase }),
      ...(options.username !== undefined && { username: options.username }),
      ...(options.password !== undefined && { password: options.password }),
      ...(options.tls && { http_agent: secureAgent(options.url, options.tls) }),
      request_timeout: timeoutMs,
      max_open_connections: maxConnections,
      keep_alive: { idle_socket_ttl: idleMs, eagerly_destroy_stale_sockets: true },
      // Errors are the caller's; the client would write statements to the output.
      log: { level: ClickHouseLogLevel.OFF },
      use_multipart_params_auto: true,
      clickhouse_settings: { ...always, ...settings },
    });
  const isSpread = cluster !== undefined;
  const statementSettings: ClickHouseSettings = isSpread
    ? { distributed_ddl_task_timeout: `${seconds(requestTimeoutMs)}` }
    : {};
  const writeSettings: ClickHouseSettings = {
    ...statementSettings,
    async_insert: 0,
    // Else an insert would only note the rows of other shards, to be sent later.
    ...(isSpread && { distributed_foreground_insert: 1 }),
  };
  const readSettings: ClickHouseSettings = {
    ...answerSettings,
    max_execution_time: seconds(readTimeoutMs),
    // Nothing but settings can be changed; so the server knows that it may end a query nobody waits for any more.
    readonly: '2',
    cancel_http_readonly_queries_on_client_close: 1,
    ...(maxThreads !== undefined && { max_threads: maxThreads }),
    // What a subquery answers is the same for all shards.
    ...(isSpread && { distributed_product_mode: 'global' as const }),
  };
  return {
    writing: make(requestTimeoutMs, writeSettings, database),
    reading: make(readTimeoutMs, readSettings, database),
    outside: make(requestTimeoutMs, statementSettings),
  };
}

/** A little less, so that the server gives up first and says why. */
const seconds = (timeoutMs: number): number => Math.max(1, Math.floor(timeoutMs / 1_000) - 1);

/** Instead of the client's own, which takes a certificate of ours for a login and so refuses the password beside it. */
function secureAgent(url: string, { ca, cert, key }: TlsOptions): Agent {
  if (!url.startsWith('https:'))
    throw new Error(`certificates are given, but ${new URL(url).origin} is not an https address`);
  const identity: AgentOptions = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return new Agent({ ...identity, keepAlive: true, maxSockets: maxConnections });
}
