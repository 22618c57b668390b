/**
 * Asks the analytics store, within limits of time and memory: evaluation and the store's own inserts share the machine.
 *
 * Flows in: an inquiry and the form that is wanted. Flows out: rows or a file, or the catalogued error for a question
 * that is too large.
 */
import type { Analytics } from '../../pipeline/ports.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { withoutUnset } from '../../schemas/wire/common.js';
import { createTurns } from './concurrency-limit.js';
import { type FileForm, maxFileRows } from './forms.js';
import type { Inquiry } from './query.js';
import { timeZoneRule } from './range.js';

/** A question that runs longer is ended. */
const maxSeconds = 20;
const maxMemoryMib = 1_024;
/** A file's rows before they are compressed or written out. */
const maxFileMib = 512;
/** One core is what the embedded store gives a question: more at once would only delay each other. */
const maxAtOnce = 1;
const maxWaiting = 8;

const settings = [
  `max_execution_time = ${maxSeconds}`,
  `max_memory_usage = ${maxMemoryMib * 2 ** 20}`,
  // Repeats of a row are in the same partition, for they have the same time of receipt.
  'do_not_merge_across_partitions_select_final = 1',
  "date_time_output_format = 'iso'",
  "format_csv_null_representation = ''",
];
const fileSettings = [
  `max_result_rows = ${maxFileRows}`,
  `max_result_bytes = ${maxFileMib * 2 ** 20}`,
  "result_overflow_mode = 'throw'",
];

const tooLarge: Readonly<Record<string, string>> = {
  TIMEOUT_EXCEEDED: `takes more than ${maxSeconds} seconds`,
  MEMORY_LIMIT_EXCEEDED: `needs more than ${maxMemoryMib} MiB of memory`,
  TOO_MANY_ROWS_OR_BYTES: `has an answer of more than ${maxFileRows} rows or ${maxFileMib} MiB`,
};

/** What the store says, in the catalogue's terms, as far as it is the question's fault. */
export function asRefusal(error: unknown): unknown {
  const { type = '', message = '' } = error as { type?: string; message?: string };
  const reason = tooLarge[type];
  if (reason !== undefined) {
    return new ApiError('query_too_large', `the question ${reason}: ask for a shorter range, or of one geofence`);
  }
  // Its list of zones may be older than ours.
  if (/cannot load time zone/i.test(message)) return parameterError({ param: 'timeZone', rule: timeZoneRule });
  return error;
}

export interface Asker {
  /** One row more than `limit`, if there are more. Fields that are null are absent. */
  rows(inquiry: Inquiry, limit: number): Promise<object[]>;
  /** All rows without a limit. */
  file(inquiry: Inquiry, form: FileForm, limit: number | null): Promise<Buffer>;
}

export function createAsker(analytics: Pick<Analytics, 'query' | 'file'>): Asker {
  const turns = createTurns(maxAtOnce, maxWaiting, maxSeconds);

  const ask = <T>(work: () => Promise<T>): Promise<T> =>
    turns(work).catch((error: unknown) => {
      throw asRefusal(error);
    });

  const limited = (sql: string, limit: number | null): string => (limit === null ? sql : `${sql} LIMIT ${limit}`);

  return {
    async rows({ sql, parameters }, limit) {
      const statement = `${limited(sql, limit + 1)} SETTINGS ${settings.join(', ')}`;
      const rows = await ask(() => analytics.query<object>(statement, parameters));
      return rows.map(withoutUnset);
    },
    async file({ sql, parameters }, { format }, limit) {
      const statement = `${limited(sql, limit)} SETTINGS ${[...settings, ...fileSettings].join(', ')}`;
      const { buffer, byteOffset, byteLength } = await ask(() => analytics.file(statement, format, parameters));
      return Buffer.from(buffer, byteOffset, byteLength);
    },
  };
}
