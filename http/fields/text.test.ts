import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badlyEncodedField, fieldBeyond, malformedTextIn, mayHoldSurrogates } from './text.js';

describe('malformed text', () => {
  it.each([
    [{ deviceId: 'a\ud800' }, 'deviceId'],
    [{ a: [{ b: 'x' }, { b: '\udc00x' }] }, 'a[1].b'],
    [{ metadata: { 'k\ud83d': 1 } }, 'metadata.k\ufffd'],
    [{ a: [1, { b: ['x', ['y', '\ud800']] }] }, 'a[1].b[1][1]'],
    [[['\ud800']], '[0][0]'],
    ['\ud800', 'body'],
    [{ a: '😀', b: [1, null, true], c: { d: 'é' } }, undefined],
  ])('%j: %s', (value, at) => {
    expect(malformedTextIn(value)).toBe(at);
  });

  it('is searched only where JSON text can contain it, and then always found', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\ud800', '\udc00', '😀', '\\', 'u', 'd') });
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, id) => {
        const json = JSON.stringify({ value, id });
        const parsed = JSON.parse(json) as { id: string };
        expect(malformedTextIn(parsed) === undefined).toBe(
          id.isWellFormed() && malformedTextIn({ value }) === undefined,
        );
        if (!id.isWellFormed()) expect(mayHoldSurrogates(json)).toBe(true);
      }),
    );
  });
});

it('is sought in a list without a name for each item (fault: four seconds for 5 MB of a public key)', () => {
  const list = new Proxy(['x', { k: '\ud800' }], {
    ownKeys: () => expect.fail('the keys of a list are listed'),
  });
  expect(malformedTextIn(list)).toBe('[1].k');
});

describe('a badly encoded field', () => {
  it.each([
    ['a=1&b=%', 'b'],
    ['a=%E0%A4&b=2', 'a'],
    ['userId=%ED%A0%80', 'userId'],
    ['a=%zz', 'a'],
    ['%ff=1', '%ff'],
    ['metadata%5Bk%5D=%C0%80', 'metadata[k]'],
    ['a=%F0%9F%98%80&b=100%25&c=+', undefined],
    ['', undefined],
  ])('%s: %s', (text, field) => {
    expect(badlyEncodedField(text)).toBe(field);
  });
});

describe('a field beyond a number of fields', () => {
  it.each([
    ['a=1&b=2&c=3&d=4', 'c'],
    ['&&metadata%5Bk+l%5D=1', 'metadata[k l]'],
    ['a=1&b=2&', 'query'],
    ['a=1&b=2', undefined],
    ['', undefined],
  ])('%s: %s', (text, field) => {
    expect(fieldBeyond(text, 2)).toBe(field);
  });
});
