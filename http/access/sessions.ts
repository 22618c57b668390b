/**
 * Sessions of browsers. The cookie holds a random token; the store holds its SHA-256, so that a copy of the store opens
 * no session. All nodes share the store, and read it for every request: a session ends everywhere at once.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import { isPortError } from '../../pipeline/errors.js';
import type { ExpiringValues } from '../../pipeline/ports.js';
import type { AccountRecord, Role } from '../../schemas/json/account.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { clearSessionCookie, sessionCookie, setSessionCookie } from './cookies.js';

/** The person that a session belongs to: an account, or an owner of one project who signed in by a one-time link. */
export type Subject =
  | { readonly account: Pick<AccountRecord, '_id' | 'generation' | 'createdAt'> }
  | { readonly project: string };

/** An open session. */
export interface Session {
  /** Null: signed in by a one-time link to `project`. */
  readonly account: AccountRecord | null;
  readonly project: string | null;
  /** Its key in the store. */
  readonly key: string;
  /** The end of the key. It tells sessions apart in logs, and is of no use to sign in. */
  readonly hint: string;
  /** Epoch ms at which the session ends at the latest. */
  readonly expiresAtMs: number;
  /**
   * Resolves to whether the session is still open, for answers that last. Does not count as a use of the session.
   * Rejects with PortError `unavailable` during an outage.
   */
  isOpen(): Promise<boolean>;
}

/** A session as its account sees it. */
export interface ListedSession {
  /** Of no use to sign in. */
  readonly id: string;
  readonly isCurrent: boolean;
  /** The name that the browser gives itself; null: none. */
  readonly userAgent: string | null;
  /** Epoch ms. */
  readonly startedAtMs: number;
  /** Epoch ms, up to a minute ago. */
  readonly usedAtMs: number;
  readonly expiresAtMs: number;
}

export interface Sessions {
  /** Ends the request's session, if it has one, and starts another with a new token. */
  start(request: FastifyRequest, reply: FastifyReply, subject: Subject): Promise<Session>;
  /** Ends the request's session and removes the cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Resolves to undefined without a cookie, and when its session has ended. */
  find(request: FastifyRequest): Promise<Session | undefined>;
  /** Resolves to the open sessions of the session's account, newest first; to itself if it has no account. */
  list(session: Session): Promise<ListedSession[]>;
  /** Ends a listed session. Resolves to false if there is none with this id. */
  endListed(session: Session, id: string): Promise<boolean>;
}

export interface SessionOptions {
  readonly values: ExpiringValues;
  readonly configuration: Pick<ConfigurationReader, 'account' | 'project'>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Time without a request after which a session ends. */
  readonly idleMs: number;
  /** Time after which a session ends in any case. */
  readonly absoluteMs: number;
  /** `always`: cookies are Secure even when the request came without TLS. */
  readonly secureCookies: 'auto' | 'always';
  /** In a cluster: resolves when the configuration contains every change that was acknowledged before the call. */
  readonly catchUp?: (() => Promise<void>) | undefined;
}

/** A session as it is stored. */
interface StoredSession {
  readonly account: string | null;
  readonly accountCreatedAt: number;
  readonly generation: string;
  readonly project: string | null;
  readonly startedAtMs: number;
  readonly usedAtMs: number;
  /** Absent in sessions of earlier releases. */
  readonly userAgent?: string | null;
}

const tokenBytes = 32;
const tokenPattern = /^[0-9a-f]{64}$/;
const idCharacters = 24;
const hintCharacters = 8;
const maxUserAgentCharacters = 256;
/** Sessions of one account. Beyond this number the oldest end. */
const maxSessions = 100;
/** A session in use is stored again at most this often. */
const minRenewalMs = 60_000;

const keyOf = (token: string): string => `session/${sha256Hex(token)}`;
const idOf = (key: string): string => key.slice(-idCharacters);
const hintOf = (key: string): string => `session …${key.slice(-hintCharacters)}`;
/** Holds the keys of the sessions of an account, as JSON. */
const listKeyOf = (account: Pick<AccountRecord, '_id' | 'createdAt'>): string =>
  `sessions/${account._id}/${account.createdAt}`;

const storedSubject = (
  subject: Subject,
): Pick<StoredSession, 'account' | 'accountCreatedAt' | 'generation' | 'project'> =>
  'account' in subject
    ? {
        account: subject.account._id,
        accountCreatedAt: subject.account.createdAt,
        generation: subject.account.generation,
        project: null,
      }
    : { account: null, accountCreatedAt: 0, generation: '', project: subject.project };

