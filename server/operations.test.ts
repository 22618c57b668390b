import { describe, expect, it } from 'vitest';
import { sharingNext } from './operations.js';

/** Answers that a test makes by hand. */
function byHand() {
  const begun: { resolve(value: number): void; reject(error: Error): void }[] = [];
  const call = sharingNext(() => new Promise<number>((resolve, reject) => begun.push({ resolve, reject })));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, call, turn };
}

describe('what needs no key is computed for one caller at a time', () => {
  it('answers calls that came together at once', async () => {
    const { begun, call, turn } = byHand();
    const calls = [call(), call(), call()];
    await turn();
    expect(begun).toHaveLength(1);
    begun[0]!.resolve(1);
    expect(await Promise.all(calls)).toEqual([1, 1, 1]);
  });

  it('begins the answer to a call after the call', async () => {
    const { begun, call, turn } = byHand();
    const first = call();
    await turn();
    const later = [call(), call()];
    await turn();
    expect(begun).toHaveLength(1);
    begun[0]!.resolve(1);
    expect(await first).toBe(1);
    await turn();
    expect(begun).toHaveLength(2);
    begun[1]!.resolve(2);
    expect(await Promise.all(later)).toEqual([2, 2]);
  });

  it('begins the next answer after one that failed', async () => {
    const { begun, call, turn } = byHand();
    const failed = call();
    await turn();
    const next = call();
    begun[0]!.reject(new Error('a part does not answer'));
    await expect(failed).rejects.toThrow('a part does not answer');
    await turn();
    begun[1]!.resolve(2);
    expect(await next).toBe(2);
  });
});
