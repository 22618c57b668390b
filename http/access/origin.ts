/**
 * Refuses requests that a page of another site makes with this browser's cookie, or to give this browser one.
 *
 * Browsers tell where a request comes from in Sec-Fetch-Site, over TLS and on loopback; elsewhere only in Origin.
 */
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../schemas/errors.js';

type Origin = 'own' | 'other' | 'unknown';

function originOf({ headers, protocol, host }: Pick<FastifyRequest, 'headers' | 'protocol' | 'host'>): Origin {
  const site = headers['sec-fetch-site'];
  // `none`: the user typed the address or opened a bookmark.
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'own' : 'other';
  const { origin } = headers;
  if (origin === undefined) return 'unknown';
  return origin === `${protocol}://${host}` ? 'own' : 'other';
}

/** Returns whether requests of the method only read. */
export const changesNothing = (method: string): boolean => method === 'GET' || method === 'HEAD';

const refused = (why: string): ApiError => new ApiError('forbidden', why);

/**
 * Throws `forbidden` unless a request with a session cookie comes from this server's own pages. A request that may
 * change something must say where it comes from.
 */
export function refuseOtherOrigins(request: FastifyRequest): void {
  const origin = originOf(request);
  if (origin === 'own' || (origin === 'unknown' && changesNothing(request.method))) return;
  throw refused(
    origin === 'other'
      ? 'a page of another site may not use this session'
      : 'with a session cookie this call requires the header Origin or Sec-Fetch-Site',
  );
}

/**
 * Throws `forbidden` for a page of another site, which would sign this browser in as somebody else. Programs, which
 * send no such header, may call.
 */
export function refuseForeignPages(request: FastifyRequest): void {
  if (originOf(request) === 'other') throw refused('a page of another site may not make this call');
}

/** Returns the origin of the page; undefined for programs. Images and style sheets name their page only as Referer. */
function pageOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const { origin, referer } = headers;
  if (origin !== undefined) return origin;
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined;
}

/** Throws `origin_not_allowed` for pages of other origins. Programs, such as native SDKs, name no page and pass. */
export function refuseDisallowedOrigin(request: Pick<FastifyRequest, 'headers'>, allowed: readonly string[]): void {
  const page = pageOf(request);
  if (page === undefined || allowed.includes(page.toLowerCase())) return;
  throw new ApiError('origin_not_allowed', 'the setting allowedOrigins does not allow pages of this origin');
}
