/** HTTP clients of a ClickHouse server. */
import { Agent as HttpAgent } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent } from 'node:https';
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  ClickHouseSpanNames,
  ClickHouseSpanStatusCode,
  type ClickHouseTracer,
  createClient,
} from '@clickhouse/client';
import { answerSettings } from '../../clickhouse-answers.js';
import { type ClientObserver, noObserver } from '../client-observer.js';
import type { ClickHouseOptions, TlsOptions } from '../options.js';
import { maxQueryMs } from './queries.js';

/** Clients of one server with sockets of their own, so that a long query delays no insert. */
export interface Clients {
  /** For statements and inserts. */
  readonly writing: ClickHouseClient;
  readonly reading: ClickHouseClient;
  /**
   * Uses no database, because ours may not exist yet. Sends no settings that an old server may reject, so that its
   * version can be queried.
   */
  readonly withoutDatabase: ClickHouseClient;
}

const maxConnections = 10;
/** Shorter than the keep-alive of servers: 3 seconds in old versions, 30 in new ones. */
const idleMs = 2_500;

/** Creates the clients without connecting. The caller closes each of them. */
export function createClients(options: ClickHouseOptions, observer: ClientObserver = noObserver): Clients {
  const { requestTimeoutMs, database, cluster } = options;
  const readTimeoutMs = Math.min(requestTimeoutMs, maxQueryMs);
  // A failure during the query is then reported by the status, not in the middle of the rows.
  const always: ClickHouseSettings = { wait_end_of_query: 1 };
  const make = (timeoutMs: number, settings: ClickHouseSettings, inDatabase?: string): ClickHouseClient =>
    createClient({
      url: options.url,
      ...(inDatabase !== undefined && { database: inDatabase }),
      ...(options.username !== undefined && { username: options.username }),
      ...(options.password !== undefined && { password: options.password }),
      http_agent: observedAgent(agentOf(options), observer),
      tracer: tracerOf(observer),
      request_timeout: timeoutMs,
      max_open_connections: maxConnections,
      keep_alive: { idle_socket_ttl: idleMs, eagerly_destroy_stale_sockets: true },
      // The caller handles errors. The client would log statements.
      log: { level: ClickHouseLogLevel.OFF },
      use_multipart_params_auto: true,
      clickhouse_settings: { ...always, ...settings },
    });
  const isCluster = cluster !== undefined;
  const statementSettings: ClickHouseSettings = isCluster
    ? { distributed_ddl_task_timeout: `${seconds(requestTimeoutMs)}` }
    : {};
  const writeSettings: ClickHouseSettings = {
    ...statementSettings,
    async_insert: 0,
    // Otherwise an insert would only queue the rows of other shards.
    ...(isCluster && { distributed_foreground_insert: 1 }),
  };
  const readSettings: ClickHouseSettings = {
    ...answerSettings,
    max_execution_time: seconds(readTimeoutMs),
    // Allows changing settings only. The server then cancels a query when its client disconnects.
    readonly: '2',
    cancel_http_readonly_queries_on_client_close: 1,
    // Subqueries run once for all shards.
    ...(isCluster && { distributed_product_mode: 'global' as const }),
  };
  return {
    writing: make(requestTimeoutMs, writeSettings, database),
    reading: make(readTimeoutMs, readSettings, database),
    withoutDatabase: make(requestTimeoutMs, statementSettings),
  };
}

/** Returns slightly less than the timeout, so that the server gives up first and reports why. */
const seconds = (timeoutMs: number): number => Math.max(1, Math.floor(timeoutMs / 1_000) - 1);

/**
 * Creates the agent of a client, in place of its own, which takes a client certificate for the login and then refuses a
 * password.
 */
function agentOf({ url, tls }: Pick<ClickHouseOptions, 'url' | 'tls'>): HttpAgent {
  const pool = { keepAlive: true, maxSockets: maxConnections };
  if (url.startsWith('https:')) return new HttpsAgent({ ...pool, ...(tls && identityOf(tls)) });
  if (tls) throw new Error(`certificates are configured, but ${new URL(url).origin} is not an https address`);
  return new HttpAgent(pool);
}

const identityOf = ({ ca, cert, key }: TlsOptions): AgentOptions => ({
  ...(ca && { ca }),
  ...(cert && { cert }),
  ...(key && { key }),
});

/** Observes the connections of the agent. */
function observedAgent(agent: HttpAgent, observer: ClientObserver): HttpAgent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...given) => {
    const socket = connect(...given);
    if (socket == null) return socket;
    observer.connections(1);
    return socket.once('close', () => observer.connections(-1));
  };
  return agent;
}

/** Prefix of the client's names of spans. */
const prefix = 'clickhouse.';

/** Observes the requests of a client, which reports them to a tracer as spans. Rows of a query are another span. */
function tracerOf(observer: ClientObserver): ClickHouseTracer {
  return {
    startActiveSpan(name, _options, run) {
      const end = name === ClickHouseSpanNames.query_stream ? () => {} : observer.started(name.slice(prefix.length));
      let hasFailed = false;
      return run({
        setAttributes() {},
        setStatus({ code }) {
          hasFailed = code === ClickHouseSpanStatusCode.ERROR;
        },
        recordException() {},
        end: () => end(hasFailed),
      });
    },
  };
}
