import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { RequestBatcher } from './request-batcher.js';

/** Requests that the test ends. */
function heldRequests() {
  const sent: { items: readonly number[]; end: (error?: Error) => void }[] = [];
  const batcher = new RequestBatcher<number, string>({
    isFull: (items) => items.length === 3,
    send: (items) =>
      new Promise((resolve, reject) => {
        const answers = items.map((item) => `answer to ${item}`);
        sent.push({ items, end: (error) => (error === undefined ? resolve(answers) : reject(error)) });
      }),
  });
  const expectSent = (expected: number[][]) =>
    vi.waitFor(() => expect(sent.map(({ items }) => items)).toEqual(expected), { timeout: 120_000 });
  return { batcher, sent, expectSent };
}

describe('request batcher', () => {
  test('sends one request at a time and makes the items of the next when it is sent', async () => {
    const { batcher, sent, expectSent } = heldRequests();
    let latest = 0;
    const first = [batcher.add(() => 1), batcher.add(() => 2)];
    await expectSent([[1, 2]]);
    const second = batcher.add(() => latest);
    await nextTurn();
    await expectSent([[1, 2]]);
    latest = 7;
    sent[0]!.end();
    expect(await Promise.all(first)).toEqual(['answer to 1', 'answer to 2']);
    await expectSent([[1, 2], [7]]);
    sent[1]!.end();
    expect(await second).toBe('answer to 7');
  });

  test('keeps items beyond a full request for the next one', async () => {
    const { batcher, sent, expectSent } = heldRequests();
    const all = [1, 2, 3, 4].map((item) => batcher.add(() => item));
    await expectSent([[1, 2, 3]]);
    sent[0]!.end();
    await expectSent([[1, 2, 3], [4]]);
    sent[1]!.end();
    expect(await all[3]).toBe('answer to 4');
  });

  test('rejects all items of a failed request, and no others', async () => {
    const { batcher, sent, expectSent } = heldRequests();
    const lost = [batcher.add(() => 1), batcher.add(() => 2)];
    await expectSent([[1, 2]]);
    const next = batcher.add(() => 3);
    sent[0]!.end(new Error('connection lost'));
    expect(await Promise.allSettled(lost)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await expectSent([[1, 2], [3]]);
    sent[1]!.end();
    expect(await next).toBe('answer to 3');
  });
});
