/** What a failed request to ClickHouse means. */
import { ClickHouseError } from '@clickhouse/client';

/** The server answers, and can't do it now: overloaded, starting, stopping, or cut off from its other parts. */
const passingTypes = new Set([
  ...['ABORTED', 'ALL_CONNECTION_TRIES_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_SCHEDULE_TASK', 'DNS_ERROR'],
  ...['KEEPER_EXCEPTION', 'MEMORY_LIMIT_EXCEEDED', 'NETWORK_ERROR', 'NOT_ENOUGH_SPACE', 'QUERY_WAS_CANCELLED'],
  ...['QUERY_WAS_CANCELLED_BY_CLIENT', 'SERVER_OVERLOADED', 'SOCKET_TIMEOUT', 'TABLE_IS_READ_ONLY', 'TIMEOUT_EXCEEDED'],
  ...['TOO_FEW_LIVE_REPLICAS', 'TOO_MANY_PARTS', 'TOO_MANY_SIMULTANEOUS_QUERIES', 'UNKNOWN_STATUS_OF_INSERT'],
]);

const networkCodes = new Set([
  ...['EAI_AGAIN', 'ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EPIPE'],
  'ETIMEDOUT',
]);

/** The server was reached and is silent. */
export const isSilent = (error: unknown): boolean => error instanceof Error && error.message === 'Timeout error.';

/** An error in the words of servers of 2018 to 2020, which the client does not know. */
const isOldServers = (error: Error): boolean => /^Code: \d+, e\.displayText\(\)/.test(error.message);

/** No server answered, and soon one may. A certificate that isn't trusted is no such thing. */
export function isUnreached(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ClickHouseError || isSilent(error) || isOldServers(error))
    return false;
  const { code } = error as NodeJS.ErrnoException;
  // Of what a gateway answers in the server's stead the client tells nothing but the text.
  return code === undefined ? error.constructor === Error : networkCodes.has(code);
}

/** Whether a later try may do better, for work that can wait and bears a repeat. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ClickHouseError ? passingTypes.has(error.type ?? '') : isUnreached(error) || isSilent(error);

const maxReasonLength = 500;

/** A gateway's answer may be a whole page. */
export const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).slice(0, maxReasonLength);
