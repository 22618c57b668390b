/**
 * Queries to a ClickHouse server. Somebody waits for each: it is answered soon or not at all, and no more of them are
 * kept than can be.
 */
import type { ClickHouseClient } from '@clickhouse/client';
import { PortError } from '../../../pipeline/errors.js';
import type { Analytics } from '../../../pipeline/ports.js';
import { fileOf, rowsOf } from '../../clickhouse-answers.js';
import { retried } from '../retrying.js';
import { isSilent, isUnreached } from './errors.js';

/**
 * Rows are answered within this, and files within the request's own limit. The longest that the API lets a query run
 * is 20 seconds.
 */
export const maxQueryMs = 30_000;
/** How long a query waits for a server that is away: for one that restarts, or a connection that was just ended. */
const outageLimitMs = 2_000;
/** Queries that run or wait for a connection. */
const maxAtOnce = 100;
const retryAfterS = 5;

export function createQueries(client: ClickHouseClient, requestTimeoutMs: number): Pick<Analytics, 'query' | 'file'> {
  let atOnce = 0;

  async function ask<T>(limitMs: number, query: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (atOnce >= maxAtOnce) throw new PortError('overloaded', 'too many queries wait for ClickHouse', { retryAfterS });
    atOnce++;
    // The wait for a connection counts too.
    const signal = AbortSignal.timeout(limitMs);
    const isFinal = (error: unknown): boolean => signal.aborted || !isUnreached(error);
    try {
      return await retried(() => query(signal), { limitMs: outageLimitMs, isFinal });
    } catch (error) {
      const isUnanswered = signal.aborted || isUnreached(error) || isSilent(error);
      throw isUnanswered ? new PortError('unavailable', 'ClickHouse does not answer', { retryAfterS }) : error;
    } finally {
      atOnce--;
    }
  }

  const rowsLimitMs = Math.min(maxQueryMs, requestTimeoutMs);
  return {
    query: <Row>(sql: string, parameters = {}) =>
      ask(rowsLimitMs, (signal) => rowsOf<Row>(client, { sql, parameters, signal })),
    file: (sql, format, parameters = {}) =>
      ask(requestTimeoutMs, (signal) => fileOf(client, { sql, parameters, signal }, format)),
  };
}
