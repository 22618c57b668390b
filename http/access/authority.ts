/**
 * Decides who may call a route. Every route declares the authority that it requires. One hook checks it before anything
 * of the body is read. Another one checks it again when the body of a call that may change something has been read: a
 * key may have been revoked while a slow body was under way. Bodies that a handler reads as a stream are not read by
 * then; see `revocation.ts`.
 *
 * A secret key may do all that a publishable key may. The admin API key belongs to no project. It opens the admin
 * routes and the routes that name it. The session of a browser acts like a secret key of the project and environment
 * that the request chooses. An owner's session does so in every call, a viewer's in calls that read.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import type { Role } from '../../schemas/json/account.js';
import type { Environment } from '../../schemas/json/common.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import { type Caller, type KeyRing, looksSecret, matchesSha256 } from './keys.js';
import { changesNothing, refuseDisallowedOrigin, refuseForeignPages, refuseOtherOrigins } from './origin.js';
import type { LimitName } from './rate-limits.js';
import { confirmStillAuthorized } from './revocation.js';
import { roleIn, type Session } from './session-store.js';
import type { Sessions } from './sessions.js';

/**
 * The least authority of a route. `sign-in`: nobody yet; refuses pages of other sites. `session`: any session, of no
 * project. `member`: a session of a member of the chosen project, viewers for reading. `owner`: a session of an owner
 * of it. `admin or owner`: the admin API key, or a session of an owner.
 */
export type Authority =
  | 'none'
  | 'sign-in'
  | 'session'
  | 'member'
  | 'owner'
  | 'publishable'
  | 'secret'
  | 'secret or admin'
  | 'admin or owner'
  | 'admin';

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
    /** Null without a session, and when the request has a key, which counts instead. */
    session: Session | null;
    /**
     * Throws if the session has lost the role that the call requires, or the key was revoked, since it was checked.
     * Edits call it once the configuration has all that was acknowledged before them, because this node may not have
     * known it.
     */
    confirmAuthority: () => void;
    /** When its head was authorized, as by `performance.now()`. */
    authorizedAtMs: number;
  }
  interface FastifyInstance {
    /** The authority of routes that declare none, for plugins with routes of their own. */
    defaultAuthority: Authority | undefined;
    /** Interval at which the authority of requests that last is checked again; see `revocationOf`. */
    authorityCheckMs: number;
  }
}

interface SessionAccess {
  readonly sessions: Sessions;
  readonly configuration: Pick<ConfigurationReader, 'project' | 'projects'>;
}

/** What callers are checked with. A request has either a key or a session. */
export interface AuthorityOptions {
  readonly keyRing: KeyRing;
  /** SHA-256 of the admin API key as 64 hex digits; absent: there is no admin API key. */
  readonly adminApiKeySha256?: string | undefined;
  /** Absent: there are no sessions. */
  readonly sessionAccess?: SessionAccess | undefined;
  /** Interval at which the authority of requests that last is checked again. */
  readonly authorityCheckMs?: number | undefined;
}

const defaultAuthorityCheckMs = 15_000;

/** Other nodes know a revocation sooner. After a longer time, this node asks for what it may have missed. */
const slowBodyMs = 1_000;

/** Returns the caller of a route that requires a key of a project. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('the route declares no authority of a project');
  return request.caller;
}

/** Returns the session of a route that requires one. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === null) throw new Error('the route declares no authority of a session');
  return request.session;
}

/** Returns the key of the header, which is the raw key or `Bearer <key>`. */
const keyOfHeader = (request: FastifyRequest): string | undefined =>
  request.headers.authorization?.replace(/^Bearer\s+/i, '').trim() || undefined;

/** Returns the values of the parameter. It is refused later when there are several. */
function keysOfQuery(request: FastifyRequest): string[] {
  if (!request.routeOptions.config.keyInQuery) return [];
  const { publishableKey } = request.query as Record<string, unknown>;
  return [publishableKey].flat().filter((key) => typeof key === 'string' && key !== '') as string[];
}

