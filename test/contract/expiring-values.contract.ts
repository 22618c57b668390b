/** The contract of every ExpiringValues. */
import { describe, expect, test } from 'vitest';
import { type ExpiringValues, maxExpiringKeyBytes, maxExpiringValueBytes } from '../../pipeline/ports.js';
import { hourMs } from '../../schemas/durations.js';
import { until } from '../../testing/until.js';

/** `open` opens the same place for data, also again after a close. */
export interface ExpiringValuesSite {
  open(): Promise<{ readonly values: ExpiringValues; close(): Promise<void> }>;
  remove(): Promise<void>;
}

const absent = { current: null };

/** Defines the tests of the contract for one implementation. `site` makes a new place for each test. */
export function describeExpiringValuesContract(name: string, site: () => Promise<ExpiringValuesSite>): void {
  async function onValues(use: (values: ExpiringValues, place: ExpiringValuesSite) => Promise<void>): Promise<void> {
    const place = await site();
    const { values, close } = await place.open();
    try {
      await use(values, place);
    } finally {
      await close();
      await place.remove();
    }
  }

  describe(`${name}: expiring values`, () => {
    test('a value is stored under its key until it is replaced or deleted', () =>
      onValues(async (values) => {
        expect(await values.get('a')).toBeUndefined();
        expect(await values.put('a', 'é 1', hourMs)).toBe(true);
        expect(await values.put('{b}.c', '', hourMs)).toBe(true);
        expect(await Promise.all([values.get('a'), values.get('{b}.c'), values.get('b')])).toEqual([
          'é 1',
          '',
          undefined,
        ]);
        await values.put('a', '2', hourMs);
        expect(await values.get('a')).toBe('2');
        await values.delete('a');
        await values.delete('a');
        expect(await values.get('a')).toBeUndefined();
      }));

    test('a value is stored only if the current one is as expected, or the same already', () =>
      onValues(async (values) => {
        expect(await values.put('a', '1', hourMs, { current: '0' })).toBe(false);
        expect(await values.put('a', '1', hourMs, absent)).toBe(true);
        expect(await values.put('a', '1', hourMs, absent)).toBe(true);
        expect(await values.put('a', '2', hourMs, absent)).toBe(false);
        expect(await values.put('a', '2', hourMs, { current: '1' })).toBe(true);
        expect(await values.put('a', '3', hourMs, { current: '1' })).toBe(false);
        expect(await values.get('a')).toBe('2');
        await values.delete('a', { current: '1' });
        expect(await values.get('a')).toBe('2');
        await values.delete('a', { current: '2' });
        expect(await values.get('a')).toBeUndefined();
      }));

    test('of those who compete for a key one wins', () =>
      onValues(async (values) => {
        const offers = Array.from({ length: 20 }, (_, i) => `${i}`);
        const won = await Promise.all(offers.map((offer) => values.put('a', offer, hourMs, absent)));
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await values.get('a')).toBe(offers[won.indexOf(true)]);
      }));

    test('a counter counts every call', () =>
      onValues(async (values) => {
        const counts = await Promise.all(Array.from({ length: 20 }, () => values.increment('a', hourMs)));
        expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
        expect(await values.get('a')).toBe('20');
        await values.delete('a');
        expect(await values.increment('a', hourMs)).toBe(1);
      }));

    test('a counter adds amounts, and expires after the time of its first', () =>
      onValues(async (values) => {
        const amounts = [5, 1, 2 ** 40];
        const counts = [];
        for (const amount of amounts) counts.push(await values.increment('a', hourMs, amount));
        expect(counts).toEqual([5, 6, 2 ** 40 + 6]);
        await values.increment('b', 50, 7);
        await until(async () => (await values.increment('b', hourMs, 7)) === 7);
        for (const amount of [0, -1, 1.5, Number.NaN])
          await expect(values.increment('a', hourMs, amount)).rejects.toThrow(RangeError);
      }));

    test('a value expires, and its key is free again; a counter expires after the time of its first call', () =>
      onValues(async (values) => {
        await values.put('a', '1', 50);
        await until(() => values.put('a', '2', hourMs, absent));
        await values.put('a', '3', 50, { current: '2' });
        await until(async () => (await values.get('a')) === undefined);
        await values.increment('b', 50);
        await until(async () => (await values.increment('b', hourMs)) === 1);
      }));

    test('a repetition of its holder renews a value that others only get when there is none', () =>
      onValues(async (values) => {
        await Promise.all(['a', 'b'].map((key) => values.put(key, '1', 200, absent)));
        expect(await values.put('a', '1', hourMs, absent)).toBe(true);
        await until(async () => (await values.get('b')) === undefined);
        expect(await values.put('a', '2', hourMs, absent)).toBe(false);
        expect(await values.get('a')).toBe('1');
      }));

    test('values survive a reopen', async () => {
      const place = await site();
      const first = await place.open();
      await first.values.put('a', '1', hourMs);
      await first.close();
      const second = await place.open();
      expect(await second.values.get('a')).toBe('1');
      await second.close();
      await place.remove();
    });

    test('keys, values and times outside their limits are refused', () =>
      onValues(async (values) => {
        const longKey = 'k'.repeat(maxExpiringKeyBytes);
        const longValue = 'v'.repeat(maxExpiringValueBytes);
        expect(await values.put(longKey, longValue, hourMs)).toBe(true);
        expect(await values.get(longKey)).toBe(longValue);
        await expect(values.put('a', `${longValue}v`, hourMs)).rejects.toThrow(RangeError);
        for (const key of ['', `${longKey}k`]) {
          await expect(values.get(key)).rejects.toThrow(RangeError);
          await expect(values.put(key, '1', hourMs)).rejects.toThrow(RangeError);
          await expect(values.increment(key, hourMs)).rejects.toThrow(RangeError);
          await expect(values.delete(key)).rejects.toThrow(RangeError);
        }
        for (const ttlMs of [0, -1, 1.5, Number.NaN]) {
          await expect(values.put('a', '1', ttlMs)).rejects.toThrow(RangeError);
          await expect(values.increment('a', ttlMs)).rejects.toThrow(RangeError);
        }
      }));
  });
}
