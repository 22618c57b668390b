/** Classifies failed requests to ClickHouse. */
import { ClickHouseError } from '@clickhouse/client';
import { isPortError } from '../../../pipeline/errors.js';
import { cutText } from '../../../schemas/wording.js';

/**
 * Errors of a server that is overloaded, starting, stopping, read-only, out of disk, or disconnected from its replicas
 * or Keeper.
 */
const passingTypes = new Set([
  ...['ABORTED', 'ALL_CONNECTION_TRIES_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_SCHEDULE_TASK', 'DNS_ERROR'],
  ...['KEEPER_EXCEPTION', 'MEMORY_LIMIT_EXCEEDED', 'NETWORK_ERROR', 'NOT_ENOUGH_SPACE', 'QUERY_WAS_CANCELLED'],
  'READONLY',
  ...['QUERY_WAS_CANCELLED_BY_CLIENT', 'SERVER_OVERLOADED', 'SOCKET_TIMEOUT', 'TABLE_IS_READ_ONLY', 'TIMEOUT_EXCEEDED'],
  ...['TOO_FEW_LIVE_REPLICAS', 'TOO_MANY_PARTS', 'TOO_MANY_SIMULTANEOUS_QUERIES', 'UNKNOWN_STATUS_OF_INSERT'],
]);

/** What the system says of a disk that is full or was mounted read-only. The type depends on the file. */
const diskErrors = /No space left on device|Read-only file system/;

const networkCodes = new Set([
  ...['EAI_AGAIN', 'ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EPIPE'],
  'ETIMEDOUT',
]);

/** Returns whether the server was reached but did not answer in time. */
export const isSilent = (error: unknown): boolean => error instanceof Error && error.message === 'Timeout error.';

/** Returns whether the message has the format of servers of 2018 to 2020, which the client does not parse. */
const isFromOldServer = (error: Error): boolean => /^Code: \d+, e\.displayText\(\)/.test(error.message);

/** Returns whether no server answered, but one may soon. An untrusted certificate does not count. */
export function isUnreached(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ClickHouseError || isSilent(error) || isFromOldServer(error))
    return false;
  const { code } = error as NodeJS.ErrnoException;
  // For an error response of a gateway, the client gives only the text.
  return code === undefined ? error.constructor === Error : networkCodes.has(code);
}

/** Returns whether a later attempt may succeed, for work that can wait and can be repeated. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ClickHouseError
    ? passingTypes.has(error.type ?? '') || diskErrors.test(error.message)
    : isUnreached(error) || isSilent(error) || isPortError(error);

const maxReasonCharacters = 500;

/** Returns the start of the message: the response of a gateway may be a whole page. */
export const reasonOf = (error: unknown): string =>
  cutText(String(error instanceof Error ? error.message : error), maxReasonCharacters);
