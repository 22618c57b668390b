/**
 * Analytics on chDB, the ClickHouse engine in the process: the same client as for a server, over an embedded connection.
 *
 * One process may open one data folder; a folder may be opened again once it was closed. Where a worker thread opens it, the main thread
 * must import `chdb-stays-loaded.js` first (`embedded.js` does).
 */
import { mkdirSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
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

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;

export interface ChdbAnalytics extends Analytics {
  /** Waits for what runs, then lets the folder go. Nothing may be called after it. */
  close(): Promise<void>;
}

/**
 * Opens the engine on `path`, which must have none of `*?{}` in its name. As parameters, times are best bound as epoch milliseconds
 * (`fromUnixTimestamp64Milli({ms:Int64})`): a bound Date loses its milliseconds. 64-bit integers are answered as numbers. A failed statement
 * rejects with an Error that has ClickHouse's `code` and `type`.
 */
export async function openChdbAnalytics({ path, maxThreads = 1 }: ChdbAnalyticsOptions): Promise<ChdbAnalytics> {
  const insertsFolder = resolve(path, 'inserts');
  // The engine takes a file's name in a statement for a pattern.
  if (/[*?{}]/.test(insertsFolder)) throw new Error(`the data folder must not have any of *?{} in its name: ${path}`);
  // A process that was killed may have left some.
  rmSync(insertsFolder, { recursive: true, force: true });
  mkdirSync(insertsFolder, { recursive: true });
  const connection = createChdbConnection({ path });
  const client = createClient({
    // One contract, declared once in the client and once in the package that chDB takes it from: types with private parts never match.
    connection: connection as unknown as Connection,
    clickhouse_settings: {
      max_threads: maxThreads,
      max_insert_threads: `${maxThreads}`,
      input_format_parallel_parsing: 0,
      output_format_json_quote_64bit_integers: 0,
    },
  });
  await client.command({ query: 'SELECT 1' });
  return analyticsOver(client, insertsFolder);
}

const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

function analyticsOver(client: ClickHouseClient, insertsFolder: string): ChdbAnalytics {
  const running = new Set<Promise<unknown>>();
  let inserts = 0;

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

  /**
   * By way of a file, which is gone before the system writes it to disk. Rows within the statement would go through the engine's tokenizer
   * first: twice the processor time.
   */
  async function insert(table: string, rows: Uint8Array): Promise<void> {
    const file = join(insertsFolder, `${inserts++}.tsv`);
    try {
      await writeFile(file, rows);
      await client.command({ query: `INSERT INTO ${table} FROM INFILE ${literal(file)} FORMAT TabSeparatedWithNames` });
    } finally {
      await rm(file, { force: true });
    }
  }

  return {
    async command(sql) {
      await tracked(client.command({ query: sql }));
    },
    insert: (table, rows) => tracked(insert(table, rows)),
    query: <Row>(sql: string, parameters: Record<string, unknown> = {}) => tracked(select<Row>(sql, parameters)),
    async close() {
      await Promise.allSettled(running);
      await client.close();
      await drainPending();
    },
  };
}
