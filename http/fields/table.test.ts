import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { FieldReader, type RawFields } from './reader.js';
import {
  booleanField,
  choiceField,
  dateField,
  field,
  ignoredField,
  integerField,
  nullable,
  numberField,
  readChange,
  readTable,
  required,
  schemaOf,
  textField,
  unknownField,
  withDefault,
} from './table.js';

const table = {
  name: required(textField()),
  kind: required(choiceField(['shop', 'office'])),
  radius: numberField({ minimum: 10, maximum: 100, unit: 'metres' }, 'Metres'),
  floor: integerField({ minimum: -1 }),
  enabled: withDefault(booleanField(), true),
  since: dateField('A date'),
  hours: field((reader, name) => reader.dictionary(name) ?? null, Type.Object({}), { hasKeys: true }),
  old: ignoredField,
};
const answered = ['_id'];

const read = (fields: RawFields) => {
  const reader = new FieldReader(fields);
  const values = readTable(reader, table);
  const outcome = reader.outcome(() => values);
  return outcome.ok ? outcome.value : outcome.error.message;
};

describe('a field table', () => {
  const values = {
    name: 'A',
    kind: 'shop',
    radius: 12.5,
    floor: 2,
    enabled: false,
    since: Date.UTC(2029, 0, 1),
    hours: { mon: '9-5' },
    old: null,
  };

  it('reads JSON and the cells of a row alike', () => {
    const json = { name: 'A', kind: 'shop', radius: 12.5, floor: 2, enabled: false, since: '2029-01-01' };
    expect(read({ ...json, hours: { mon: '9-5' } })).toEqual(values);
    const row = { name: 'A', kind: 'Shop', radius: '12.5', floor: '2', enabled: 'FALSE', since: '2029-01-01' };
    expect(read({ ...row, 'hours.mon': '9-5', 'hours.tue': '', old: 'x' })).toEqual(values);
  });

  it.each([
    [{}, 'name: is required'],
    [{ name: 'A', kind: 'home' }, 'kind: must be one of shop, office'],
    [{ name: 'A', kind: 'shop', radius: 9 }, 'radius: must be a number from 10 to 100 metres'],
    [{ name: 'A', kind: 'shop', floor: 1.5, radius: 9 }, 'radius: must be a number from 10 to 100 metres'],
    [{ name: 'A', kind: 'shop', floor: 1.5 }, 'floor: must be a whole number of at least -1'],
  ])('reports the first broken field of %j', (fields, message) => {
    expect(read(fields)).toBe(message);
  });

  it('describes what it offers', () => {
    expect(schemaOf(table)).toMatchObject({
      required: ['name', 'kind'],
      properties: { radius: { type: 'number', minimum: 10, maximum: 100, description: 'Metres' } },
    });
    expect(Object.keys(schemaOf(table, { without: ['name'] }).properties)).toEqual([
      'kind',
      'radius',
      'floor',
      'enabled',
      'since',
      'hours',
    ]);
    expect(schemaOf(table, { allOptional: true }).required).toBeUndefined();
  });

  // Generated clients could not clear a field: the description allowed no null in a merge patch.
  it('describes that null clears a field of a change, unless the field is required', () => {
    const { properties } = schemaOf(table, { allOptional: true });
    expect(properties.radius).toMatchObject({ anyOf: [{ type: 'number' }, { type: 'null' }], description: 'Metres' });
    expect(properties.name).toMatchObject({ type: 'string' });
    const changed = schemaOf({ radius: nullable(numberField({})) }, { allOptional: true });
    expect(changed.properties.radius).toEqual(nullable(numberField({})).schema);
  });

  it('knows its fields, those by key and those of answers', () => {
    const known = { name: 1, old: 1, _id: 1, 'hours.mon': 1, 'hours[tue]': 1 };
    expect(unknownField(table, known, answered)).toBeUndefined();
    expect(unknownField(table, { raduis: 1 }, answered)).toEqual({
      param: 'raduis',
      rule: 'is not a known field; did you mean radius?',
    });
    expect(unknownField(table, { 'name.first': 1 })?.param).toBe('name.first');
    expect(unknownField(table, { toString: 1 })?.param).toBe('toString');
  });

  it('changes only what is named', () => {
    const change = (fields: RawFields) =>
      readChange(new FieldReader(fields), table, fields, { ...values, hours: null, kind: 'shop' });
    expect(change({})).toEqual({ ...values, hours: null });
    expect(change({ floor: 3, enabled: null, radius: '' })).toEqual({
      ...values,
      hours: null,
      floor: 3,
      enabled: true,
      radius: null,
    });
  });
});
