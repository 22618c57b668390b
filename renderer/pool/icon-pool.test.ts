import { afterEach, describe, expect, test } from 'vitest';
import { createIconPool, type IconPool, maxWaiting } from './icon-pool.js';

const problems: string[] = [];
let pool: IconPool | undefined;
afterEach(async () => {
  await pool?.close();
  problems.length = 0;
});

function open(): IconPool {
  pool = createIconPool({
    module: new URL('../testing/icon-process.mjs', import.meta.url),
    startTimeoutMs: 30_000,
    // A process that hangs is replaced, and the next one may take long to start on a busy machine.
    answerTimeoutMs: 60_000,
    onProblem: (reason) => problems.push(reason),
  });
  return pool;
}

const file = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('an icon that cannot be decoded is refused, cached as bad, and does not affect other icons', () => {
  test.each([
    ['hang', 'must take less than 3 s to draw', 1],
    ['crash', 'must take less memory to draw', 2],
  ])('%s', async (what, rule, replaced) => {
    const { rasterize } = open();
    const bad = rasterize('a', file(what), 1);
    const other = rasterize('b', file('fine'), 1);
    const verdict = { ok: false, problem: { param: 'icon', rule } };
    expect(await bad).toEqual(verdict);
    expect(await other).toMatchObject({ ok: true });
    expect(problems).toHaveLength(replaced);
    expect(await rasterize('b', file(what), 1)).toEqual(verdict);
    expect(problems).toHaveLength(replaced);
  });
});

test('a file is decoded once per scale for concurrent requests', async () => {
  const { rasterize } = open();
  const [one, same, larger] = await Promise.all([1, 1, 2].map((scale) => rasterize('a', file('fine'), scale)));
  expect(same).toBe(one);
  expect(larger).not.toBe(one);
  expect(await rasterize('b', file('fine'), 1)).toBe(one);
});

// The second owner got the refusal of the first, which gives way at the bound of waiting icons.
test('regression: a file that several owners wait for is refused to the one with too many', async () => {
  const { rasterize } = open();
  const many = Array.from({ length: maxWaiting - 1 }, (_, i) => rasterize('a', file(`fine ${i}`), 1));
  const refused = rasterize('a', file('fine'), 1);
  const same = rasterize('b', file('fine'), 1);
  const other = rasterize('c', file('other'), 1);
  const settled = await Promise.allSettled([refused, same, other, ...many]);
  expect(settled.slice(0, 3)).toMatchObject([
    { reason: { code: 'overloaded' } },
    { value: { ok: true } },
    { value: { ok: true } },
  ]);
});
