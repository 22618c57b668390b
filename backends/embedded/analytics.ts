/**
 * Analytics on chDB, the ClickHouse engine in the process: the same client as for a server, over an embedded connection.
 *
 * One process may open one data folder; a folder may be opened again once it was closed. Where a worker thread opens it, the main thread
 * must import `chdb-stays-loaded.js` first (`embedded.js` does).
 */
import { mkdirSync } from 'node:fs';
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { drainPending } from 'chdb';
import { createChdbConnection } from 'chdb/connection';
import type { Analytics } from '../../pipeline/ports.js';

export interface ChdbAnalyticsOptions {
  /** The data folder; made when it isn't there. */
  readonly path: string;
  /** Threads per query and insert. Default 1: on a small machine the others belong to the pipeline. */
  readonly maxThreads?: number;
}

type ChdbConnection = ReturnType<typeof createChdbConnection>;
type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;

export interface ChdbAnalytics extends Analytics {
  /** Waits for what runs, then lets the folder go. Nothing may be called after it. */
  close(): Promise<void>;
}

/**
 * Opens the engine on `path`. Values for `DateTime64(3)` columns may be epoch milliseconds or ISO 8601 texts. As parameters, times are best
 * bound as epoch milliseconds (`fromUnixTimestamp64Milli({ms:Int64})`): a bound Date loses its milliseconds. 64-bit integers are answered as
 * numbers. A failed statement rejects with an Error that has ClickHouse's `code` and `type`.
 */
export async function openChdbAnalytics({ path, maxThreads = 1 }: ChdbAnalyticsOptions): Promise<ChdbAnalytics> {
  mkdirSync(path, { recursive: true });
  const connection = createChdbConnection({ path });
  const client = createClient({
    // One contract, declared once in the client and once in the package that chDB takes it from: types with private parts never match.
    connection: connection as unknown as Connection,
    clickhouse_settings: { max_threads: maxThreads, output_format_json_quote_64bit_integers: 0 },
  });
  await client.command({ query: 'SELECT 1' });
  return analyticsOver(client, connection, {
    max_threads: maxThreads,
    max_insert_threads: maxThreads,
    input_format_parallel_parsing: maxThreads > 1 ? 1 : 0,
    date_time_input_format: 'best_effort',
  });
}

type InsertSettings = NonNullable<Parameters<ChdbConnection['chdb']['rawInsert']>[0]['settings']>;

function analyticsOver(client: ClickHouseClient, connection: ChdbConnection, settings: InsertSettings): ChdbAnalytics {
  const running = new Set<Promise<unknown>>();

  /** Closing under a running statement aborts the engine, so that each is on record until it has settled. */
  async function tracked<T>(statement: Promise<T>): Promise<T> {
    running.add(statement);
    try {
      return await statement;
    } finally {
      running.delete(statement);
    }
  }

  async function select<Row>(sql: string, parameters: Record<string, unknown>): Promise<Row[]> {
    const result = await client.query({ query: sql, query_params: parameters, format: 'JSONEachRow' });
    return result.json<Row>();
  }

  return {
    async command(sql) {
      await tracked(client.command({ query: sql }));
    },
    // The engine's own way in: half the processor time of the client's, which turns the rows into a stream and back.
    async insert(table, rows) {
      const values = Buffer.from(JSON.stringify(rows));
      await tracked(connection.chdb.rawInsert({ table, values, format: 'JSONEachRow', settings }));
    },
    query: <Row>(sql: string, parameters: Record<string, unknown> = {}) => tracked(select<Row>(sql, parameters)),
    async close() {
      await Promise.allSettled(running);
      await client.close();
      await drainPending();
    },
  };
}
