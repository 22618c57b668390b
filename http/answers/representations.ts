/** Representations (RFC 9110): their tags, the one that a client has, and the codings that it reads. */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

type Headers = Pick<FastifyRequest, 'headers'>;

/** Returns the strong tag of a representation: equal bytes have equal tags. */
export const entityTagOf = (bytes: Uint8Array | string): string =>
  `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;

/**
 * Returns whether the client has the representation with this strong tag, so that 304 is the answer. The comparison is
 * weak (13.1.2): a proxy that compresses an answer makes its tag weak.
 */
export function isKnown({ headers }: Headers, etag: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** Returns whether the client reads the content coding, by Accept-Encoding (12.5.3). */
export function acceptsCoding({ headers }: Headers, coding: 'br' | 'gzip'): boolean {
  const weights = new Map<string, number>();
  for (const range of String(headers['accept-encoding'] ?? '').split(',')) {
    const [name = '', weight] = range.split(';').map((part) => part.trim().toLowerCase());
    weights.set(name, Number(/^q\s*=\s*([\d.]+)$/.exec(weight ?? '')?.[1] ?? 1));
  }
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
}
