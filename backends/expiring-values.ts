/** Limits that every implementation of ExpiringValues checks. */
import { maxExpiringKeyBytes, maxExpiringValueBytes } from '../pipeline/ports.js';

/** Throws RangeError when a key, a value or a time to live is outside its limits. */
export function checkExpiring(key: string, value: string, ttlMs: number): void {
  checkExpiringKey(key);
  const valueBytes = Buffer.byteLength(value);
  if (valueBytes > maxExpiringValueBytes)
    throw new RangeError(`a value has ${valueBytes} bytes: at most ${maxExpiringValueBytes} are stored`);
  if (!(Number.isSafeInteger(ttlMs) && ttlMs > 0)) throw new RangeError(`${ttlMs} ms is not a time to live`);
}

/** Throws RangeError when a key, a time to live or an amount of a counter is outside its limits. */
export function checkIncrement(key: string, ttlMs: number, amount: number): void {
  checkExpiring(key, '', ttlMs);
  if (!(Number.isSafeInteger(amount) && amount > 0)) throw new RangeError(`${amount} is not a positive integer`);
}

/** Throws RangeError when a key is empty or too long. */
export function checkExpiringKey(key: string): void {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > maxExpiringKeyBytes)
    throw new RangeError(`a key has ${bytes} bytes: it must have 1 to ${maxExpiringKeyBytes}`);
}
