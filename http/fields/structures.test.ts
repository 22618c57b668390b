import { describe, expect, it } from 'vitest';
import { coordinatesField, jsonField, listField, metadataField, metadataFilter } from './structures.js';

const outcome = (result: ReturnType<typeof metadataField> | ReturnType<typeof coordinatesField>) =>
  result.ok ? result.value : `${result.problem.param}: ${result.problem.rule}`;

describe('metadata', () => {
  it.each([
    [undefined, null],
    ['', null],
    [null, null],
    [
      { a: 1, b: true, c: 'x', d: null },
      { a: 1, b: true, c: 'x' },
    ],
    ['{"a":1}', { a: 1 }],
    ['{"a":', 'metadata: must be valid JSON: column 6: expected a value, not the end'],
    ['text', 'metadata: must be an object of strings, numbers and booleans'],
    [[1], 'metadata: must be an object of strings, numbers and booleans'],
    [{ a: { b: 1 } }, 'metadata.a: must be a string, a number or a boolean'],
    [{ a: Number.NaN }, 'metadata.a: must be a string, a number or a boolean'],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, 'metadata: must have at most 4 keys'],
  ])('%j', (value, expected) => {
    expect(outcome(metadataField('metadata', value, 4))).toEqual(expected);
  });

  it('filters infer types and ignore what is no filter', () => {
    expect(metadataFilter({ a: 'true', b: '-1.5', c: '1a' })).toEqual({ a: true, b: -1.5, c: '1a' });
    expect(metadataFilter('[object Object]')).toBeUndefined();
    expect(metadataFilter(undefined)).toBeUndefined();
    expect(metadataFilter({ a: { b: 'c' } })).toBeUndefined();
  });
});

describe('coordinates', () => {
  it.each([
    ['40.5,-73.9', [-73.9, 40.5]],
    [' 1 , 2 ', [2, 1]],
    ['1', 'near: must be latitude,longitude'],
    ['1,', 'near: must be latitude,longitude'],
    ['1,2,3', 'near: must be latitude,longitude'],
    ['x,2', 'near: must be latitude,longitude'],
    ['91,2', 'near: latitude must be -90 to 90'],
    ['1,181', 'near: longitude must be -180 to 180'],
  ])('%s', (text, expected) => {
    expect(outcome(coordinatesField('near', text))).toEqual(expected);
  });
});

it('JSON inside a field and comma-separated lists', () => {
  expect(jsonField('coordinates', '[1,2]')).toEqual({ ok: true, value: [1, 2] });
  expect(jsonField('coordinates', '[1,').ok).toBe(false);
  expect(jsonField('name', 'plain')).toEqual({ ok: true, value: 'plain' });
  expect(listField(' a,,b ')).toEqual(['a', 'b']);
  expect(listField(' , ')).toBeUndefined();
});
