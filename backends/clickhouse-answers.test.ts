import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rowsInTurns } from './clickhouse-answers.js';

const rowOf = (value: object) => {
  const text = JSON.stringify(value);
  return { text, json: () => JSON.parse(text) };
};

async function* chunksOf(...chunks: object[][]) {
  for (const chunk of chunks) yield chunk.map(rowOf);
}

test('rows of a result are those of its chunks, in order', async () => {
  expect(await rowsInTurns(chunksOf([{ a: 1 }, { a: 2 }], [], [{ a: 3 }]))).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
});

// The embedded engine returns a result in one chunk. One of 80 MB was parsed in one turn of the event loop.
test('a large result leaves turns to other work, however many are read', async () => {
  const rows = Array.from({ length: 100 }, () => ({ a: 'x'.repeat(50_000) }));
  let read = 0;
  const reading = Array.from({ length: 5 }, () =>
    rowsInTurns(chunksOf(rows)).then(() => {
      read += 1;
    }),
  );
  let turns = 0;
  while (read < 5) {
    await setImmediate();
    turns += 1;
  }
  await Promise.all(reading);
  expect(turns).toBeGreaterThan((5 * 100 * 50_000) / 160_000);
});

test('a result that nobody waits for is not read to its end', async () => {
  const leaving = new AbortController();
  let parsed = 0;
  const row = { text: 'x'.repeat(100_000), json: () => parsed++ };
  const reading = rowsInTurns(
    (async function* () {
      yield Array.from({ length: 100 }, () => row);
    })(),
    leaving.signal,
  );
  leaving.abort(new Error('left'));
  await expect(reading).rejects.toThrow('left');
  expect(parsed).toBeLessThan(5);
});
