/**
 * Analytics on chDB, the ClickHouse engine in the process: the same client as for a server, over an embedded
 * connection.
 *
 * One process may open one data folder; a folder may be opened again once it was closed. Where a worker thread opens
 * it, the main thread must import `chdb-stays-loaded.js` first (`embedded.js` does).
 */
import { mkdirSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { drainPending } from 'chdb';
import { createChdbConnection } from 'chdb/connection';
import type { Analytics } from '../../pipeline/ports.js';
import { literal } from '../../schemas/sql.js';
import { answerSettings, fileOf, rowsOf } from '../clickhouse-answers.js';
import { type Connections, createConnections } from './chdb-connections.js';

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

/** Fewer than the four threads that Node has for native work, together with the one that writes. */
const readers = 2;

/**
 * Opens the engine on `path`, which must have none of `*?{}` in its name. As parameters, times are best bound as epoch
 * milliseconds (`fromUnixTimestamp64Milli({ms:Int64})`): a bound Date loses its milliseconds. 64-bit integers are
 * answered as numbers. A failed statement rejects with an Error that has ClickHouse's `code` and `type`. A long
 * query delays other queries, but no insert.
 */
export async function openChdbAnalytics({ path, maxThreads = 1 }: ChdbAnalyticsOptions): Promise<ChdbAnalytics> {
  const insertsFolder = resolve(path, 'inserts');
  // The engine takes a file's name in a statement for a pattern.
  if (/[*?{}]/.test(insertsFolder)) throw new Error(`the data folder must not have any of *?{} in its name: ${path}`);
  // A process that was killed may have left some.
  rmSync(insertsFolder, { recursive: true, force: true });
  mkdirSync(insertsFolder, { recursive: true });
  const open = (): ClickHouseClient =>
    createClient({
      // One contract, declared once in the client and once in the package that chDB takes it from: types with private
      // parts never match.
      connection: createChdbConnection({ path }) as unknown as Connection,
      clickhouse_settings: {
        max_threads: maxThreads,
        max_insert_threads: `${maxThreads}`,
        input_format_parallel_parsing: 0,
        ...answerSettings,
      },
    });
  const writing = createConnections(open, 1);
  const reading = createConnections(open, readers);
  await writing.run((client) => client.command({ query: 'SELECT 1' }));
  return analyticsOver(writing, reading, insertsFolder);
}

function analyticsOver(writing: Connections, reading: Connections, insertsFolder: string): ChdbAnalytics {
  let inserts = 0;

  /**
   * By way of a file, which is gone before the system writes it to disk. Rows within the statement would go through the
   * engine's tokenizer first: twice the processor time.
   */
  const insert = (table: string, rows: Uint8Array): Promise<void> =>
    writing.run(async (client) => {
      const file = join(insertsFolder, `${inserts++}.tsv`);
      try {
        await writeFile(file, rows);
        await client.command({
          query: `INSERT INTO ${table} FROM INFILE ${literal(file)} FORMAT TabSeparatedWithNames`,
        });
      } finally {
        await rm(file, { force: true });
      }
    });

  return {
    async command(sql) {
      await writing.run((client) => client.command({ query: sql }));
    },
    insert,
    query: <Row>(sql: string, parameters = {}) => reading.run((client) => rowsOf<Row>(client, { sql, parameters })),
    file: (sql, format, parameters = {}) => reading.run((client) => fileOf(client, { sql, parameters }, format)),
    async close() {
      await Promise.all([writing.close(), reading.close()]);
      await drainPending();
    },
  };
}
