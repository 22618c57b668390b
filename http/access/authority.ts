/**
 * Decides who may call a route. Every route declares the authority that it requires. One hook checks it before anything
 * of the body is read.
 *
 * A secret key may do all that a publishable key may. The admin API key belongs to no project. It opens the admin
 * routes and the routes that name it.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../schemas/errors.js';
import { type Caller, type KeyRing, matchesSha256 } from './keys.js';
import type { LimitName } from './rate-limits.js';

export type Authority = 'none' | 'publishable' | 'secret' | 'secret or admin' | 'admin';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The least authority that may call the route. Registration fails for a route without one. */
    authority?: Authority;
    /** The rate limit that counts the route's requests. */
    limit?: LimitName;
    /** A publishable key may also be sent as `?publishableKey=`, for images and style sheets. */
    keyInQuery?: boolean;
  }
  interface FastifyRequest {
    /** Null on routes without a key and for the admin API key; see {@link callerOf}. */
    caller: Caller | null;
  }
  interface FastifyInstance {
    /** The authority of routes that declare none, for plugins with routes of their own. */
    defaultAuthority: Authority | undefined;
  }
}

export interface AuthorityOptions {
  readonly keyRing: KeyRing;
  /** SHA-256 of the admin API key as 64 hex digits; absent: there is no admin API key. */
  readonly adminApiKeySha256?: string | undefined;
}

/** Returns the caller of a route that requires a key of a project. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('the route declares no authority of a project');
  return request.caller;
}

/** Returns the key of the header, which is the raw key or `Bearer <key>`. */
const keyOfHeader = (request: FastifyRequest): string | undefined =>
  request.headers.authorization?.replace(/^Bearer\s+/i, '').trim() || undefined;

function keyOfQuery(request: FastifyRequest): string | undefined {
  if (!request.routeOptions.config.keyInQuery) return undefined;
  const { publishableKey } = request.query as Record<string, unknown>;
  return typeof publishableKey === 'string' ? publishableKey : undefined;
}

/** A key begins with its environment and kind. */
const looksSecret = (key: string): boolean => key.includes('_sk_');

const notInUrls = (): ApiError =>
  new ApiError(
    'forbidden',
    'publishableKey: must be a publishable key; logs, caches and browser histories keep URLs, ' +
      'so send other keys in the Authorization header',
    { param: 'publishableKey' },
  );

async function authorize(
  request: FastifyRequest,
  authority: Authority,
  { keyRing, adminApiKeySha256 = '' }: AuthorityOptions,
): Promise<Caller | null> {
  if (authority === 'none') return null;
  const inQuery = keyOfQuery(request);
  // A revoked or misspelt secret key is refused as well, so that its owner does not put the next one there.
  if (inQuery !== undefined && (looksSecret(inQuery) || matchesSha256(inQuery, adminApiKeySha256))) throw notInUrls();
  const key = keyOfHeader(request) ?? inQuery;
  if (key === undefined) throw new ApiError('unauthorized', 'the Authorization header has no key');
  if (matchesSha256(key, adminApiKeySha256)) {
    if (authority === 'admin' || authority === 'secret or admin') return null;
    throw new ApiError('forbidden', 'this call requires a key of a project');
  }
  const caller = await keyRing.callerOf(key);
  if (!caller) throw new ApiError('unauthorized', 'the key is unknown or revoked');
  if (authority === 'admin') throw new ApiError('forbidden', 'this call requires the admin API key');
  if (authority !== 'publishable' && caller.kind !== 'secret')
    throw new ApiError('forbidden', 'this call requires a secret key');
  return caller;
}

/** Adds the hooks to the root instance. Call it before routes are added. */
export function requireAuthority(app: FastifyInstance, options: AuthorityOptions): void {
  app.decorate('defaultAuthority', undefined);
  app.decorateRequest('caller', null);
  app.addHook('onRoute', function (route) {
    const authority = route.config?.authority ?? this.defaultAuthority;
    if (authority === undefined) throw new Error(`${route.method} ${route.url} declares no authority`);
    route.config = { ...route.config, authority };
  });
  app.addHook('onRequest', async (request) => {
    if (!request.is404) request.caller = await authorize(request, request.routeOptions.config.authority!, options);
  });
}
