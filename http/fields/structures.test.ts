import { describe, expect, it } from 'vitest';
import type { Validated } from '../../schemas/errors.js';
import { readLatitudeLongitude, readMetadata, readMetadataFilter, readPosition, readStructure } from './structures.js';

const outcome = (result: Validated<unknown>) =>
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
    ['text', 'metadata: must be valid JSON: column 1: expected a value, not "t"'],
    [[1], 'metadata: must be a dictionary of strings, numbers and booleans'],
    [{ a: { b: 1 } }, 'metadata.a: must be a string, a number or a boolean'],
    [{ a: Number.NaN }, 'metadata.a: must be a string, a number or a boolean'],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, 'metadata: must have at most 4 keys'],
    [{ ['x'.repeat(11)]: 1 }, 'metadata: keys must have 1 to 10 characters'],
    ['{"__proto__":1}', 'metadata: must not contain the name __proto__'],
    [{ '': 1 }, 'metadata: keys must have 1 to 10 characters'],
    [{ a: 'x'.repeat(21) }, 'metadata.a: must have at most 20 characters'],
    [{ a: '\ud800' }, 'metadata.a: must be well-formed Unicode, without half of a surrogate pair'],
  ])('%j', (value, expected) => {
    expect(outcome(readMetadata('metadata', value, { maxKeys: 4, maxKeyLength: 10, maxTextLength: 20 }))).toEqual(
      expected,
    );
  });

  // Forms and CSV columns store `1205` as text, and a filter that looked only for the number found none of them.
  it('filters match the text and the value that it writes', () => {
    expect(readMetadataFilter({ a: 'true', b: '-1.5', c: '1a' })).toEqual({
      ok: true,
      value: { a: ['true', true], b: ['-1.5', -1.5], c: ['1a'] },
    });
    // SDKs write numbers as their languages do. These matched no number.
    expect(readMetadataFilter({ a: '1.2E7', b: '1e-05', c: '1e+21', d: '1e999', e: 'e5' })).toEqual({
      ok: true,
      value: { a: ['1.2E7', 1.2e7], b: ['1e-05', 1e-5], c: ['1e+21', 1e21], d: ['1e999'], e: ['e5'] },
    });
    // The SDK for iOS writes booleans so. They matched no boolean.
    expect(readMetadataFilter({ a: '1', b: '0', c: '01' })).toEqual({
      ok: true,
      value: { a: ['1', 1, true], b: ['0', 0, false], c: ['01', 1] },
    });
    expect(readMetadataFilter(undefined)).toEqual({ ok: true, value: undefined });
  });

  it.each(['x', '{"a":"b"}', ['x'], {}, { a: { b: 'c' } }, { a: ['b', 'c'] }, { a: 'b', c: true }])(
    'the filter %j is refused (fault: it was ignored, and the list had everything)',
    (value) => {
      expect(outcome(readMetadataFilter(value))).toBe('metadata: must be given as metadata[key]=value, each key once');
    },
  );
});

describe('coordinates of a query string', () => {
  it.each([
    ['40.5,-73.9', [-73.9, 40.5]],
    [' 1 , 2 ', [2, 1]],
    ['1', 'near: must be latitude,longitude'],
    ['1,', 'near: must be latitude,longitude'],
    ['1,2,3', 'near: must be latitude,longitude'],
    ['x,2', 'near: must be latitude,longitude'],
    ['0x10,2', 'near: must be latitude,longitude'],
    ['91,2', 'near: latitude must be -90 to 90'],
    ['1,181', 'near: longitude must be -180 to 180'],
  ])('%s', (text, expected) => {
    expect(outcome(readLatitudeLongitude('near', text))).toEqual(expected);
  });
});

it('a position of a body', () => {
  expect(outcome(readPosition('coordinates', ['1', 2]))).toEqual([1, 2]);
  // An altitude, as exports of KML have it.
  expect(outcome(readPosition('coordinates', [1, '2', 0]))).toEqual([1, 2]);
  expect(outcome(readPosition('coordinates', [1, 2, 'high']))).toBe('coordinates: must be [longitude,latitude]');
  expect(outcome(readPosition('coordinates', [1, 2, 3, 4]))).toBe('coordinates: must be [longitude,latitude]');
  expect(outcome(readPosition('coordinates', [['1'], 2]))).toBe(
    'coordinates: must be two finite numbers, [longitude,latitude]',
  );
});

it('JSON inside a field', () => {
  expect(outcome(readStructure('coordinates', '[1,2]'))).toEqual([1, 2]);
  expect(outcome(readStructure('coordinates', [1, 2]))).toEqual([1, 2]);
  expect(outcome(readStructure('coordinates', ' '))).toBeUndefined();
  expect(readStructure('coordinates', '[1,').ok).toBe(false);
});
