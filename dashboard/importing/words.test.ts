import { describe, expect, it } from 'vitest';
import type { Import } from '../../client/types';
import { adviceOf, headlineOf } from './words';

const shown = (part: Partial<Import>): Import =>
  ({
    status: 'completed',
    dryRun: false,
    created: 0,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    lastLine: 0,
    ...part,
  }) as Import;

describe('an import in words', () => {
  it.each<[string, Partial<Import>]>([
    ['1 row applied', { created: 1 }],
    ['2,000 rows would change something', { dryRun: true, created: 1_999, updated: 1 }],
    ['Nothing changed', { unchanged: 3 }],
    ['Nothing would change', { dryRun: true, unchanged: 3 }],
    ['No row was applied', { rejected: 3 }],
    ['Stopped after line 7', { status: 'interrupted', lastLine: 7 }],
    ['The file was refused', { status: 'failed', failure: { line: 1, column: 'a', rule: 'is unknown' } }],
    ['It ended on line 9', { status: 'failed', failure: { line: 9, column: 'row', rule: 'is broken' } }],
  ])('says %s', (text, part) => {
    expect(headlineOf(shown(part))).toBe(text);
  });
});

// The file of bad rows was offered for correction, and the later ones were never heard of again.
it('regression: the advice says when the file of bad rows is not complete', () => {
  expect(adviceOf(shown({ rejected: 3 }))).toContain('import that file');
  expect(adviceOf(shown({ rejected: 99_999, rejectedFileCut: true }))).toContain('Correct your file itself');
});
