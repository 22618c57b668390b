/**
 * Answers to connections that never became a request: malformed HTTP, headers that are too large or too slow, and
 * connections beyond the limit.
 */
import { ApiError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { limitText } from '../../schemas/wording.js';
import { reasonPhrase } from '../reason-phrase.js';

/** Returns the body of a failed answer. It never has `meta.error`: SDKs throw on it. */
export const failureBody = (error: ApiError, requestId: string) => ({
  meta: {
    code: error.status,
    type: error.code,
    ...(error.param !== undefined && { param: error.param }),
    message: error.message,
    requestId,
  },
});

/** Headers of every failure, including those that no hook of Fastify sees. */
export const failureHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** Returns the failure as a whole HTTP answer that closes its connection. */
export function rawAnswer(failure: ApiError, requestId: string = freshId()): string {
  const body = JSON.stringify(failureBody(failure, requestId));
  const head = [
    `HTTP/1.1 ${failure.status} ${reasonPhrase(failure.status)}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Radar-Request-Id: ${requestId}`,
    'Access-Control-Allow-Origin: *',
    ...Object.entries(failureHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(failure.retryAfterS === undefined ? [] : [`Retry-After: ${failure.retryAfterS}`]),
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** The error that Node reports for a request that it could not parse. */
interface ParseError extends Error {
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  /** A buffer, whatever its declared type says. */
  readonly rawPacket?: unknown;
}

/** Limit of the request line and all headers together. Node uses the same limit. */
export const maxHeaderBytes = 16_384;

const requestLine = /^[A-Z]+ \S*$/;

/** Returns whether the request line alone exceeds the limit. */
function isUrlTooLong(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || packet.length < maxHeaderBytes) return false;
  return requestLine.test(packet.toString('latin1', 0, maxHeaderBytes));
}

/** Returns the failure to answer; undefined when the connection itself failed. */
export function failureOfParsing({ code = '', reason, rawPacket }: ParseError): ApiError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return isUrlTooLong(rawPacket)
      ? new ApiError('uri_too_long', `the URL is longer than ${limitText(maxHeaderBytes)}`)
      : new ApiError('headers_too_large', `the request line and headers are larger than ${limitText(maxHeaderBytes)}`);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'the headers did not arrive in time');
  if (code.startsWith('HPE_'))
    return new ApiError('malformed_request', `the request is not HTTP/1.1: ${reason ?? code}`);
  return undefined;
}
