import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import {
  findJsonFault,
  isDeeper,
  jsonDepthRule,
  jsonExcess,
  jsonFieldsRule,
  maxJsonDepth,
  maxJsonFields,
  parseJson,
  parseWritableJson,
} from './json-text.js';

const faultOf = (text: string) => {
  const parsed = parseJson(text);
  return parsed.ok ? 'none' : parsed.fault;
};

describe('the first fault of JSON text is named with its position', () => {
  it.each([
    ['', 'column 1: expected a value, not the end'],
    ['{"a": 1', 'column 8: expected , or }, not the end'],
    ['{"a": 1,}', 'column 9: expected a key in double quotes, not "}"'],
    ["{'a': 1}", `column 2: expected a key in double quotes, not "'"`],
    ['{"a" 1}', 'column 6: expected :, not "1"'],
    ['[1 2]', 'column 4: expected , or ], not "2"'],
    ['[1]]', 'column 4: expected the end of the text, not "]"'],
    ['[01]', 'column 3: expected , or ], not "1"'],
    ['[NaN]', 'column 2: expected a value, not "N"'],
    ['["\\x"]', 'column 3: expected an escape such as \\n or \\u00e9, not "\\\\"'],
    ['["a\nb"]', 'line 1, column 4: expected the end of a string, not "\\n"'],
    ['{\n  "a": 1,\n  "b": tru\n}', 'line 3, column 8: expected a value, not "t"'],
    ['{"a": 😀}', 'column 7: expected a value, not "😀"'],
  ])('%j', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });
});

it('finds a fault exactly where the engine refuses the text, however the text was broken', () => {
  const edit = fc.tuple(
    fc.nat(),
    fc.constantFrom('', ',', '}', ']', '"', ':', '\\', '0', '-', '\n', '\u0000', 'e', ' ', 'null'),
  );
  let broken = 0;
  fc.assert(
    fc.property(fc.json(), fc.array(edit, { maxLength: 3 }), (json, edits) => {
      let text = json;
      for (const [at, put] of edits) {
        const cut = at % (text.length + 1);
        text = text.slice(0, cut) + put + text.slice(cut + (put === '' ? 1 : 0));
      }
      const parsed = parseJson(text);
      const fault = findJsonFault(text);
      expect(fault === undefined).toBe(parsed.ok);
      if (fault === undefined) return;
      broken += 1;
      expect(fault.position).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: propertyRuns(3_000) },
  );
  expect(broken).toBeGreaterThan(500);
});

it('takes time in proportion to the text, and no stack for its depth', () => {
  expect(faultOf('['.repeat(1_000_000))).toBe('column 1000001: expected a value, not the end');
  expect(faultOf(`["${'\\u00e9'.repeat(200_000)}`)).toBe('column 1200003: expected the end of a string, not the end');
});

describe('JSON that is nested deeply ended an import and a request, because nothing could write it again', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it('is refused beyond a depth', () => {
    const fault = 'expected at most 200 lists and objects within one another';
    expect(parseWritableJson(nested(maxJsonDepth))).toMatchObject({ ok: true });
    for (const depth of [maxJsonDepth + 1, 100_000])
      expect(parseWritableJson(nested(depth))).toEqual({ ok: false, fault });
  });

  it('is refused before the engine parses it, which takes a second for megabytes of lists', () => {
    const fault = 'expected at most 200 lists and objects within one another';
    expect(parseWritableJson(`${'['.repeat(maxJsonDepth + 1)} no JSON`)).toEqual({ ok: false, fault });
  });

  it('is deeper than a number exactly if its deepest part is', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(6), (value, depth) => {
        expect(isDeeper(value, depth)).toBe(depthOf(value) > depth);
        const excess = jsonExcess(JSON.stringify(value, null, depth), depth);
        expect(excess).toBe(depthOf(value) > depth ? jsonDepthRule : undefined);
      }),
    );
  });
});

describe('JSON of 5 MiB whose objects have other names each took the engine two seconds', () => {
  const objects = (count: number) => `[${Array.from({ length: count }, (_, index) => `{"${index}":":"}`).join(',')}]`;

  it('is refused beyond a number of fields, before the engine parses it', () => {
    expect(parseWritableJson(objects(maxJsonFields))).toMatchObject({ ok: true });
    const refused = { ok: false, fault: 'expected at most 200000 fields in all objects together' };
    expect(parseWritableJson(objects(maxJsonFields + 1))).toEqual(refused);
    expect(parseWritableJson(`${objects(maxJsonFields + 1)} no JSON`)).toEqual(refused);
  });

  it('has as many fields as its objects have, whatever its texts contain', () => {
    const fieldsOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce(
            (sum: number, item) => sum + fieldsOf(item),
            Array.isArray(value) ? 0 : Object.keys(value).length,
          )
        : 0;
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(6), (value, fields) => {
        const excess = jsonExcess(JSON.stringify(value, null, fields), maxJsonDepth, fields);
        expect(excess).toBe(fieldsOf(value) > fields ? jsonFieldsRule : undefined);
      }),
    );
  });
});
