/**
 * Hashes passwords with scrypt, one at a time per process.
 *
 * scrypt is in node:crypto, so it needs no native package; argon2id would (decision 036). Node hashes on its pool of
 * four threads, which also writes files and the log of an embedded node. One hash at a time leaves three of them.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError, invalid, type Validated } from '../../schemas/errors.js';

/** scrypt's parameters; memory is 128 × N × r bytes. */
export interface PasswordCost {
  /** The base-2 logarithm of N. */
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** From the OWASP Password Storage Cheat Sheet: 32 MiB per hash, as strong as N = 2^17 with p = 1 and 128 MiB. */
export const recommendedCost: PasswordCost = { logN: 15, r: 8, p: 3 };

/** Hashes passwords with scrypt, one at a time, so that other work of Node's thread pool goes on. */
export interface Passwords {
  /** Throws `overloaded` when too many hashes wait. */
  hash(password: string): Promise<string>;
  /**
   * Returns whether the hash is that of the password. Without a hash it computes one as well and returns false, so that
   * an unknown address takes the same work.
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Returns whether the hash was made with the present parameters. */
  isCurrent(hash: string): boolean;
}

const minPasswordCharacters = 12;
const maxPasswordCharacters = 256;
const hashBytes = 32;
const saltBytes = 16;
const defaultMaxWaiting = 32;
const retryAfterS = 5;

/** Computes one scrypt hash in the thread pool of Node. */
export const scryptOf = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Equal texts may have several Unicode forms; keyboards differ in which one they send. */
const normalized = (password: string): string => password.normalize('NFKC');

/** Checks a new password. Length is the only rule of form (NIST SP 800-63B); the address is the first guess. */
export function checkNewPassword(password: string, email: string): Validated<string> {
  if (!password.isWellFormed()) return invalid('password', 'must be well-formed text');
  const { length } = [...normalized(password)];
  if (length < minPasswordCharacters || password.length > maxPasswordCharacters)
    return invalid('password', `must have ${minPasswordCharacters} to ${maxPasswordCharacters} characters`);
  if (password.toLowerCase().includes(email.toLowerCase()))
    return invalid('password', 'must not contain the mail address');
  return { ok: true, value: password };
}

interface Hash extends PasswordCost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const format = ({ logN, r, p, salt, hash }: Hash): string =>
  `$scrypt$ln=${logN},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;

function parse(text: string): Hash {
  const [, logN, r, p, salt, hash] = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/.exec(text) ?? [];
  if (hash === undefined || salt === undefined) throw new Error('a stored password hash has an unknown form');
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  return { ...cost, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}

/** Twice what scrypt needs: Node compares with less than it uses. */
const maxmem = ({ logN, r, p }: PasswordCost): number => 2 * 128 * r * (2 ** logN + p);

/** Creates the hashing of passwords, one hash at a time. Throws `overloaded` when more than `maxWaiting` wait. */
export function createPasswords(
  options: {
    readonly cost?: PasswordCost;
    readonly maxWaiting?: number;
    /** Computes one hash. Default: scrypt. */
    readonly derive?: typeof scryptOf;
  } = {},
): Passwords {
  const { cost = recommendedCost, maxWaiting = defaultMaxWaiting, derive = scryptOf } = options;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function compute(password: string, { logN, r, p, salt }: Omit<Hash, 'hash'>): Promise<Buffer> {
    if (waiting > maxWaiting)
      throw new ApiError('overloaded', 'too many passwords wait to be checked', { retryAfterS });
    waiting++;
    const parameters = { N: 2 ** logN, r, p, maxmem: maxmem({ logN, r, p }) };
    const mine = last.then(() => derive(normalized(password), salt, hashBytes, parameters));
    last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      waiting--;
    }
  }
  const fresh = () => ({ ...cost, salt: randomBytes(saltBytes) });

  return {
    async hash(password) {
      const parameters = fresh();
      return format({ ...parameters, hash: await compute(password, parameters) });
    },
    async verify(password, stored) {
      const expected = stored === undefined ? { ...fresh(), hash: Buffer.alloc(hashBytes) } : parse(stored);
      const computed = await compute(password, expected);
      return timingSafeEqual(computed, expected.hash) && stored !== undefined;
    },
    isCurrent(stored) {
      const { logN, r, p } = parse(stored);
      return logN === cost.logN && r === cost.r && p === cost.p;
    },
  };
}
