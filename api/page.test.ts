import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pageText } from './page.js';

const never = new AbortController().signal;
const meta = { code: 200, hasMore: false };

test('a page is the JSON of its records', async () => {
  const pages: unknown[][] = [[], [1], [{ a: 'ä"' }, { b: [null, 1.5] }]];
  for (const items of pages) {
    const text = await pageText({ meta, name: 'geofences', items, text: JSON.stringify }, never);
    expect(text).toBe(JSON.stringify({ meta, geofences: items }));
  }
});

// Forty pages of 20 MB stopped all other requests for 26 seconds.
test('large pages leave turns to other requests, however many are made', async () => {
  const items = Array.from({ length: 50 }, (_, i) => `${i}`.repeat(50_000));
  let made = 0;
  const making = Array.from({ length: 20 }, () =>
    pageText({ meta, name: 'geofences', items, text: JSON.stringify }, never).then(() => {
      made += 1;
    }),
  );
  let turns = 0;
  while (made < 20) {
    await setImmediate();
    turns += 1;
  }
  await Promise.all(making);
  // Each turn makes a part of one page.
  expect(turns).toBeGreaterThan((20 * 50 * 50_000) / 150_000);
});

test('a page that nobody waits for is not made to its end', async () => {
  const leaving = new AbortController();
  let made = 0;
  const making = pageText(
    {
      meta,
      name: 'geofences',
      items: Array.from({ length: 100 }, () => 'x'.repeat(100_000)),
      text: (item) => {
        made += 1;
        if (made === 10) leaving.abort(new Error('left'));
        return item;
      },
    },
    leaving.signal,
  );
  await expect(making).rejects.toThrow('left');
  expect(made).toBeLessThan(15);
});

test('a page of more than 64 MiB is refused before it is made', async () => {
  let made = 0;
  const text = (item: string) => {
    made += 1;
    return item;
  };
  const items = Array.from({ length: 1_000 }, () => 'x'.repeat(2 ** 20));
  await expect(pageText({ meta, name: 'users', items, text }, never)).rejects.toMatchObject({
    code: 'query_too_large',
    message: 'the answer has more than 64 MiB: choose a smaller `limit`',
  });
  expect(made).toBe(65);
});
