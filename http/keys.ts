/** Keys: made once, kept as SHA-256, and looked up again when a request presents one. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ConfigurationReader, Scope } from '../pipeline/catalog/types.js';
import type { Environment } from '../schemas/json/common.js';
import type { KeyKind, KeyRecord } from '../schemas/json/project.js';

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
  const record = { environment, kind, sha256: sha256(key).toString('hex'), hint: `${prefix}…${key.slice(-4)}`, createdAt: nowMs };
  return { key, record };
}

/** Is this the text whose SHA-256 was given? Takes the same time for every wrong text. */
export function matchesSha256(text: string, expectedHex: string): boolean {
  const expected = Buffer.from(expectedHex, 'hex');
  return expected.length === 32 && timingSafeEqual(sha256(text), expected);
}

export interface KeyRing {
  /** Undefined for a key that is unknown or revoked. */
  callerOf(key: string): Caller | undefined;
}

/** The keys of all projects, by their SHA-256: the table is made anew when the configuration has changed. */
export function createKeyRing(configuration: ConfigurationReader): KeyRing {
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

  return {
    callerOf(key) {
      if (key.length > maxKeyCharacters) return undefined;
      refresh();
      const presented = sha256(key);
      const found = callers.get(presented.toString('hex'));
      return found && timingSafeEqual(found.sha256, presented) ? found.caller : undefined;
    },
  };
}
