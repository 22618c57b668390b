import { expect, test } from 'vitest';
import { contradictions, type Edit } from './edits.js';

const edit = (value: string | null, begunAt: number, endedAt: number, fields: Partial<Edit> = {}): Edit => ({
  pair: 'a',
  value,
  begunAt,
  endedAt,
  outcome: 'applied',
  ...fields,
});
const after = (value: string | null, ...edits: Edit[]): number =>
  contradictions(edits, new Map(value === null ? [] : [['a', value]])).length;

test('the last of edits in sequence counts, and any of edits beside each other', () => {
  expect(after(null)).toBe(0);
  expect(after('x')).toBe(1);
  expect(after('y', edit('x', 1, 2), edit('y', 3, 4))).toBe(0);
  expect(after('x', edit('x', 1, 2), edit('y', 3, 4))).toBe(1);
  expect(after('x', edit('x', 1, 3), edit('y', 2, 4))).toBe(0);
  expect(after(null, edit('x', 1, 2))).toBe(1);
  expect(after(null, edit('x', 1, 3), edit(null, 2, 4))).toBe(0);
});

test('an edit without an answer may count, and a refused one never', () => {
  for (const value of ['x', 'y'])
    expect(after(value, edit('x', 1, 2), edit('y', 3, 4, { outcome: 'unknown' }))).toBe(0);
  expect(after('y', edit('x', 1, 2), edit('y', 3, 4, { outcome: 'refused' }))).toBe(1);
});

test('revisions grow, and an edit that requires one knows all earlier edits', () => {
  const first = edit('x', 1, 2, { revision: 7 });
  expect(after('y', first, edit('y', 3, 4, { revision: 8, readAt: 2.5 }))).toBe(0);
  expect(after('y', first, edit('y', 3, 4, { revision: 7 }))).toBe(1);
  expect(after('y', first, edit('y', 3, 4, { readAt: 0 }))).toBe(1);
});