/** Returns the key that a request sent, in the header or in the URL; undefined for a session. */
export const keyOfRequest = (request: FastifyRequest): string | undefined =>
  keyOfHeader(request) ?? keysOfQuery(request)[0];

const notInUrls = (): ApiError =>
  new ApiError(
    'forbidden',
    'publishableKey: must be a publishable key; logs, caches and browser histories keep URLs, ' +
      'so send other keys in the Authorization header',
    { param: 'publishableKey' },
  );

/** Names what the call takes: some take a key in the URL, and one for operators takes no session. */
function withoutKey({ routeOptions: { config } }: FastifyRequest): ApiError {
  if (config.keyInQuery)
    return new ApiError(
      'unauthorized',
      'neither the Authorization header nor the parameter publishableKey has a key, and there is no session',
      { param: 'publishableKey' },
    );
  const others = config.authority === 'admin' ? 'this call requires the admin API key' : 'there is no session';
  return new ApiError('unauthorized', `the Authorization header has no key, and ${others}`);
}

/** The caller, as far as the route's authority requires one. */
interface Authorized {
  readonly caller: Caller | null;
  readonly session: Session | null;
  readonly confirm?: () => void;
}

const revoked = (): ApiError => new ApiError('unauthorized', 'the key is unknown or revoked');

const nobody: Authorized = { caller: null, session: null };

async function authorizeKey(
  key: string,
  authority: Authority,
  { keyRing, adminApiKeySha256 = '' }: AuthorityOptions,
): Promise<Caller | null> {
  if (matchesSha256(key, adminApiKeySha256)) {
    if (authority === 'admin' || authority === 'secret or admin' || authority === 'admin or owner') return null;
    throw new ApiError('forbidden', 'this call requires a key of a project');
  }
  const caller = await keyRing.callerOf(key);
  if (!caller) throw revoked();
  if (authority === 'admin') throw new ApiError('forbidden', 'this call requires the admin API key');
  if (authority === 'admin or owner')
    throw new ApiError('forbidden', "this call requires the admin API key, or an owner's session");
  if (authority === 'session' || authority === 'member' || authority === 'owner')
    throw new ApiError('forbidden', 'this call requires a session: sign in first');
  if (authority !== 'publishable' && caller.kind !== 'secret')
    throw new ApiError('forbidden', 'this call requires a secret key');
  return caller;
}

/** What a request with a session chooses, by header or query parameter. */
const sessionChoices = {
  project: 'x-fenceline-project',
  environment: 'x-fenceline-environment',
} as const;
type Choice = keyof typeof sessionChoices;

