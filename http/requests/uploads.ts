/** Reads bodies that are streams: large uploads, which may be compressed. */
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../schemas/errors.js';

/** Returns the media type of a request or an answer without its parameters, in lower case. */
export const mediaTypeOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

/** Returns the content coding of a body, `identity` without one. `x-gzip` is the same as `gzip` (RFC 9110, 8.4.1.3). */
export function codingOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  return coding === 'x-gzip' ? 'gzip' : coding;
}

/** Returns the bytes of a body by its headers; infinity if they do not say. */
export const announcedBytes = ({ headers }: Pick<FastifyRequest, 'headers'>): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;

const incomplete = (): ApiError => new ApiError('invalid_body', 'the body is incomplete');

/**
 * Returns the body as a separate stream. Destroying it, after an error or because enough is read, does not close the
 * connection, which still carries the answer.
 */
function detached(body: Readable): Readable {
  const detachedBody = new Readable({
    read: () => void body.resume(),
    destroy(error, done) {
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      // Node reports a connection that breaks later as an error as well.
      body.on('error', () => {}).resume();
      done(error);
    },
  });
  const onData = (chunk: Buffer): void => {
    if (!detachedBody.push(chunk)) body.pause();
  };
  const onEnd = (): void => void detachedBody.push(null);
  const onError = (error: Error): void => void detachedBody.destroy(error);
  const onClose = (): void => {
    // A body that has ended may close before its last bytes are read here.
    if (!body.readableEnded) detachedBody.destroy(incomplete());
  };
  body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose).pause();
  // The sender may have left while the request waited. A stream that has closed tells nobody any more.
  if (body.destroyed) onClose();
  return detachedBody;
}

/**
 * Returns the decompressed body of a request whose parser passes the stream on. A truncated or broken body is an error
 * of the stream. From here on the body is paused until it is read.
 */
export function uploadedBody(request: FastifyRequest): Readable {
  const body = detached(request.body as Readable);
  const coding = codingOf(request);
  if (coding === 'identity') return body;
  if (coding !== 'gzip') throw new ApiError('unsupported_media_type', 'Content-Encoding must be gzip or identity');
  // The reader of the decompressed stream receives the errors of both streams.
  return pipeline(body, createGunzip(), () => {});
}

/** Returns the catalogued error for a broken body; any other error unchanged. */
export function uploadFailure(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code?.startsWith('Z_')) return new ApiError('invalid_body', 'the gzip data is invalid');
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return incomplete();
  return error;
}
