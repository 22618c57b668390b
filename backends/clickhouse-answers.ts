/** What the analytics port has in common on the embedded engine and on a server: settings, and reading of results. */
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from '@clickhouse/client';
import type { FileFormat } from '../pipeline/ports.js';
import { charactersPerTurn, createTurns } from '../schemas/turns.js';

/** Returns 64-bit integers as numbers. */
export const answerSettings: ClickHouseSettings = { output_format_json_quote_64bit_integers: 0 };

/**
 * Leaves rows of one insert that replace each other to merges and to FINAL, as rows of different inserts. Looking for
 * them takes up to half of an insert's time.
 */
export const insertSettings: ClickHouseSettings = { optimize_on_insert: 0 };

/** A larger file is rejected. */
const maxFileMib = 1_024;

/** A query with its bound parameters. */
export interface Query {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Cancels the query. */
  readonly signal?: AbortSignal;
}

const parametersOf = ({ sql, parameters, signal }: Query) => ({
  query: sql,
  query_params: parameters,
  ...(signal && { abort_signal: signal }),
});

const nextTurn = createTurns();

/**
 * Returns the rows of a result, parsed in turns: the embedded engine returns megabytes in one chunk. Rejects with the
 * reason of the signal when it aborts.
 */
export async function rowsInTurns<Row>(
  chunks: AsyncIterable<readonly { readonly text: string; json(): Row }[]>,
  signal?: AbortSignal,
): Promise<Row[]> {
  const rows: Row[] = [];
  let characters = 0;
  for await (const chunk of chunks) {
    for (const row of chunk) {
      rows.push(row.json());
      characters += row.text.length;
      if (characters < charactersPerTurn) continue;
      await nextTurn(signal);
      characters = 0;
    }
  }
  return rows;
}

/** Returns all rows of a query, in memory. Rejects with the error of the client. */
export async function rowsOf<Row>(client: ClickHouseClient, query: Query): Promise<Row[]> {
  const result = await client.query({ ...parametersOf(query), format: 'JSONEachRow' });
  return rowsInTurns<Row>(result.stream<Row>(), query.signal);
}

/** Returns the rows of a query as a file in this format. Rejects when it is larger than 1,024 MiB. */
export async function fileOf(client: ClickHouseClient, query: Query, format: FileFormat): Promise<Uint8Array> {
  const { stream } = await client.exec(parametersOf({ ...query, sql: `${query.sql} FORMAT ${format}` }));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxFileMib * 2 ** 20) throw tooLarge();
  }
  return Buffer.concat(chunks);
}

/** Returns the error that the engine gives for too many rows. */
const tooLarge = (): ClickHouseError =>
  new ClickHouseError({
    code: '396',
    type: 'TOO_MANY_ROWS_OR_BYTES',
    message: `the result is larger than ${maxFileMib} MiB`,
  });
