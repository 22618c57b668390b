/**
 * Checks the authority of requests again that last: live streams, long polls, downloads, uploads and imports.
 *
 * A request is authorized when it arrives. Without another check, a key that is revoked, or a session that ends, would
 * keep what it has opened.
 */
import { finished, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PortError } from '../../pipeline/errors.js';
import { ApiError } from '../../schemas/errors.js';

/**
 * Resolves if the caller may still make the request. Rejects with `unauthorized` or `forbidden` if the key was revoked,
 * or the session has ended or lost its role, and with PortError `unavailable` during an outage of the sessions.
 */
export async function confirmStillAuthorized({ confirmAuthority, session }: FastifyRequest): Promise<void> {
  confirmAuthority();
  if (session !== null && !(await session.isOpen())) throw new ApiError('unauthorized', 'the session has ended');
}

/**
 * Returns a signal that aborts when the caller may no longer make the request. The checks follow each other after
 * `authorityCheckMs` and end with the answer. The reason of the signal is the error of {@link confirmStillAuthorized}:
 * during an outage nobody knows, so the answer ends as well, and its client may ask again.
 */
export function revocationOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const revocation = new AbortController();
  const timer = setInterval(() => {
    confirmStillAuthorized(request).catch((error: unknown) => revocation.abort(error));
  }, request.server.authorityCheckMs);
  finished(reply.raw, () => clearInterval(timer));
  return revocation.signal;
}

/**
 * Returns a signal for work that goes on after its answer, such as an import. It aborts when the key was revoked, or
 * the account has lost its role. A session that has only ended takes nothing from its account, so the work goes on.
 * `end` ends the checks.
 */
export function withdrawalOf({ confirmAuthority, server }: FastifyRequest): { signal: AbortSignal; end: () => void } {
  const withdrawal = new AbortController();
  const timer = setInterval(() => {
    try {
      confirmAuthority();
    } catch (error) {
      withdrawal.abort(error);
    }
  }, server.authorityCheckMs);
  timer.unref();
  return { signal: withdrawal.signal, end: () => clearInterval(timer) };
}

/** Returns a signal that aborts when the client has left, or has got its answer. */
export function leavingOf(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  finished(reply.raw, () => leaving.abort(new PortError('unavailable', 'the client has left')));
  return leaving.signal;
}

/** Returns a signal that aborts as {@link leavingOf}, or when the caller may no longer make the request. */
export function endingOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  // Node 20 never frees a signal of AbortSignal.any that has a listener, not even after it has aborted.
  const ending = new AbortController();
  for (const signal of [leavingOf(reply), revocationOf(request, reply)])
    signal.addEventListener('abort', () => ending.abort(signal.reason));
  return ending.signal;
}

/**
 * Returns the stream of a download, which fails when the caller may no longer make the request. Its connection closes
 * then, so that the client takes what it has got for incomplete.
 */
export function endedByRevocation(download: Readable, request: FastifyRequest, reply: FastifyReply): Readable {
  const revocation = revocationOf(request, reply);
  revocation.addEventListener('abort', () => download.destroy(revocation.reason));
  return download;
}
