/**
 * The analytics port on a ClickHouse server or cluster, over HTTP.
 *
 * Statements and inserts are retried for two minutes during an outage. Repeating them is safe, because rows replace
 * each other by key. Inserts of a node with patience are retried until the outage or the node ends: their rows wait on
 * their topics, and the other roles of the process go on. Queries fail soon instead (`queries.ts`).
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import type { Analytics } from '../../../pipeline/ports.js';
import { retried } from '../../../pipeline/retrying.js';
import { identifier, literal } from '../../../schemas/sql.js';
import { insertSettings, rowsOf } from '../../clickhouse-answers.js';
import { type ClientObserver, noObserver } from '../client-observer.js';
import type { ClickHouseOptions } from '../options.js';
import type { Patience } from '../patience.js';
import { createProblemReporter } from '../problem-reporter.js';
import { ServiceError } from '../service-error.js';
import { type Clients, createClients } from './clients.js';
import { isPassing, reasonOf } from './errors.js';
import { createQueries } from './queries.js';
import { isTooOld, tooOldReason } from './versions.js';

/** Analytics over a server. Its owner connects it before the first statement, and closes it. */
export interface ClickHouseAnalytics extends Analytics {
  /**
   * Creates the database if it is missing. Rejects when the server is out of reach, refuses the login or is too old. It
   * is not repeated.
   */
  connect(signal?: AbortSignal): Promise<void>;
  /** Waits for running statements and queries. Nothing may be called afterwards. */
  close(): Promise<void>;
}

const defaultOutageLimitMs = 120_000;

/** How a process connects, beside its options. */
interface ConnectParts {
  readonly observer?: ClientObserver;
  /** Default: none. */
  readonly patience?: Patience;
  /** How long statements and inserts are retried. Default two minutes. */
  readonly outageLimitMs?: number;
  /** Called once a minute for each reason why rows can't be stored and wait. Default: none. */
  readonly onProblem?: (message: string) => void;
}

/** Returns the error of a server that can't be used, for operators. */
export const unusable = ({ url }: Pick<ClickHouseOptions, 'url'>, error: unknown): ServiceError =>
  new ServiceError(`ClickHouse at ${new URL(url).origin} can't be used: ${reasonOf(error)}`, { cause: error });

/**
 * Returns the port, before its first call of which `connect` must have resolved. Bind times as epoch milliseconds.
 * 64-bit integers are returned as numbers. A failed statement rejects with ClickHouse's `code` and `type`, an
 * unanswered query with a PortError.
 */
export function createClickHouse(
  options: ClickHouseOptions,
  { observer = noObserver, patience, outageLimitMs = defaultOutageLimitMs, onProblem = () => {} }: ConnectParts = {},
): ClickHouseAnalytics {
  const clients = createClients(options, observer);
  const report = createProblemReporter(onProblem);
  const onFailure = (error: unknown) => report(`${unusable(options, error).message}; rows wait on their topics`);
  return {
    async connect(signal) {
      await refuseOldServers(clients.withoutDatabase, signal);
      await ensureDatabase(clients, options, signal);
    },
    ...analyticsOver(clients, { patience, outageLimitMs, onFailure }, options.requestTimeoutMs),
  };
}

interface Retries {
  readonly patience: Patience | undefined;
  readonly outageLimitMs: number;
  /** Called for each failure of an insert that is repeated. */
  readonly onFailure: (error: unknown) => void;
}

const withRetries = <T>(
  { outageLimitMs }: Retries,
  attempt: () => Promise<T>,
  signal?: AbortSignal,
  waits: (error: unknown) => boolean = () => false,
): Promise<T> =>
  retried(attempt, {
    limitMs: outageLimitMs,
    isFinal: (error) => signal?.aborted === true || !isPassing(error),
    isForAll: waits,
  });

async function refuseOldServers(client: ClickHouseClient, signal: AbortSignal | undefined): Promise<void> {
  const sql = 'SELECT version() AS version';
  const [row] = await rowsOf<{ version: string }>(client, { sql, parameters: {}, ...(signal && { signal }) });
  if (row && isTooOld(row.version)) throw new RangeError(tooOldReason(row.version));
}

/** Creates the database only if it is missing: the user may lack the right to create databases. */
async function ensureDatabase(
  { writing, withoutDatabase }: Clients,
  { database, cluster }: ClickHouseOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await writing.command({ query: 'SELECT 1', ...(signal && { abort_signal: signal }) });
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')) throw error;
    const everywhere = cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;
    await withoutDatabase.command({ query: `CREATE DATABASE IF NOT EXISTS ${identifier(database)}${everywhere}` });
  }
}

const closeAll = (clients: Clients) => Promise.all(Object.values(clients).map((client) => client.close()));

function analyticsOver(
  clients: Clients,
  retries: Retries,
  requestTimeoutMs: number,
): Omit<ClickHouseAnalytics, 'connect'> {
  const { writing, reading } = clients;
  const queries = createQueries(reading, requestTimeoutMs);
  const running = new Set<Promise<unknown>>();

  async function tracked<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  }

  return {
    command: (sql, signal) =>
      tracked(withRetries(retries, async () => void (await writing.command({ query: sql })), signal)),
    insert: (table, rows, signal) => tracked(insert(writing, retries, table, rows, signal)),
    query: (sql, parameters, signal) => tracked(queries.query(sql, parameters, signal)),
    file: (sql, format, parameters, signal) => tracked(queries.file(sql, format, parameters, signal)),
    async close() {
      await Promise.allSettled(running);
      await closeAll(clients);
    },
  };
}

/** Bytes written to the connection at once. */
const chunkBytes = 2 ** 18;

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

async function insert(
  client: ClickHouseClient,
  retries: Retries,
  table: string,
  rows: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (rows.length === 0) return;
  const { patience, onFailure } = retries;
  function waits(error: unknown): boolean {
    onFailure(error);
    patience?.waited();
    return patience?.isOver === false;
  }
  // The same on every attempt, so that tables with a deduplication window insert the rows once.
  const settings = { ...insertSettings, insert_deduplication_token: randomUUID() };
  async function attempt(): Promise<void> {
    const values = Readable.from(slices(rows), { objectMode: false });
    const query = `INSERT INTO ${table} FORMAT Native`;
    const { stream } = await client.exec({ query, values, clickhouse_settings: settings });
    await finished(stream.resume());
  }
  await withRetries(retries, attempt, signal, waits);
}
