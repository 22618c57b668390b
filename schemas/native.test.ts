import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestAnalytics } from '../pipeline/stages/testing/analytics.js';
import {
  DoubleColumn,
  FlagColumn,
  IntegerColumn,
  NullableColumn,
  Rows,
  TextColumn,
  TextsColumn,
  TimeColumn,
} from './native.js';

let analytics: Awaited<ReturnType<typeof openTestAnalytics>>;
beforeAll(async () => {
  analytics = await openTestAnalytics();
  await analytics.command(
    `CREATE TABLE samples (
       id UInt32, small UInt8, kind LowCardinality(String), word String, copied String, words Array(String),
       copies Array(String), number Nullable(Float64), copy Float64, flag Bool, at DateTime64(3, 'UTC'),
       later Nullable(DateTime64(3, 'UTC')), noted String DEFAULT concat('note of ', word)
     ) ENGINE = MergeTree ORDER BY id`,
  );
});
afterAll(() => analytics.close());

const unit = fc.oneof(
  fc.constantFrom('\\', '\t', '\n', '\r', "'", '"', '\0', '\b', 'N', ','),
  fc.string({ unit: 'grapheme', maxLength: 1 }),
);
const word = fc.oneof(
  fc.string({ unit, maxLength: 8 }),
  fc.string({ minLength: 60, maxLength: 140 }),
  fc.string({ unit: 'grapheme', minLength: 120, maxLength: 130 }),
);
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const at = fc.integer({ min: Date.UTC(1925, 0, 1), max: Date.UTC(2200, 0, 1) });
const sample = fc.record({
  small: fc.nat(255),
  kind: fc.constantFrom('applied', 'stale'),
  word,
  words: fc.array(word, { maxLength: 3 }),
  number: fc.option(number, { nil: null }),
  copy: number,
  flag: fc.boolean(),
  at,
  later: fc.option(at, { nil: null }),
});

const newRows = () =>
  new Rows({
    // Not in the order of the table.
    word: new TextColumn(),
    id: new IntegerColumn(4),
    small: new IntegerColumn(1),
    kind: new TextColumn(),
    copied: new TextColumn(),
    words: new TextsColumn(),
    copies: new TextsColumn(),
    number: new NullableColumn(new DoubleColumn(), 0),
    copy: new DoubleColumn(),
    flag: new FlagColumn(),
    at: new TimeColumn(),
    later: new NullableColumn(new TimeColumn(), 0),
  });

type Sample = typeof sample extends fc.Arbitrary<infer Value> ? Value & { readonly id: number } : never;

/** Adds bytes from within a larger buffer. */
function addAll(rows: ReturnType<typeof newRows>, one: Sample): void {
  const { columns } = rows;
  const within = (text: string): [Buffer, number, number] => {
    const bytes = Buffer.from(`é${text}é`);
    return [bytes, 2, bytes.length - 2];
  };
  columns.id.add(one.id);
  columns.small.add(one.small);
  columns.kind.add(one.kind);
  columns.word.add(one.word);
  columns.copied.addBytes(...within(one.word));
  columns.words.add(one.words);
  for (const each of one.words) columns.copies.addText(...within(each));
  columns.copies.endList(one.words.length);
  columns.number.add(one.number);
  const double = Buffer.alloc(11);
  double.writeDoubleLE(one.copy, 3);
  columns.copy.addBytes(double, 3);
  columns.flag.add(one.flag);
  columns.at.add(one.at + 0.9);
  columns.later.add(one.later);
  rows.endRow();
}

test('the engine reads back values of every type, in several inserts of the same rows', async () => {
  const samples = fc.sample(sample, { numRuns: 3_000, seed: 5 }).map((one, id) => ({ id, ...one }));
  const rows = newRows();
  for (const [from, to] of [
    [0, 2_000],
    [2_000, 2_001],
    [2_001, 3_000],
  ]) {
    for (const one of samples.slice(from, to)) addAll(rows, one);
    expect(rows.size).toBe(to! - from!);
    const { rows: bytes, size } = rows.take();
    expect([size, rows.size]).toEqual([to! - from!, 0]);
    await analytics.insert('samples', bytes);
  }
  const stored = await analytics.query(
    `SELECT * EXCEPT (at, later), toUnixTimestamp64Milli(at) AS at, toUnixTimestamp64Milli(later) AS later
     FROM samples ORDER BY id`,
  );
  expect(stored).toEqual(
    samples.map((one) => ({
      ...one,
      copied: one.word,
      copies: one.words,
      noted: `note of ${one.word}`,
    })),
  );
});

test('no rows are no bytes', () => {
  expect(newRows().take()).toEqual({ rows: Buffer.alloc(0), size: 0 });
});

test('large rows give their memory back, and others keep it for the next ones', () => {
  class MeasuredColumn extends TextColumn {
    get heldBytes(): number {
      return this.bytes.data.length;
    }
  }
  const rows = new Rows({ large: new MeasuredColumn(), small: new MeasuredColumn() });
  rows.columns.large.add('x'.repeat(17 * 2 ** 20));
  rows.columns.small.add('x'.repeat(100_000));
  rows.endRow();
  rows.take();
  expect(rows.columns.large.heldBytes).toBeLessThan(10_000);
  expect(rows.columns.small.heldBytes).toBeGreaterThan(100_000);
});
