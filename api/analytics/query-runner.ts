/**
 * Runs queries against the analytics store within limits of time, memory and concurrency: evaluation and inserts share
 * the machine.
 *
 * Input: a statement and an output format. Output: rows or a file, or the catalogued error of a query that is too
 * large.
 */
import { formulaPattern } from '../../http/fields/formulas.js';
import { createFairLimit } from '../../pipeline/fair-limit.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { withoutUnset } from '../../schemas/wire/common.js';
import { type History, maxQuerySeconds } from '../history.js';
import { maxFileRows, type OutputFormat } from './formats.js';
import type { QueryStatement } from './query.js';
import { timeZoneRule } from './range.js';

/** Memory of a query in MiB, unless the store shares a machine with less. */
const defaultMemoryMib = 1_024;
/** Size of the result in memory, before it is encoded or compressed. */
const maxFileMib = 512;
/** The embedded store runs a query on one core: concurrent queries would only slow each other down. */
const maxRunning = 1;
const maxWaitingPerProject = 8;

const settingsOf = (maxMemoryMib: number): readonly string[] => [
  `max_execution_time = ${maxQuerySeconds}`,
  `max_memory_usage = ${maxMemoryMib * 2 ** 20}`,
  // Duplicates of a row have the same time of receipt, so they are in the same partition.
  'do_not_merge_across_partitions_select_final = 1',
  "date_time_output_format = 'iso'",
  "format_csv_null_representation = ''",
];
const fileSettings = [
  `max_result_rows = ${maxFileRows}`,
  `max_result_bytes = ${maxFileMib * 2 ** 20}`,
  "result_overflow_mode = 'throw'",
];

const tooLarge = (maxMemoryMib: number): Readonly<Record<string, string>> => ({
  TIMEOUT_EXCEEDED: `takes more than ${maxQuerySeconds} seconds`,
  MEMORY_LIMIT_EXCEEDED: `needs more than ${maxMemoryMib} MiB of memory`,
  TOO_MANY_ROWS_OR_BYTES: `returns more than ${maxFileRows} rows or ${maxFileMib} MiB`,
});

/** Maps errors of the store that the query caused to errors of the catalogue; returns other errors unchanged. */
export function queryFailure(error: unknown, maxMemoryMib = defaultMemoryMib): unknown {
  const { type = '', message = '' } = error as { type?: string; message?: string };
  const reason = tooLarge(maxMemoryMib)[type];
  if (reason !== undefined) {
    return new ApiError('query_too_large', `the query ${reason}: choose a shorter range or a single geofence`);
  }
  // The store's time zone database may be older than Node's.
  if (/cannot load time zone/i.test(message)) return parameterError({ param: 'timeZone', rule: timeZoneRule });
  return error;
}

/** A query that waits for its turn rejects with the reason of the signal when it aborts. */
export interface QueryRunner {
  /** Returns one row more than `limit` where there are more. Omits fields that are null. */
  rows(statement: QueryStatement, limit: number, signal?: AbortSignal): Promise<object[]>;
  /** Returns all rows when `limit` is null. */
  file(statement: QueryStatement, format: OutputFormat, limit: number | null, signal?: AbortSignal): Promise<Buffer>;
}

const textType = /^(LowCardinality\()?(Nullable\()?String\b/;

/** Returns the rows with an apostrophe before each text that a spreadsheet would calculate. */
async function guarded(
  analytics: Pick<History, 'query'>,
  rows: string,
  parameters: QueryStatement['parameters'],
  signal: AbortSignal | undefined,
) {
  const columns = await analytics.query<{ name: string; type: string }>(`DESCRIBE (${rows})`, parameters, signal);
  const texts = columns.filter(({ type }) => textType.test(type)).map(({ name }) => name);
  if (texts.length === 0) return rows;
  const guards = texts.map((name) => `if(match(${name}, {formula:String}), concat('''', ${name}), ${name}) AS ${name}`);
  return `SELECT * REPLACE (${guards.join(', ')}) FROM (${rows})`;
}

/**
 * Creates the runner of queries. Projects take turns, with a bounded queue each; a full one is refused with a time to
 * wait. What ClickHouse refuses becomes an error of the catalogue.
 */
export function createQueryRunner(analytics: History, maxMemoryMib = defaultMemoryMib): QueryRunner {
  const settings = settingsOf(maxMemoryMib);
  const inTurn = createFairLimit({
    maxRunning,
    maxWaitingPerProject,
    refusal: 'too many queries of this project are waiting',
    retryAfterS: maxQuerySeconds,
  });

  const run = <T>({ parameters }: QueryStatement, work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
    inTurn(`${parameters.project}`, work, signal).catch((error: unknown) => {
      throw queryFailure(error, maxMemoryMib);
    });

  const limited = (sql: string, limit: number | null): string => (limit === null ? sql : `${sql} LIMIT ${limit}`);

  return {
    async rows(statement, limit, signal) {
      const { sql, parameters } = statement;
      const text = `${limited(sql, limit + 1)} SETTINGS ${settings.join(', ')}`;
      const rows = await run(statement, () => analytics.query<object>(text, parameters, signal), signal);
      return rows.map(withoutUnset);
    },
    async file(statement, { name, isCalculated }, limit, signal) {
      const { sql, parameters } = statement;
      const bound = { ...parameters, formula: formulaPattern };
      const read = async (): Promise<Uint8Array> => {
        const all = limited(sql, limit);
        const rows = isCalculated ? await guarded(analytics, all, bound, signal) : all;
        return analytics.file(`${rows} SETTINGS ${[...settings, ...fileSettings].join(', ')}`, name, bound, signal);
      };
      const { buffer, byteOffset, byteLength } = await run(statement, read, signal);
      return Buffer.from(buffer, byteOffset, byteLength);
    },
  };
}
