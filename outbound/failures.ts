/**
 * Maps errors of sockets, TLS and undici to an {@link OutboundFailure}. No message contains a URL, header or body.
 */
import { errors } from 'undici';
import { cutText } from '../schemas/wording.js';
import type { OutboundFailure } from './result.js';

/** A failure of known kind. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.failure = failure;
  }
}

const invalidAnswers: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the length of the response does not match its content-length',
};

/** Unexpected responses, such as 100 or 101: undici reports them with the code of a lost connection. */
const unexpectedAnswers: readonly string[] = ['bad response', 'bad upgrade'];

/** Classifies an error that ended an exchange before its response. */
export function failureOf(error: NodeJS.ErrnoException): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code = error.name, message } = error;
  const invalidAnswer = invalidAnswers[code];
  if (invalidAnswer !== undefined) return new OutboundError('invalid_answer', invalidAnswer);
  if (error instanceof errors.HTTPParserError) return new OutboundError('invalid_answer', message);
  if (unexpectedAnswers.includes(message))
    return new OutboundError('invalid_answer', 'the response does not belong to this request');
  if (code.startsWith('ERR_SSL_')) return tlsFailure(error);
  return new OutboundError('connection_failed', `the connection failed before a response (${code})`);
}

const lostConnections: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Returns whether the other side closed or reset the connection without a response. */
export const isConnectionLost = ({ code, message }: NodeJS.ErrnoException): boolean =>
  lostConnections.includes(code ?? '') && !unexpectedAnswers.includes(message);

/** Messages by error code of `node:dns`. */
const lookupProblems: Readonly<Record<string, string>> = {
  ESERVFAIL: 'the name servers failed to resolve the host name',
  EREFUSED: 'the name servers refused to resolve the host name',
  EBADRESP: 'the name servers sent a malformed response for the host name',
  ETIMEOUT: 'the name servers sent no response for the host name in time',
  ECONNREFUSED: 'no name server could be reached',
};

/** Builds the failure of a name lookup. */
export function lookupFailure({ code = 'no reason given' }: NodeJS.ErrnoException): OutboundError {
  return new OutboundError(
    'name_not_found',
    `${lookupProblems[code] ?? 'the host name could not be resolved'} (${code})`,
  );
}

/** Builds the failure to connect. */
export const connectFailure = ({ code, name }: NodeJS.ErrnoException): OutboundError =>
  new OutboundError('connection_failed', `no connection could be established (${code ?? name})`);

const maxReasonCharacters = 120;

/** Builds a TLS failure. `reason` is OpenSSL's short message, if OpenSSL reported the error. */
export function tlsFailure(error: NodeJS.ErrnoException & { readonly reason?: string }): OutboundError {
  const { code, reason = error.message } = error;
  return new OutboundError('tls_failed', `${cutText(reason, maxReasonCharacters)} (${code ?? error.name})`);
}
