/** Keys: made once, kept as SHA-256, and looked up again when a request presents one. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import type { Environment } from '../../schemas/json/common.js';
import type { KeyKind, KeyRecord } from '../../schemas/json/project.js';

/** Whose request it is: everything that it reads or writes is of this project and environment. */
export interface Caller extends Scope {
  readonly kind: KeyKind;
  /** Prefix and last characters: tells keys apart in logs without giving them away. */
  readonly keyHint: string;
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const maxKeyCharacters = 200;

/** A fresh key, `prj_test_sk_` and 40 hex digits (160 random bits), and the record that is kept of it. */
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

/** Is this the text whose SHA-256 was given? Takes the same time for every wrong text. */
export function matchesSha256(text: string, expectedHex: string): boolean {
  const expected = Buffer.from(expectedHex, 'hex');
  return expected.length === 32 && timingSafeEqual(sha256(text), expected);
}

export interface KeyRing {
  /**
   * Undefined for a key that is unknown or revoked. Of a key that this node doesn't know it finds out first whether
   * another node has made it meanwhile, and
   * rejects when it can't.
   */
  callerOf(key: string): Promise<Caller | undefined>;
}

/** As {@link newKey} makes them: for others nobody is asked. */
const keyPattern = /^prj_(test|live)_(pk|sk)_[0-9a-f]{40}$/;

/** Between two times that this node catches up because of unknown keys, whoever presents them. */
const catchUpEveryMs = 50;

/**
 * The keys of all projects, by their SHA-256: the table is made anew when the configuration has changed.
 * @param catchUp resolves when the configuration shows every change that was acknowledged before the call; absent
 * where it always does.
 */
export function createKeyRing(configuration: ConfigurationReader, catchUp?: () => Promise<void>): KeyRing {
  const shareCatchUp = catchUp && shared(catchUp, catchUpEveryMs);
  let version = -1;
  let callers = new Map<string, { sha256: Buffer; caller: Caller }>();

  function refresh(): void {
    if (version === configuration.version) return;
    version = configuration.version;
    callers = new Map();
    for (const project of configuration.projects()) {
      for (const key of project.keys) {
        const caller = { project: project._id, environment: key.environment, kind: key.kind, keyHint: key.hint };
        callers.set(key.sha256, { sha256: Buffer.from(key.sha256, 'hex'), caller });
      }
    }
  }

  function known(key: string): Caller | undefined {
    refresh();
    const presented = sha256(key);
    const found = callers.get(presented.toString('hex'));
    return found && timingSafeEqual(found.sha256, presented) ? found.caller : undefined;
  }

  return {
    async callerOf(key) {
      if (key.length > maxKeyCharacters) return undefined;
      const caller = known(key);
      if (caller !== undefined || shareCatchUp === undefined || !keyPattern.test(key)) return caller;
      await shareCatchUp();
      return known(key);
    },
  };
}

/** Runs the work for all who ask before it begins; it begins at most once in `everyMs` and never twice at a time. */
function shared(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  let startedAtMs = Number.NEGATIVE_INFINITY;

  async function runNext(): Promise<void> {
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
