import fc from 'fast-check';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { Id, Timestamp } from '../../schemas/json/common.js';
import { createValidator } from './validation.js';

const schema = Type.Object({
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  type: Type.Optional(Type.Enum(['circle', 'polygon'])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  enabled: Type.Optional(Type.Boolean()),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
  owner: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  threshold: Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()])),
  ids: Type.Optional(Type.Array(Id, { maxItems: 2 })),
  after: Type.Optional(Timestamp),
  box: Type.Optional(Type.Tuple([Type.Number(), Type.Number()])),
});
const validate = createValidator(schema);
const problem = (value: unknown) => {
  const result = validate(value);
  return result.ok ? result.value : `${result.problem.param}: ${result.problem.rule}`;
};

describe('what fits is brought to the types of the schema', () => {
  it.each([
    [{ latitude: '40.5' }, { latitude: 40.5 }],
    [
      { latitude: ' -1e1 ', limit: '7', enabled: 'true' },
      { latitude: -10, limit: 7, enabled: true },
    ],
    [{ latitude: 1, limit: '', enabled: null, tag: '' }, { latitude: 1 }],
    [
      { latitude: 1, owner: null, threshold: null },
      { latitude: 1, owner: null, threshold: null },
    ],
    [
      { latitude: 1, threshold: '2.5' },
      { latitude: 1, threshold: 2.5 },
    ],
    [
      { latitude: ['1', '2'], tag: ['a', 'b'] },
      { latitude: 2, tag: 'b' },
    ],
    [{ latitude: 1, unknown: { deep: [] }, constructor: 1 }, { latitude: 1 }],
    [
      { latitude: 1, box: ['1', 2] },
      { latitude: 1, box: [1, 2] },
    ],
  ])('%j', (value, expected) => {
    expect(validate(value)).toEqual({ ok: true, value: expected });
  });
});

describe('what breaks a rule is named with the rule', () => {
  it.each([
    [{}, 'latitude: is required'],
    [undefined, 'latitude: is required'],
    [[], 'body: must be an object'],
    [{ latitude: null }, 'latitude: is required'],
    [{ latitude: 91 }, 'latitude: must be a number from -90 to 90'],
    [{ latitude: Number.NaN }, 'latitude: must be a number from -90 to 90'],
    [{ latitude: 'Infinity' }, 'latitude: must be a number from -90 to 90'],
    [{ latitude: '0x10' }, 'latitude: must be a number from -90 to 90'],
    [{ latitude: 1, limit: 1.5 }, 'limit: must be a whole number from 1 to 1000'],
    [{ latitude: 1, type: 'square' }, 'type: must be one of circle, polygon'],
    [{ latitude: 1, enabled: 'yes' }, 'enabled: must be true or false'],
    [{ latitude: 1, tag: 'abcd' }, 'tag: must be text from 1 to 3 characters'],
    [{ latitude: 1, threshold: -1 }, 'threshold: must be a number of at least 0 or null'],
    [{ latitude: 1, ids: ['x'] }, 'ids[0]: must be 24 hex digits'],
    [{ latitude: 1, ids: Array(3).fill('0'.repeat(24)) }, 'ids: must be a list of at most 2 items'],
    [{ latitude: 1, after: 'yesterday' }, 'after: must be ISO 8601 UTC with milliseconds'],
  ])('%j -> %s', (value, expected) => {
    expect(problem(value)).toBe(expected);
  });
});

it('takes numbers and their texts alike', () => {
  fc.assert(
    fc.property(fc.double({ min: -90, max: 90, noNaN: true }), (latitude) => {
      expect(validate({ latitude: String(latitude) })).toEqual(validate({ latitude: latitude + 0 }));
    }),
  );
});

it('never throws and never lets a value through that the schema refuses', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (whole, part) => {
      validate(whole);
      const result = validate({ latitude: part });
      if (result.ok) expect(Math.abs(result.value.latitude)).toBeLessThanOrEqual(90);
    }),
  );
});
