/**
 * The analytics port on chDB, the embedded ClickHouse engine, with the same client as for a server.
 *
 * A process can have one data folder open at a time. If a worker thread opens it, the main thread must import
 * `chdb-stays-loaded.js` first.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { drainPending } from 'chdb';
import { createChdbConnection } from 'chdb/connection';
import type { Analytics } from '../../pipeline/ports.js';
import { literal } from '../../schemas/sql.js';
import { answerSettings, fileOf, insertSettings, type Query, rowsOf } from '../clickhouse-answers.js';
import { type Connections, createConnections } from './chdb-connections.js';
import { createSpace, type Space } from './space.js';

/** Where the embedded tables are, and how much of the machine queries may use. */
interface ChdbAnalyticsOptions {
  /** The data folder. It is created if it is missing. */
  readonly path: string;
  /** Threads per query and insert. Default 1: on a small machine the pipeline needs the others. */
  readonly maxThreads?: number;
  /** Counts the statements. Default: an own one, which nobody ends. */
  readonly space?: Pick<Space, 'counted'>;
}

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;

/** Analytics over an open folder of chDB, which its owner closes. */
export interface ChdbAnalytics extends Analytics {
  /** Waits for running statements, then closes the folder. Nothing may be called afterwards. */
  close(): Promise<void>;
}

/** With the one for writing, fewer than the four threads that Node has for native work. */
const readConnections = 2;
/** A query that has not begun yet can't be cancelled, so its cancellation is repeated. */
const cancelEveryMs = 100;

/**
 * Opens the engine on `path`, which must not contain any of `*?{}`. Bind times as epoch milliseconds
 * (`fromUnixTimestamp64Milli({ms:Int64})`): a bound Date loses its milliseconds. 64-bit integers are returned as
 * numbers.
 * A failed statement rejects with ClickHouse's `code` and `type`. A long query delays other queries, but no insert.
 */
export async function openChdbAnalytics({
  path,
  maxThreads = 1,
  space = createSpace(),
}: ChdbAnalyticsOptions): Promise<ChdbAnalytics> {
  const insertsFolder = resolve(path, 'inserts');
  // The engine treats a file name in a statement as a pattern.
  if (/[*?{}]/.test(insertsFolder))
    throw new Error(`the path of the data folder must not contain any of *?{}: ${path}`);
  // A killed process may have left files.
  rmSync(insertsFolder, { recursive: true, force: true });
  mkdirSync(insertsFolder, { recursive: true });
  const open = (): ClickHouseClient =>
    createClient({
      // The same interface, but declared in two packages: types with private members never match.
      connection: createChdbConnection({ path }) as unknown as Connection,
      clickhouse_settings: {
        max_threads: maxThreads,
        max_insert_threads: `${maxThreads}`,
        input_format_parallel_parsing: 0,
        ...answerSettings,
        ...insertSettings,
      },
    });
  const writing = createConnections(open, 1, space);
  const reading = createConnections(open, readConnections, space);
  // Waits for no query and no insert, and needs its thread for milliseconds.
  const cancelling = createConnections(open, 1, space);
  await writing.run(forgetDeletions);
  return analyticsOver({ writing, reading, cancelling }, insertsFolder);
}

/**
 * Removes the texts of deletions that are done. The engine keeps a hundred of them in files beside the parts of a
 * table, in plain text, and they name who was erased.
 */
async function forgetDeletions(client: ClickHouseClient): Promise<void> {
  await client.command({ query: 'KILL MUTATION WHERE database = currentDatabase() AND is_done SYNC' });
}

type Pools = Readonly<Record<'writing' | 'reading' | 'cancelling', Connections>>;

function analyticsOver({ writing, reading, cancelling }: Pools, insertsFolder: string): ChdbAnalytics {
  let inserts = 0;

  /**
   * Inserts from a file, which is deleted before the system writes it to disk. Rows in the statement itself would pass
   * through the engine's tokenizer, which takes twice the processor time.
   */
  const insert = async (table: string, rows: Uint8Array): Promise<void> => {
    if (rows.length === 0) return;
    await writing.run(async (client) => {
      const file = join(insertsFolder, `${inserts++}.native`);
      try {
        await writeFile(file, rows);
        await client.command({ query: `INSERT INTO ${table} FROM INFILE ${literal(file)} FORMAT Native` });
      } finally {
        await rm(file, { force: true });
      }
    });
  };

  /** Cancels the statement that begins with this text, until it has ended. */
  async function cancel(start: string, hasEnded: () => boolean): Promise<void> {
    while (!hasEnded()) {
      const query = `KILL QUERY WHERE startsWith(query, ${literal(start)}) ASYNC`;
      await cancelling.run((client) => client.command({ query })).catch(() => undefined);
      await setTimeout(cancelEveryMs);
    }
  }

  /** Runs a query. The engine does not interrupt one by a signal: it is cancelled by its first comment. */
  async function read<T>(
    query: Query,
    run: (client: ClickHouseClient, query: Query) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (signal === undefined) return reading.run((client) => run(client, query));
    const mark = `/* ${randomUUID()} */`;
    let hasEnded = false;
    const abort = () => void cancel(mark, () => hasEnded);
    try {
      return await reading.run((client) => {
        signal.throwIfAborted();
        signal.addEventListener('abort', abort);
        return run(client, { ...query, sql: `${mark} ${query.sql}` });
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      hasEnded = true;
      signal.removeEventListener('abort', abort);
    }
  }

  return {
    async command(sql) {
      await writing.run(async (client) => {
        await client.command({ query: sql });
        if (sql.includes(' DELETE WHERE ')) await forgetDeletions(client);
      });
    },
    insert,
    query: <Row>(sql: string, parameters = {}, signal?: AbortSignal) =>
      read<Row[]>({ sql, parameters }, rowsOf, signal),
    file: (sql, format, parameters = {}, signal) =>
      read({ sql, parameters }, (client, query) => fileOf(client, query, format), signal),
    async close() {
      await Promise.all([writing.close(), reading.close()]);
      await cancelling.close();
      await drainPending();
    },
  };
}
