/** Keys: generated once, stored as SHA-256, and looked up for each request. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import type { Role } from '../../schemas/json/account.js';
import type { Environment } from '../../schemas/json/common.js';
import type { KeyKind, KeyRecord, ProjectRecord } from '../../schemas/json/project.js';

/** The owner of a request. Everything that the request reads or writes belongs to this project and environment. */
export interface Caller extends Scope {
  readonly kind: KeyKind;
  /** Prefix and last characters. They tell keys apart in logs without revealing them. */
  readonly keyHint: string;
  /** Origins of pages that may use the key; absent: all. */
  readonly allowedOrigins?: readonly string[];
  /** Present for the session of a browser, which acts like a secret key within its role. */
  readonly role?: Role;
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const maxKeyCharacters = 200;

/** Returns a new key, `prj_test_sk_` and 40 hex digits (160 random bits), and the record to store. */
export function newKey(environment: Environment, kind: KeyKind, nowMs: number): { key: string; record: KeyRecord } {
  const prefix = `prj_${environment}_${kind === 'secret' ? 'sk' : 'pk'}_`;
  const key = prefix + randomBytes(20).toString('hex');
  const record = {
    environment,
    kind,
    sha256: sha256(key).toString('hex'),
    hint: `${prefix}…${key.slice(-4)}`,
    createdAt: nowMs,
  };
  return { key, record };
}

/** Generated admin API keys begin with it. */
export const adminKeyPrefix = 'fenceline_admin_';

/** Returns whether the text is, or was, a key that must be in no URL. It need not be valid. */
export const looksSecret = (key: string): boolean => key.includes('_sk_') || key.startsWith(adminKeyPrefix);

/** Returns whether the text has the given SHA-256. Takes the same time for every wrong text. */
export function matchesSha256(text: string, expectedHex: string): boolean {
  const expected = Buffer.from(expectedHex, 'hex');
  return expected.length === 32 && timingSafeEqual(sha256(text), expected);
}

/** Finds the owners of API keys, of which only the hashes are known. */
export interface KeyRing {
  /**
   * Resolves to undefined for a key that is unknown or revoked. For a key that this node does not know, it first checks
   * whether another node has created it, and rejects when it cannot.
   */
  callerOf(key: string): Promise<Caller | undefined>;
  /** Returns whether this node knows the key, as of now. */
  isKnown(key: string): boolean;
  /** Resolves when this node knows every revocation that was acknowledged before, on any node. Else rejects. */
  catchUp(): Promise<void>;
}

/** The form of keys of {@link newKey}. Other text is refused without asking other nodes. */
const keyPattern = /^prj_(test|live)_(pk|sk)_[0-9a-f]{40}$/;

/** Least time between two catch-ups because of unknown keys, whoever sends them. */
const catchUpEveryMs = 50;

/** A key, and who calls with it. */
interface KnownKey {
  readonly sha256: Buffer;
  readonly caller: Caller;
}

const callersOf = (project: ProjectRecord): [hex: string, key: KnownKey][] =>
  project.keys.map((key) => {
    const { allowedOrigins } = project.settings[key.environment];
    const isRestricted = key.kind === 'publishable' && allowedOrigins !== undefined;
    const caller = {
      project: project._id,
      environment: key.environment,
      kind: key.kind,
      keyHint: key.hint,
      ...(isRestricted && { allowedOrigins }),
    };
    return [key.sha256, { sha256: Buffer.from(key.sha256, 'hex'), caller }];
  });

/**
 * Creates a table of the keys of all projects by their SHA-256. When projects change, only their keys are replaced: one
 * that changes its settings again and again must not cost the keys of all.
 * @param catchUp resolves when the configuration contains every change that was acknowledged before the call; absent
 * where it always does.
 */
export function createKeyRing(configuration: ConfigurationReader, catchUp?: () => Promise<void>): KeyRing {
  const shareCatchUp = catchUp && shared(catchUp, catchUpEveryMs);
  let version = -1;
  const callers = new Map<string, KnownKey>();
  /** The projects whose keys are in the table. */
  let known: ReadonlyMap<string, ProjectRecord> = new Map();

  function refresh(): void {
    if (version === configuration.projectsVersion) return;
    version = configuration.projectsVersion;
    const current = new Map(configuration.projects().map((project) => [project._id, project]));
    const outdated = [...known.values()].filter((project) => current.get(project._id) !== project);
    for (const { sha256 } of outdated.flatMap(({ keys }) => keys)) callers.delete(sha256);
    const changed = [...current.values()].filter((project) => known.get(project._id) !== project);
    for (const [sha256, key] of changed.flatMap(callersOf)) callers.set(sha256, key);
    known = current;
  }

  function find(key: string): Caller | undefined {
    refresh();
    const presented = sha256(key);
    const found = callers.get(presented.toString('hex'));
    return found && timingSafeEqual(found.sha256, presented) ? found.caller : undefined;
  }

  return {
    isKnown: (key) => find(key) !== undefined,
    catchUp: async () => shareCatchUp?.(),
    async callerOf(key) {
      if (key.length > maxKeyCharacters) return undefined;
      const caller = find(key);
      if (caller !== undefined || shareCatchUp === undefined || !keyPattern.test(key)) return caller;
      await shareCatchUp();
      return find(key);
    },
  };
}

/**
 * Shares one run of the work among all calls that arrive before it begins. It runs at most once in `everyMs` and never
 * twice at the same time.
 */
function shared(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  let startedAtMs = Number.NEGATIVE_INFINITY;

  async function runNext(): Promise<void> {
    // Its callers have the error.
    await running.catch(() => {});
    await delay(Math.max(0, startedAtMs + everyMs - performance.now()));
    next = undefined;
    startedAtMs = performance.now();
    running = work();
    await running;
  }
  return () => {
    next ??= runNext();
    return next;
  };
}