export function createSessions(options: SessionOptions): Sessions {
  const { values, configuration, clock, idleMs, absoluteMs, secureCookies, catchUp } = options;
  const isSecure = (request: FastifyRequest): boolean => secureCookies === 'always' || request.protocol === 'https';

  function tokenOf(request: FastifyRequest): string | undefined {
    const token = sessionCookie(request, isSecure(request));
    return token !== undefined && tokenPattern.test(token) ? token : undefined;
  }

  /** Time to live of a session that is used at `nowMs`. */
  const ttlMs = ({ startedAtMs }: StoredSession, nowMs: number): number =>
    Math.min(idleMs, startedAtMs + absoluteMs - nowMs);

  const hasExpired = ({ startedAtMs, usedAtMs }: StoredSession, nowMs: number): boolean =>
    nowMs >= startedAtMs + absoluteMs || nowMs >= usedAtMs + idleMs;

  function known(stored: StoredSession): AccountRecord | ProjectRecord | undefined {
    if (stored.account === null) return configuration.project(stored.project ?? '');
    const account = configuration.account(stored.account);
    const isSame = account?.generation === stored.generation && account.createdAt === stored.accountCreatedAt;
    return isSame ? account : undefined;
  }

  const sessionOf = (key: string, stored: StoredSession): Session => ({
    account: stored.account === null ? null : (configuration.account(stored.account) ?? null),
    project: stored.project,
    key,
    hint: hintOf(key),
    expiresAtMs: stored.startedAtMs + absoluteMs,
    isOpen: async () => (await values.get(key)) !== undefined && known(stored) !== undefined,
  });

  /** Keeps a session that is in use. The condition keeps a session that ended meanwhile from coming back. */
  async function renew(key: string, text: string, stored: StoredSession, nowMs: number): Promise<void> {
    if (nowMs - stored.usedAtMs < Math.min(minRenewalMs, idleMs / 10)) return;
    const used: StoredSession = { ...stored, usedAtMs: nowMs };
    try {
      await values.put(key, JSON.stringify(used), ttlMs(used, nowMs), { current: text });
    } catch (error) {
      // Reading continues while the disk is full. The next request tries again.
      if (!isPortError(error, 'storage_full')) throw error;
    }
  }

  const keysOf = (text: string | undefined): string[] => (text === undefined ? [] : (JSON.parse(text) as string[]));

  async function isStored(key: string): Promise<boolean> {
    return (await values.get(key)) !== undefined;
  }

  /** Adds a session to the list of its account, and removes those that have ended. */
  async function note(account: Pick<AccountRecord, '_id' | 'createdAt'>, key: string): Promise<void> {
    const listKey = listKeyOf(account);
    for (;;) {
      const text = await values.get(listKey);
      const open: string[] = [];
      for (const known of keysOf(text)) if (await isStored(known)) open.push(known);
      const excess = open.splice(0, open.length + 1 - maxSessions);
      const current = text ?? null;
      if (!(await values.put(listKey, JSON.stringify([...open, key]), absoluteMs, { current }))) continue;
      for (const oldest of excess) await values.delete(oldest);
      return;
    }
  }

  async function end(request: FastifyRequest): Promise<void> {
    const token = tokenOf(request);
    if (token !== undefined) await values.delete(keyOf(token));
  }

  async function openSessions({ account, key: own }: Session): Promise<{ key: string; stored: StoredSession }[]> {
    const keys = new Set(account === null ? [] : keysOf(await values.get(listKeyOf(account))));
    const open: { key: string; stored: StoredSession }[] = [];
    for (const key of keys.add(own)) {
      const text = await values.get(key);
      const stored = text === undefined ? undefined : (JSON.parse(text) as StoredSession);
      if (stored && !hasExpired(stored, clock()) && known(stored) !== undefined) open.push({ key, stored });
    }
    return open;
  }

  return {
    async start(request, reply, subject) {
      await end(request);
      const token = randomBytes(tokenBytes).toString('hex');
      const nowMs = clock();
      const userAgent = request.headers['user-agent']?.slice(0, maxUserAgentCharacters) ?? null;
      const stored: StoredSession = { ...storedSubject(subject), startedAtMs: nowMs, usedAtMs: nowMs, userAgent };
      await values.put(keyOf(token), JSON.stringify(stored), ttlMs(stored, nowMs), { current: null });
      if ('account' in subject) await note(subject.account, keyOf(token));
      setSessionCookie(reply, token, isSecure(request), Math.floor(absoluteMs / 1_000));
      return sessionOf(keyOf(token), stored);
    },
    async end(request, reply) {
      await end(request);
      clearSessionCookie(reply, isSecure(request));
    },
    async find(request) {
      const token = tokenOf(request);
      if (token === undefined) return undefined;
      const key = keyOf(token);
      const text = await values.get(key);
      if (text === undefined) return undefined;
      const stored = JSON.parse(text) as StoredSession;
      const nowMs = clock();
      if (hasExpired(stored, nowMs)) return undefined;
      // Another node may just have created the account or changed its password.
      if (known(stored) === undefined) await catchUp?.();
      if (known(stored) === undefined) return undefined;
      await renew(key, text, stored, nowMs);
      return sessionOf(key, stored);
    },
    async list(session) {
      const listed: ListedSession[] = [];
      for (const { key, stored } of await openSessions(session)) {
        const { startedAtMs, usedAtMs, userAgent = null } = stored;
        const isCurrent = key === session.key;
        const expiresAtMs = startedAtMs + absoluteMs;
        listed.push({ id: idOf(key), isCurrent, userAgent, startedAtMs, usedAtMs, expiresAtMs });
      }
      return listed.sort((one, other) => other.startedAtMs - one.startedAtMs || (one.id < other.id ? -1 : 1));
    },
    async endListed(session, id) {
      const found = (await openSessions(session)).find(({ key }) => idOf(key) === id);
      if (found !== undefined) await values.delete(found.key);
      return found !== undefined;
    },
  };
}

/** Returns the role of a session in a project; undefined: none. */
export function roleIn(session: Session, project: ProjectRecord): Role | undefined {
  const { account } = session;
  if (account === null) return session.project === project._id ? 'owner' : undefined;
  return project.members?.find(
    (member) => member.account === account._id && member.accountCreatedAt === account.createdAt,
  )?.role;
}
