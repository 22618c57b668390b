/** Queries to a ClickHouse server. A client waits for each, so queries fail early, and their number is bounded. */
import type { ClickHouseClient } from '@clickhouse/client';
import { PortError } from '../../../pipeline/errors.js';
import type { Analytics } from '../../../pipeline/ports.js';
import { retried } from '../../../pipeline/retrying.js';
import { fileOf, rowsOf } from '../../clickhouse-answers.js';
import { isSilent, isUnreached } from './errors.js';

/** Time limit of queries for rows. Files have the request's limit. The API lets a query run for 20 seconds at most. */
export const maxQueryMs = 30_000;
/** How long a query is retried when the server restarts or a connection was just closed. */
const outageLimitMs = 2_000;
/** Queries that run or wait for a connection. */
const maxConcurrent = 100;
const retryAfterS = 5;

/**
 * Returns the reading part of the analytics port. Rejects with PortError `overloaded` while too many queries run, and
 * `unavailable` without an answer in time. The client stays the caller's.
 */
export function createQueries(client: ClickHouseClient, requestTimeoutMs: number): Pick<Analytics, 'query' | 'file'> {
  let running = 0;

  async function run<T>(
    limitMs: number,
    query: (signal: AbortSignal) => Promise<T>,
    leaving: AbortSignal | undefined,
  ): Promise<T> {
    leaving?.throwIfAborted();
    if (running >= maxConcurrent)
      throw new PortError('overloaded', 'too many queries wait for ClickHouse', { retryAfterS });
    running++;
    // The limit includes the wait for a connection. An aborted request closes its connection, and so the server cancels
    // the query.
    const signal = AbortSignal.any([AbortSignal.timeout(limitMs), ...(leaving ? [leaving] : [])]);
    const isFinal = (error: unknown): boolean => signal.aborted || !isUnreached(error);
    try {
      return await retried(() => query(signal), { limitMs: outageLimitMs, isFinal });
    } catch (error) {
      leaving?.throwIfAborted();
      const isUnanswered = signal.aborted || isUnreached(error) || isSilent(error);
      throw isUnanswered ? new PortError('unavailable', 'ClickHouse does not answer', { retryAfterS }) : error;
    } finally {
      running--;
    }
  }

  const rowsLimitMs = Math.min(maxQueryMs, requestTimeoutMs);
  return {
    query: <Row>(sql: string, parameters = {}, leaving?: AbortSignal) =>
      run(rowsLimitMs, (signal) => rowsOf<Row>(client, { sql, parameters, signal }), leaving),
    file: (sql, format, parameters = {}, leaving) =>
      run(requestTimeoutMs, (signal) => fileOf(client, { sql, parameters, signal }, format), leaving),
  };
}
