import { describe, expect, test } from 'vitest';
import { shapeOfGeofence } from '../drawing/shape.js';
import { degreesOf, quantityOf } from './draft.js';
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
