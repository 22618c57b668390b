/** Reads history for a request: within a time limit, and only while somebody waits for the answer. */
import type { Analytics } from '../pipeline/ports.js';
import { ApiError } from '../schemas/errors.js';
import { maxPageMib, pageTooLarge } from './page.js';

/**
 * The reading part of the analytics port, shared among projects. A query that waits for its turn also rejects with the
 * reason of the signal when it aborts.
 */
export type History = Pick<Analytics, 'query' | 'file'>;

/** The store cancels a query of a request after this time. */
export const maxQuerySeconds = 20;

interface ReadBounds {
  readonly signal?: AbortSignal;
  readonly maxSeconds?: number;
  /** Size of the rows in the store. Default: that of a page. */
  readonly maxMib?: number;
}

/**
 * Returns the queries of a request, whose statements have no SETTINGS of their own. One that runs too long, or finds
 * more bytes than a page may have, rejects with `query_too_large`.
 */
export const boundedReads = (
  history: Pick<History, 'query'>,
  { signal, maxSeconds = maxQuerySeconds, maxMib = maxPageMib }: ReadBounds = {},
): Pick<Analytics, 'query'> => ({
  async query<Row>(sql: string, parameters: Record<string, unknown> = {}) {
    const settings = [
      `max_execution_time = ${maxSeconds}`,
      `max_result_bytes = ${maxMib * 2 ** 20}`,
      "result_overflow_mode = 'throw'",
    ].join(', ');
    try {
      return await history.query<Row>(`${sql} SETTINGS ${settings}`, parameters, signal);
    } catch (error) {
      const { type } = error as { type?: string };
      if (type === 'TOO_MANY_ROWS_OR_BYTES') throw pageTooLarge();
      if (type !== 'TIMEOUT_EXCEEDED') throw error;
      const rule = `the query takes more than ${maxSeconds} seconds: choose a shorter range or more filters`;
      throw new ApiError('query_too_large', rule);
    }
  },
});
