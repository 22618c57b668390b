/**
 * Analytics on a ClickHouse server, or a cluster of them, over HTTP.
 *
 * Flows in: statements, rows as text, queries. Flows out: rows and files. Statements and inserts sit out an outage of
 * a minute and more: they bear a repeat, for rows replace each other by key. Queries don't wait for a server that is
 * away. May import `schemas/` and `pipeline/`.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import type { Analytics } from '../../../pipeline/ports.js';
import { identifier, literal } from '../../../schemas/sql.js';
import { rowsOf } from '../../clickhouse-answers.js';
import type { ClickHouseOptions } from '../options.js';
import { retried } from '../retrying.js';
import { type Clients, createClients } from './clients.js';
import { isPassing, reasonOf } from './errors.js';
import { createQueries } from './queries.js';
import { isTooOld, tooOldReason } from './versions.js';

export interface ClickHouseAnalytics extends Analytics {
  /** Resolves when the server answers; rejects, saying why, when it can't be reached. */
  ping(): Promise<void>;
  /** Waits for what runs. Nothing may be called after it. */
  close(): Promise<void>;
}

/** How long an outage is sat out. */
const outageLimitMs = 120_000;

/**
 * Makes the database when it isn't there. Rejects when the server doesn't let us in, is too old, or wasn't reached for
 * two minutes. As parameters, times are best bound as epoch milliseconds. 64-bit integers are answered as numbers. A
 * failed statement rejects with an Error that has ClickHouse's `code` and `type`, a query that nobody answers with
 * a PortError.
 */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouseAnalytics> {
  const clients = createClients(options);
  try {
    await patiently(async () => {
      await refuseOldServers(clients.outside);
      await ensureDatabase(clients, options);
    });
  } catch (error) {
    await closeAll(clients);
    throw new Error(`ClickHouse at ${new URL(options.url).origin} is of no use: ${reasonOf(error)}`, { cause: error });
  }
  return analyticsOver(clients, options.requestTimeoutMs);
}

const patiently = <T>(attempt: () => Promise<T>): Promise<T> =>
  retried(attempt, { limitMs: outageLimitMs, isFinal: (error) => !isPassing(error) });

async function refuseOldServers(client: ClickHouseClient): Promise<void> {
  const [row] = await rowsOf<{ version: string }>(client, { sql: 'SELECT version() AS version', parameters: {} });
  if (row && isTooOld(row.version)) throw new RangeError(tooOldReason(row.version));
}

/** Who may use a database need not be allowed to make one. */
async function ensureDatabase({ writing, outside }: Clients, { database, cluster }: ClickHouseOptions): Promise<void> {
  try {
    await writing.command({ query: 'SELECT 1' });
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')) throw error;
    const everywhere = cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;
    await outside.command({ query: `CREATE DATABASE IF NOT EXISTS ${identifier(database)}${everywhere}` });
  }
}

const closeAll = (clients: Clients) => Promise.all(Object.values(clients).map((client) => client.close()));

function analyticsOver(clients: Clients, requestTimeoutMs: number): ClickHouseAnalytics {
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
    command: (sql) => tracked(patiently(async () => void (await writing.command({ query: sql })))),
    insert: (table, rows) => tracked(insert(writing, table, rows)),
    query: (sql, parameters) => tracked(queries.query(sql, parameters)),
    file: (sql, format, parameters) => tracked(queries.file(sql, format, parameters)),
    async ping() {
      const result = await reading.ping();
      if (!result.success) throw new Error(reasonOf(result.error), { cause: result.error });
    },
    async close() {
      await Promise.allSettled(running);
      await closeAll(clients);
    },
  };
}

/** Bytes handed to the connection at once. */
const chunkBytes = 2 ** 18;

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

async function insert(client: ClickHouseClient, table: string, rows: Uint8Array): Promise<void> {
  // The same on every try: a table that remembers its last inserts takes the rows once.
  const settings = { insert_deduplication_token: randomUUID() };
  await patiently(() => {
    const values = Readable.from(slices(rows), { objectMode: false });
    return client.insert({ table, values, format: 'TabSeparatedWithNames', clickhouse_settings: settings });
  });
}
