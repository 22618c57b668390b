import { describe, expect, test } from 'vitest';
import { Failure } from '../client/call.js';
import { shapeOfGeofence } from '../drawing/shape.js';
import {
  degreesOf,
  newRow,
  problemAt,
  problemOfDegrees,
  problemOfMetadata,
  quantityOf,
  refuseMetadata,
} from './draft.js';
import { bodyOf, newGeofence } from './geofence.js';

describe('a number that was typed', () => {
  // "10,000" metres, which the field's own hint writes so, were read as a decimal comma: the circle had 10 metres.
  test('may separate its thousands by commas', () => {
    expect(quantityOf('10,000')).toBe(10_000);
    expect(quantityOf(' 1,234,567.5 ')).toBe(1_234_567.5);
    const draft = { ...newGeofence, latitude: '1', longitude: '2', radius: '10,000' };
    expect(bodyOf(draft)).toMatchObject({ radius: 10_000 });
    expect(shapeOfGeofence(draft)).toMatchObject({ radiusM: 10_000 });
  });

  test.each(['2,5', '10,00', '1,0000', ',500', '1,000,00', 'ten'])('is left to the validator: %s metres', (text) => {
    expect(quantityOf(text)).toBe(text);
  });

  test('has a decimal comma only where it is degrees', () => {
    expect([degreesOf('43,773'), degreesOf(' -11.25 '), degreesOf('43,773,1'), degreesOf(' ')]).toEqual([
      ...[43.773, -11.25, '43,773,1', undefined],
    ]);
  });
});

describe('metadata', () => {
  const row = (name: string, value: string, type: 'text' | 'number' | 'boolean') => ({ ...newRow(name, value), type });

  test('is as it was typed if nothing of it would be lost', () => {
    const rows = [row('floor', '-2.5', 'number'), row('pieces', '12 pieces', 'text'), row('', '', 'text')];
    expect(problemOfMetadata([...rows, row('open', '', 'boolean'), row('', 'true', 'boolean')])).toBeUndefined();
  });

  // "12 pieces" of the type number was stored as a text, so filters by number did not find it.
  test('refuses a value of the type number that is none', () => {
    for (const value of ['12 pieces', '1,5', ' ', 'Infinity']) {
      expect(problemOfMetadata([row('count', value, 'number')])).toContain('count is not a number');
    }
    expect(() => refuseMetadata([row('count', '12 pieces', 'number')])).toThrow(
      expect.objectContaining({ param: 'metadata' }),
    );
  });

  // The last of two rows with one name won, and the other was gone without a word.
  test('refuses a name that is used twice, and a value without a name', () => {
    expect(problemOfMetadata([row('floor', '1', 'text'), row('floor', '2', 'number')])).toContain(
      'floor is used twice',
    );
    expect(problemOfMetadata([row('', '1', 'text')])).toContain('has no name');
  });
});

describe('a problem at a field', () => {
  const refusal = (param: string, message: string) => new Failure(400, { type: 'invalid_parameter', param, message });

  // It began with the name that the API has for the field.
  test('is the rule, without the name of the field in the API', () => {
    expect(problemAt(refusal('dwellThreshold', 'dwellThreshold: is required'), 'dwellThreshold')).toEqual({
      part: undefined,
      rule: 'is required',
    });
  });

  test('names the part that it is about', () => {
    const tooLong = refusal('metadata.floor', 'metadata.floor: must have at most 4096 characters');
    expect(problemAt(tooLong, 'metadata')).toEqual({ part: 'floor', rule: 'must have at most 4096 characters' });
  });

  test('is a sentence of its own if it does not begin with the field', () => {
    expect(problemAt(refusal('metadata', 'The name a is used twice.'), 'metadata')).toBe('The name a is used twice.');
  });

  test('is none of another field', () => {
    expect(problemAt(refusal('radius', 'radius: is required'), 'rad')).toBeUndefined();
  });

  test.each([
    ['91', '11', 'must be a number from -90 to 90', undefined],
    ['north', '11', 'must be a number from -90 to 90', undefined],
    ['43', '181', undefined, 'must be a number from -180 to 180'],
    ['', ' ', 'is required', 'is required'],
    ['43,7', '-180', 'must have the shape of the API', undefined],
  ])('of degrees is at the one that is wrong: %s, %s', (latitude, longitude, atLatitude, atLongitude) => {
    const error = refusal('coordinates', 'coordinates: must have the shape of the API');
    const ruleAt = (axis: 'latitude' | 'longitude') => {
      const problem = problemOfDegrees(error, axis, { latitude, longitude });
      return typeof problem === 'object' ? problem.rule : problem;
    };
    expect([ruleAt('latitude'), ruleAt('longitude')]).toEqual([atLatitude, atLongitude]);
  });

  test('of degrees is over when they are corrected', () => {
    const error = refusal('coordinates', 'coordinates: latitude, which comes second, must be -90 to 90');
    expect(problemOfDegrees(error, 'latitude', { latitude: '43', longitude: '11' })).toBeUndefined();
  });
});