/** Returns the choice of the header, else of the query, unless the route has a parameter of that name itself. */
function chosen(request: FastifyRequest, name: Choice): string | undefined {
  const header = request.headers[sessionChoices[name]];
  if (typeof header === 'string' && header !== '') return header;
  if (Object.hasOwn(request.routeOptions.config.knownParameters?.declared ?? {}, name)) return undefined;
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function chosenEnvironment(request: FastifyRequest): Environment {
  const environment = chosen(request, 'environment') ?? 'test';
  if (environment === 'test' || environment === 'live') return environment;
  throw parameterError({ param: 'environment', rule: 'must be test or live' });
}

const notAMember = (): ApiError => new ApiError('forbidden', 'this session belongs to no member of the project');

function createSessionAuthority(access: SessionAccess) {
  const { sessions, configuration } = access;

  function projectOf(request: FastifyRequest, session: Session): ProjectRecord {
    const id = chosen(request, 'project') ?? session.project;
    if (id !== null) {
      const project = configuration.project(id);
      // The same answer as for a project that does not exist, so that ids can't be guessed.
      if (project && roleIn(session, project) !== undefined) return project;
      throw notAMember();
    }
    const [project, another] = configuration.projects().filter((each) => roleIn(session, each) !== undefined);
    if (project === undefined) throw new ApiError('forbidden', 'this account is a member of no project');
    if (another === undefined) return project;
    const rule = 'must be chosen by the header X-Fenceline-Project, because the account has several projects';
    throw parameterError({ param: 'project', rule });
  }

  function callerOfSession(request: FastifyRequest, session: Session): Caller {
    const project = projectOf(request, session);
    const environment = chosenEnvironment(request);
    return {
      project: project._id,
      environment,
      kind: 'secret',
      keyHint: session.hint,
      role: roleIn(session, project)!,
    };
  }

  return async (request: FastifyRequest, authority: Authority): Promise<Authorized | undefined> => {
    if (authority === 'admin') return undefined;
    const session = await sessions.find(request);
    if (session === undefined) return undefined;
    refuseOtherOrigins(request);
    if (authority === 'session') return { caller: null, session };
    const caller = callerOfSession(request, session);
    const requiresOwner = authority === 'admin or owner' || authority === 'owner' || !changesNothing(request.method);
    const refuse = (role: Role | undefined): void => {
      if (role === undefined) throw notAMember();
      if (requiresOwner && role !== 'owner') throw new ApiError('forbidden', 'a viewer may only read');
    };
    refuse(caller.role);
    const confirm = (): void => {
      const project = configuration.project(caller.project);
      refuse(project && roleIn(session, project));
    };
    return { caller, session, confirm };
  };
}

/** Adds the hooks to the root instance. Call it before routes are added. */
export function requireAuthority(app: FastifyInstance, options: AuthorityOptions): void {
  const { adminApiKeySha256 = '', sessionAccess } = options;
  const authorizeSession = sessionAccess && createSessionAuthority(sessionAccess);

  async function authorize(request: FastifyRequest, authority: Authority): Promise<Authorized> {
    if (authority === 'none') return nobody;
    if (authority === 'sign-in') {
      refuseForeignPages(request);
      return nobody;
    }
    // A revoked or misspelt secret key is refused as well, so that its owner does not put the next one there.
    if (keysOfQuery(request).some((key) => looksSecret(key) || matchesSha256(key, adminApiKeySha256)))
      throw notInUrls();
    const key = keyOfRequest(request);
    if (key !== undefined) {
      const caller = await authorizeKey(key, authority, options);
      if (caller?.allowedOrigins !== undefined) refuseDisallowedOrigin(request, caller.allowedOrigins);
      const confirm = (): void => {
        if (caller !== null && !options.keyRing.isKnown(key)) throw revoked();
      };
      return { caller, session: null, confirm };
    }
    const authorized = await authorizeSession?.(request, authority);
    if (authorized === undefined) throw withoutKey(request);
    return authorized;
  }

  app.decorate('defaultAuthority', undefined);
  app.decorate('authorityCheckMs', options.authorityCheckMs ?? defaultAuthorityCheckMs);
  app.decorateRequest('caller', null);
  app.decorateRequest('session', null);
  app.decorateRequest('confirmAuthority', () => {});
  app.decorateRequest('authorizedAtMs', 0);
  app.addHook('onRoute', function (route) {
    const authority = route.config?.authority ?? this.defaultAuthority;
    if (authority === undefined) throw new Error(`${route.method} ${route.url} declares no authority`);
    route.config = { ...route.config, authority };
  });
  app.addHook('onRequest', async (request) => {
    if (request.is404) return;
    const { caller, session, confirm } = await authorize(request, request.routeOptions.config.authority!);
    request.caller = caller;
    request.session = session;
    if (confirm !== undefined) request.confirmAuthority = confirm;
    request.authorizedAtMs = performance.now();
  });
  app.addHook('preHandler', async (request) => {
    if (request.is404 || changesNothing(request.method)) return;
    if (performance.now() - request.authorizedAtMs > slowBodyMs) {
      await options.keyRing.catchUp();
      await confirmStillAuthorized(request);
    }
    request.confirmAuthority();
  });
}
