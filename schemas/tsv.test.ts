import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestAnalytics } from '../pipeline/stages/testing/analytics.js';
import { nullable, RowText, rowText, text, texts, time } from './tsv.js';

let analytics: Awaited<ReturnType<typeof openTestAnalytics>>;
beforeAll(async () => {
  analytics = await openTestAnalytics();
  await analytics.command(
    `CREATE TABLE samples (
       id UInt32, word String, words Array(String), number Nullable(Float64), flag Bool, at DateTime64(3, 'UTC')
     ) ENGINE = MergeTree ORDER BY id`,
  );
});
afterAll(() => analytics.close());

const columns = ['id', 'word', 'words', 'number', 'flag', 'at'];
const unit = fc.oneof(
  fc.constantFrom('\\', '\t', '\n', '\r', "'", '"', '\0', '\b', 'N', ','),
  fc.string({ unit: 'grapheme', maxLength: 1 }),
);
const word = fc.string({ unit, maxLength: 8 });
const sample = fc.record({
  word,
  words: fc.array(word, { maxLength: 3 }),
  number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: null }),
  flag: fc.boolean(),
  at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
});

test('reads back values of every type unchanged', async () => {
  const samples = fc.sample(sample, { numRuns: 2_000, seed: 5 }).map((one, id) => ({ id, ...one }));
  const rows = samples.map((one) =>
    [one.id, text(one.word), texts(one.words), nullable(one.number), one.flag, time(one.at)].join('\t'),
  );
  await analytics.insert('samples', rowText(columns, rows));
  const stored = await analytics.query('SELECT * EXCEPT at, toUnixTimestamp64Milli(at) AS at FROM samples ORDER BY id');
  // JSON has no negative zero.
  expect(stored).toEqual(samples.map((one) => ({ ...one, number: one.number === 0 ? 0 : one.number })));
});

test('takes buffered rows once, however many', () => {
  const waiting = new RowText(['a', 'b']);
  for (let row = 0; row < 50_000; row++) waiting.add(`${row}\té`);
  expect(waiting.size).toBe(50_000);
  const { rows, size } = waiting.take();
  expect([size, waiting.size]).toEqual([50_000, 0]);
  const lines = rows.toString().split('\n');
  expect(lines).toHaveLength(50_002);
  expect([lines[0], lines[1], lines[50_000], lines[50_001]]).toEqual(['a\tb', '0\té', '49999\té', '']);
  expect(waiting.take()).toEqual({ rows: Buffer.from('a\tb\n'), size: 0 });
});
