/**
 * Analytics on a ClickHouse server, or a cluster of them, over HTTP.
 *
 * Flows in: statements, rows as text, questions. Flows out: rows and files. Statements and inserts sit out an outage of a minute and more: they bear
 * a repeat, for rows replace each other by key. Questions don't wait for a server that is away. May import `schemas/` and the ports.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ClickHouseError } from '@clickhouse/client';
import type { Analytics } from '../../../pipeline/ports.js';
import { identifier, literal } from '../../../pipeline/stages/analytics/quote.js';
import { ApiError } from '../../../schemas/errors.js';
import { fileOf, rowsOf } from '../../clickhouse-answers.js';
import { retried } from '../kafka/retrying.js';
import type { ClickHouseOptions } from '../options.js';
import { type Clients, createClients } from './clients.js';
import { isPassing, isUnreached, reasonOf } from './errors.js';

export interface ClickHouseAnalytics extends Analytics {
  /** Resolves when the server answers; rejects, saying why, when it can't be reached. */
  ping(): Promise<void>;
  /** Waits for what runs. Nothing may be called after it. */
  close(): Promise<void>;
}

/** How long an outage is sat out, by statements and inserts and by questions. */
const outageLimitMs = 120_000;
const questionOutageLimitMs = 2_000;
/** Questions that run or wait for a connection; further ones are refused. */
const maxQuestions = 100;
const retryAfterS = 5;

/** Bytes handed to the connection at once. */
const chunkBytes = 2 ** 18;

/**
 * Makes the database when it isn't there. Rejects when the server lets us not in, or hasn't been reached for two minutes. As parameters,
 * times are best bound as epoch milliseconds. 64-bit integers are answered as numbers. A failed statement rejects with an Error that has
 * ClickHouse's `code` and `type`; a question that finds no server, with an ApiError.
 */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouseAnalytics> {
  const clients = createClients(options);
  try {
    await patiently(() => ensureDatabase(clients, options));
  } catch (error) {
    await closeAll(clients);
    throw new Error(`ClickHouse at ${new URL(options.url).origin} is of no use: ${reasonOf(error)}`, { cause: error });
  }
  return analyticsOver(clients);
}

const patiently = <T>(attempt: () => Promise<T>): Promise<T> =>
  retried(attempt, { limitMs: outageLimitMs, isFinal: (error) => !isPassing(error) });

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

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

function analyticsOver(clients: Clients): ClickHouseAnalytics {
  const { writing, reading } = clients;
  const running = new Set<Promise<unknown>>();
  let questions = 0;

  const tracked = async <T>(work: Promise<T>): Promise<T> => {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  };

  const ask = async <T>(question: () => Promise<T>): Promise<T> => {
    if (questions >= maxQuestions) throw new ApiError('overloaded', 'too many questions to the analytics store', { retryAfterS });
    questions++;
    try {
      return await tracked(retried(question, { limitMs: questionOutageLimitMs, isFinal: (error) => !isUnreached(error) }));
    } catch (error) {
      if (isUnreached(error)) throw new ApiError('unavailable', 'the analytics store is out of reach', { retryAfterS });
      throw error;
    } finally {
      questions--;
    }
  };

  return {
    async command(sql) {
      await tracked(patiently(() => writing.command({ query: sql })));
    },
    async insert(table, rows) {
      // The same on every try: tables that remember their last inserts take the rows once.
      const settings = { insert_deduplication_token: randomUUID() };
      const insertOnce = () =>
        writing.insert({
          table,
          values: Readable.from(slices(rows), { objectMode: false }),
          format: 'TabSeparatedWithNames',
          clickhouse_settings: settings,
        });
      await tracked(patiently(insertOnce));
    },
    query: <Row>(sql: string, parameters = {}) => ask(() => rowsOf<Row>(reading, sql, parameters)),
    file: (sql, format, parameters = {}) => ask(() => fileOf(reading, sql, format, parameters)),
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
