/**
 * The store of sessions, which all nodes share. It holds the SHA-256 of a session's token, so that a copy of the store
 * opens no session. Every request reads it: a session ends everywhere at once.
 */
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import { isPortError } from '../../pipeline/errors.js';
import type { ExpiringValues } from '../../pipeline/ports.js';
import type { AccountRecord, Role } from '../../schemas/json/account.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import { sha256Hex } from '../../schemas/sha256.js';

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

/** A session as those see it who may end it. */
export interface ListedSession {
  /** Of no use to sign in. */
  readonly id: string;
  /** The project that it signed in to by a one-time link; null: it belongs to the account. */
  readonly project: string | null;
  readonly isCurrent: boolean;
  /** The name that the browser gives itself; null: none. */
  readonly userAgent: string | null;
  /** Epoch ms. */
  readonly startedAtMs: number;
  /** Epoch ms, up to a minute ago. */
  readonly usedAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * Sessions by their tokens, on all nodes. Only the hash of a token is stored. Methods reject with PortError
 * `unavailable` during an outage.
 */
export interface SessionStore {
  start(token: string, subject: Subject, userAgent: string | null): Promise<Session>;
  end(token: string): Promise<void>;
  /** Finds an open session, and keeps it for longer. Resolves to undefined if it has ended. */
  use(token: string): Promise<Session | undefined>;
  /**
   * Resolves to the open sessions of the session's account, and to those that began by a one-time link to a project
   * that it owns, newest first.
   */
  list(session: Session): Promise<ListedSession[]>;
  /** Ends a listed session. Resolves to false if there is none with this id. */
  endListed(session: Session, id: string): Promise<boolean>;
}

/** What the sessions of a node work with. */
export interface SessionStoreParts {
  readonly values: ExpiringValues;
  readonly configuration: Pick<ConfigurationReader, 'account' | 'project' | 'projects'>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Time without a request after which a session ends. */
  readonly idleMs: number;
  /** Time after which a session ends in any case. */
  readonly absoluteMs: number;
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

const idCharacters = 24;
const hintCharacters = 8;
/** Sessions of one account, and those of one-time links to one project. Beyond this number the oldest end. */
const maxSessions = 100;
/** A session in use is stored again at most this often. */
const minRenewalMs = 60_000;

const keyOf = (token: string): string => `session/${sha256Hex(token)}`;
const idOf = (key: string): string => key.slice(-idCharacters);
const hintOf = (key: string): string => `session …${key.slice(-hintCharacters)}`;

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

/**
 * Creates the session store. A session ends with its account or project, and with a change of the account's password.
 */
export function createSessionStore(parts: SessionStoreParts): SessionStore {
  const { values, configuration, clock, idleMs, absoluteMs, catchUp } = parts;
  const keyLists = createKeyLists(values, absoluteMs);

  /** Time to live of a session that is used at `nowMs`. */
  const ttlMs = ({ startedAtMs }: StoredSession, nowMs: number): number =>
    Math.min(idleMs, startedAtMs + absoluteMs - nowMs);

  const hasExpired = ({ startedAtMs, usedAtMs }: StoredSession, nowMs: number): boolean =>
    nowMs >= startedAtMs + absoluteMs || nowMs >= usedAtMs + idleMs;

  /** Whether the session's account or project exists, and the account still has the password of its start. */
  function isKnown(stored: StoredSession): boolean {
    if (stored.account === null) return configuration.project(stored.project ?? '') !== undefined;
    const account = configuration.account(stored.account);
    return account?.generation === stored.generation && account.createdAt === stored.accountCreatedAt;
  }

  const sessionOf = (key: string, stored: StoredSession): Session => ({
    account: stored.account === null ? null : (configuration.account(stored.account) ?? null),
    project: stored.project,
    key,
    hint: hintOf(key),
    expiresAtMs: stored.startedAtMs + absoluteMs,
    isOpen: async () => (await values.get(key)) !== undefined && isKnown(stored),
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

  /** Returns whose sessions a session may see and end. */
  function subjectsOf(session: Session): Subject[] {
    const byLink = ownedProjects(session, configuration).map(({ _id }) => ({ project: _id }));
    return session.account === null ? byLink : [{ account: session.account }, ...byLink];
  }

  async function openSessions(session: Session): Promise<{ key: string; stored: StoredSession }[]> {
    const keys = new Set<string>();
    for (const subject of subjectsOf(session)) for (const key of await keyLists.keys(subject)) keys.add(key);
    const open: { key: string; stored: StoredSession }[] = [];
    for (const key of keys.add(session.key)) {
      const text = await values.get(key);
      const stored = text === undefined ? undefined : (JSON.parse(text) as StoredSession);
      if (stored && !hasExpired(stored, clock()) && isKnown(stored)) open.push({ key, stored });
    }
    return open;
  }

  return {
    async start(token, subject, userAgent) {
      const key = keyOf(token);
      const nowMs = clock();
      const stored: StoredSession = { ...storedSubject(subject), startedAtMs: nowMs, usedAtMs: nowMs, userAgent };
      await values.put(key, JSON.stringify(stored), ttlMs(stored, nowMs), { current: null });
      await keyLists.add(subject, key);
      return sessionOf(key, stored);
    },
    end: (token) => values.delete(keyOf(token)),
    async use(token) {
      const key = keyOf(token);
      const text = await values.get(key);
      if (text === undefined) return undefined;
      const stored = JSON.parse(text) as StoredSession;
      const nowMs = clock();
      if (hasExpired(stored, nowMs)) return undefined;
      // Another node may just have created the account or changed its password.
      if (!isKnown(stored)) await catchUp?.();
      if (!isKnown(stored)) return undefined;
      await renew(key, text, stored, nowMs);
      return sessionOf(key, stored);
    },
    async list(session) {
      const listed = (await openSessions(session)).map(({ key, stored }): ListedSession => {
        const { project, startedAtMs, usedAtMs, userAgent = null } = stored;
        const isCurrent = key === session.key;
        const expiresAtMs = startedAtMs + absoluteMs;
        return { id: idOf(key), project, isCurrent, userAgent, startedAtMs, usedAtMs, expiresAtMs };
      });
      return listed.sort((one, other) => other.startedAtMs - one.startedAtMs || (one.id < other.id ? -1 : 1));
    },
    async endListed(session, id) {
      const found = (await openSessions(session)).find(({ key }) => idOf(key) === id);
      if (found !== undefined) await values.delete(found.key);
      return found !== undefined;
    },
  };
}

/** Keeps for each account, and for the one-time links of each project, the keys of their sessions, as JSON. */
function createKeyLists(values: ExpiringValues, keepMs: number) {
  const listKeyOf = (subject: Subject): string =>
    'account' in subject
      ? `sessions/${subject.account._id}/${subject.account.createdAt}`
      : `sessions/project/${subject.project}`;
  const keysOf = (text: string | undefined): string[] => (text === undefined ? [] : (JSON.parse(text) as string[]));

  return {
    keys: async (subject: Subject): Promise<string[]> => keysOf(await values.get(listKeyOf(subject))),

    /** Adds a session, and removes those that have ended. */
    async add(subject: Subject, key: string): Promise<void> {
      const listKey = listKeyOf(subject);
      for (;;) {
        const text = await values.get(listKey);
        const open: string[] = [];
        for (const listed of keysOf(text)) if ((await values.get(listed)) !== undefined) open.push(listed);
        const excess = open.splice(0, open.length + 1 - maxSessions);
        const current = text ?? null;
        if (!(await values.put(listKey, JSON.stringify([...open, key]), keepMs, { current }))) continue;
        for (const oldest of excess) await values.delete(oldest);
        return;
      }
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

/** Returns the projects that a session owns. */
export const ownedProjects = (
  session: Session,
  configuration: Pick<ConfigurationReader, 'projects'>,
): readonly ProjectRecord[] => configuration.projects().filter((project) => roleIn(session, project) === 'owner');
