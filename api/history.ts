/** Reads history for a request: within a time limit, and only while somebody waits for the answer. */
import type { Analytics } from '../pipeline/ports.js';
import { ApiError } from '../schemas/errors.js';

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
}

/**
 * Returns the queries of a request, whose statements have no SETTINGS of their own. One that runs too long rejects with
 * `query_too_large`.
 */
export const boundedReads = (
  history: Pick<History, 'query'>,
  { signal, maxSeconds = maxQuerySeconds }: ReadBounds = {},
): Pick<Analytics, 'query'> => ({
  async query<Row>(sql: string, parameters: Record<string, unknown> = {}) {
    try {
      return await history.query<Row>(`${sql} SETTINGS max_execution_time = ${maxSeconds}`, parameters, signal);
    } catch (error) {
      if ((error as { type?: string }).type !== 'TIMEOUT_EXCEEDED') throw error;
      const rule = `the query takes more than ${maxSeconds} seconds: choose a shorter range or more filters`;
      throw new ApiError('query_too_large', rule);
    }
  },
});
