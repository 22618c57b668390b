/**
 * ExpiringValues on LMDB: values by key, and keys by the time at which they expire. Each change removes some expired
 * values, and a periodic sweep the rest. A counter of bytes limits the total.
 */
import { PortError } from '../../pipeline/errors.js';
import type { ExpiringValues } from '../../pipeline/ports.js';
import { checkExpiring, checkExpiringKey, checkIncrement } from '../expiring-values.js';
import { numberOf, numberValue } from './keys.js';
import type { Storage } from './storage.js';

/** Expiring values on disk. Expired ones are not returned; `sweep` frees their space. */
export interface EmbeddedExpiringValues extends ExpiringValues {
  /** Removes all expired values. */
  sweep(): Promise<void>;
}

interface ExpiringValuesOptions {
  /** Begins the names of the tables. Spaces have limits of their own, so a full one leaves the others alone. */
  readonly space?: 'expiring' | 'answers';
  /** Limit of all keys and values, in bytes. Default 1 GiB. */
  readonly maxTotalBytes?: number;
  /** Epoch ms. */
  readonly clock?: () => number;
}

const defaultMaxTotalBytes = 2 ** 30;
/** Expired values that one change removes: more than it adds, so that they do not pile up. */
const maxExpiredPerChange = 20;
const retryAfterS = 60;
const noValue = Buffer.alloc(0);
const totalKey = Buffer.from('total');

/** `[expiresAt f64][text]` */
const timeBytes = 8;
const expiryOf = (stored: Buffer): number => stored.readDoubleBE(0);
const textOf = (stored: Buffer): string => stored.toString('utf8', timeBytes);

/** `[expiresAt f64][key]` */
const timeKeyOf = (key: Buffer, stored: Buffer): Buffer => Buffer.concat([stored.subarray(0, timeBytes), key]);

const bytesOf = (key: Buffer, stored: Buffer | null | undefined): number => (stored ? key.length + stored.length : 0);

type Change<T> = { readonly result: T; readonly next?: Buffer | null };

/**
 * Creates the store in a storage that the caller opens and closes. Beyond the limit, `put` rejects with PortError
 * `overloaded`.
 */
export function createExpiringValues(
  { deliveryEnvironment }: Storage,
  { space = 'expiring', maxTotalBytes = defaultMaxTotalBytes, clock = Date.now }: ExpiringValuesOptions = {},
): EmbeddedExpiringValues {
  const values = deliveryEnvironment.table(`${space}-values`);
  const times = deliveryEnvironment.table(`${space}-times`);
  const totals = deliveryEnvironment.table(`${space}-totals`);

  /** Replaces a value, or deletes it with null, in a transaction. Returns the change of the total bytes. */
  function replace(key: Buffer, old: Buffer | undefined, next: Buffer | null): number {
    if (old !== undefined) times.removeSync(timeKeyOf(key, old));
    if (next === null) values.removeSync(key);
    else {
      values.putSync(key, next);
      times.putSync(timeKeyOf(key, next), noValue);
    }
    return bytesOf(key, next) - bytesOf(key, old);
  }

  /** Removes expired values, in a transaction. Returns their number and the change of the total bytes. */
  function removeExpired(nowMs: number, limit: number): { readonly count: number; readonly bytes: number } {
    // Times are whole milliseconds.
    const range = { end: numberValue(Math.floor(nowMs) + 1), limit };
    const expired = Array.from(times.getKeys(range), (key) => Buffer.from(key));
    let bytes = 0;
    for (const timeKey of expired) {
      const key = timeKey.subarray(timeBytes);
      bytes += replace(key, values.getBinary(key), null);
    }
    return { count: expired.length, bytes };
  }

  /** Runs `decide` on the current value, and stores what it returns. Undefined: the store is full. */
  async function change<T>(key: string, decide: (current: Buffer | undefined, nowMs: number) => Change<T>): Promise<T> {
    const storedKey = Buffer.from(key);
    const outcome = await deliveryEnvironment.attempt((): { readonly result: T } | undefined => {
      const nowMs = clock();
      let total = (numberOf(totals.getBinary(totalKey)) ?? 0) + removeExpired(nowMs, maxExpiredPerChange).bytes;
      const stored = values.getBinary(storedKey);
      const current = stored !== undefined && expiryOf(stored) > nowMs ? stored : undefined;
      const { result, next } = decide(current, nowMs);
      const addedBytes = bytesOf(storedKey, next) - bytesOf(storedKey, stored);
      const isFull = addedBytes > 0 && next != null && total + addedBytes > maxTotalBytes;
      if (next !== undefined && !isFull) total += replace(storedKey, stored, next);
      totals.putSync(totalKey, numberValue(total));
      return isFull ? undefined : { result };
    });
    if (outcome === undefined) throw new PortError('overloaded', 'too many values are stored', { retryAfterS });
    return outcome.result;
  }

  const encode = (value: string, expiresAtMs: number): Buffer =>
    Buffer.concat([numberValue(expiresAtMs), Buffer.from(value)]);

  return {
    async get(key) {
      checkExpiringKey(key);
      deliveryEnvironment.refresh();
      const stored = values.getBinary(Buffer.from(key));
      return stored !== undefined && expiryOf(stored) > clock() ? textOf(stored) : undefined;
    },
    async put(key, value, ttlMs, condition) {
      checkExpiring(key, value, ttlMs);
      return change(key, (current, nowMs): Change<boolean> => {
        const text = current && textOf(current);
        const isRefused = condition !== undefined && text !== (condition.current ?? undefined) && text !== value;
        return isRefused ? { result: false } : { result: true, next: encode(value, nowMs + ttlMs) };
      });
    },
    async increment(key, ttlMs, amount = 1) {
      checkIncrement(key, ttlMs, amount);
      return change(key, (current, nowMs) => {
        const count = (current === undefined ? 0 : Number(textOf(current))) + amount;
        return { result: count, next: encode(`${count}`, current === undefined ? nowMs + ttlMs : expiryOf(current)) };
      });
    },
    async delete(key, condition) {
      checkExpiringKey(key);
      await change(key, (current) =>
        condition === undefined || (current && textOf(current)) === condition.current
          ? { result: undefined, next: null }
          : { result: undefined },
      );
    },
    async sweep() {
      const removeSome = (): number => {
        const { count, bytes } = removeExpired(clock(), maxExpiredPerChange);
        if (count > 0) totals.putSync(totalKey, numberValue((numberOf(totals.getBinary(totalKey)) ?? 0) + bytes));
        return count;
      };
      while ((await deliveryEnvironment.transaction(removeSome)) > 0);
    },
  };
}
