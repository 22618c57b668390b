/**
 * Answers to what never became a request: malformed HTTP, headers that are too large or too slow, connections beyond
 * the limit.
 */
import { STATUS_CODES } from 'node:http';
import { ApiError } from '../../schemas/errors.js';

/** The body of every failed answer. `meta.error` is never sent: SDKs take it for a failure of their own. */
export const failureBody = (error: ApiError) => ({
  meta: {
    code: error.status,
    type: error.code,
    ...(error.param !== undefined && { param: error.param }),
    message: error.message,
  },
});

/** Returns the failure as a whole HTTP answer that closes its connection. */
export function rawAnswer(failure: ApiError): string {
  const body = JSON.stringify(failureBody(failure));
  const head = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin: *',
    ...(failure.retryAfterS === undefined ? [] : [`Retry-After: ${failure.retryAfterS}`]),
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** What Node tells of a request that it could not parse. */
export interface ParseError extends Error {
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  /** A buffer, whatever its declared type says. */
  readonly rawPacket?: unknown;
}

/** Of the request line and all headers together; also Node's bound. */
export const maxHeaderBytes = 16_384;

const requestLine = /^[A-Z]+ \S*$/;

/** A request line that fills the bound alone. */
function isUrlTooLong(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || packet.length < maxHeaderBytes) return false;
  return requestLine.test(packet.toString('latin1', 0, maxHeaderBytes));
}

/** Returns the failure to answer; undefined where the connection itself failed and nobody can be answered. */
export function failureOfParsing({ code = '', reason, rawPacket }: ParseError): ApiError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return isUrlTooLong(rawPacket)
      ? new ApiError('uri_too_long', `the URL is longer than ${maxHeaderBytes} bytes`)
      : new ApiError('headers_too_large', `the request line and headers are larger than ${maxHeaderBytes} bytes`);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'the headers did not come in time');
  if (code.startsWith('HPE_'))
    return new ApiError('malformed_request', `the request is not HTTP/1.1: ${reason ?? code}`);
  return undefined;
}
