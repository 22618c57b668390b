/**
 * Why there was no answer: errors of sockets, TLS and undici in the words of {@link OutboundFailure}. No message
 * carries a URL, header or body.
 */
import { errors } from 'undici';
import type { OutboundFailure } from './client.js';

/** A failure whose kind is known where it happens. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.failure = failure;
  }
}

const invalidAnswers: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not as long as it says',
};

/** Answers that nobody asked for, such as 100 or 101: undici reports them under the code of a lost connection. */
const unexpectedAnswers: readonly string[] = ['bad response', 'bad upgrade'];

/** What an error that ended an exchange before its answer was there means. */
export function failureOf(error: NodeJS.ErrnoException): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code = error.name, message } = error;
  const invalidAnswer = invalidAnswers[code];
  if (invalidAnswer !== undefined) return new OutboundError('invalid_answer', invalidAnswer);
  if (error instanceof errors.HTTPParserError) return new OutboundError('invalid_answer', message);
  if (unexpectedAnswers.includes(message))
    return new OutboundError('invalid_answer', 'the answer is not one to this request');
  if (code.startsWith('ERR_SSL_')) return tlsFailure(error);
  return new OutboundError('connection_failed', `the connection failed before an answer (${code})`);
}

const lostConnections: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** The other side closed or reset the connection, and said nothing. */
export const isConnectionLost = ({ code, message }: NodeJS.ErrnoException): boolean =>
  lostConnections.includes(code ?? '') && !unexpectedAnswers.includes(message);

/** By the codes of `node:dns`. */
const lookupProblems: Readonly<Record<string, string>> = {
  ESERVFAIL: 'the name servers could not find out about the host name',
  EREFUSED: 'the name servers refused to say anything about the host name',
  EBADRESP: 'the name servers gave a malformed answer for the host name',
  ETIMEOUT: 'the name servers gave no answer for the host name in time',
  ECONNREFUSED: 'no name server could be reached',
};

/** The name has no address, or nobody could tell. */
export function lookupFailure({ code = 'no reason given' }: NodeJS.ErrnoException): OutboundError {
  return new OutboundError(
    'name_not_found',
    `${lookupProblems[code] ?? 'the host name could not be resolved'} (${code})`,
  );
}

/** The connection could not be made. */
export const connectFailure = ({ code, name }: NodeJS.ErrnoException): OutboundError =>
  new OutboundError('connection_failed', `no connection could be made (${code ?? name})`);

const maxReasonLength = 120;

/** `reason` is what OpenSSL says in short, where it is OpenSSL that speaks. */
export function tlsFailure(error: NodeJS.ErrnoException & { readonly reason?: string }): OutboundError {
  const { code, reason = error.message } = error;
  return new OutboundError('tls_failed', `${reason.slice(0, maxReasonLength)} (${code ?? error.name})`);
}
