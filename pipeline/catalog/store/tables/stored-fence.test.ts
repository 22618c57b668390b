import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Position } from '../../../../schemas/json/common.js';
import { anyCharacter } from '../../../../testing/any-character.js';
import { geofenceRecord, scopes } from '../../testing/fixtures.js';
import {
  decodeCompactFence,
  decodeFence,
  decodeFenceHead,
  deleteAfterOfFence,
  encodeFence,
  rulesText,
  scopeOfFence,
} from './stored-fence.js';

const positionArbitrary: fc.Arbitrary<Position> = fc.tuple(
  fc.oneof(fc.constantFrom(-180, 180, 179), fc.double({ min: -180, max: 180, noNaN: true })),
  fc.double({ min: -85, max: 85, noNaN: true }),
);
const ring = fc
  .array(positionArbitrary, { minLength: 3, maxLength: 12 })
  .map((open): Position[] => [...open, [...open[0]!]]);
const record = fc
  .record({
    ring: fc.option(ring),
    tag: fc.string({ minLength: 1, unit: anyCharacter }),
    environment: fc.constantFrom('test' as const, 'live' as const),
    project: fc.constantFrom(...scopes.map(({ project }) => project)),
    enabled: fc.boolean(),
    disableAfter: fc.option(fc.nat()),
    operatingHours: fc.constantFrom(null, { Mon: [['09:00', '17:00']] as [string, string][] }),
    userIds: fc.option(fc.array(fc.string())),
    metadata: fc.constantFrom(null, { key: 'value', '☃': 1 }),
  })
  .map((fields) => geofenceRecord(fields));

test('reads back stored fences, also rings that cross the antimeridian or repeat a position', () => {
  fc.assert(
    fc.property(record, (given) => {
      const stored = encodeFence(given);
      // JSON has no -0.
      expect(JSON.parse(JSON.stringify(decodeFence(stored)))).toEqual(JSON.parse(JSON.stringify(given)));
      const { ring: _, ...head } = given;
      expect(decodeFenceHead(stored)).toEqual(JSON.parse(JSON.stringify(head)));
      const compact = decodeCompactFence(stored);
      expect(scopeOfFence(stored)).toEqual({ project: given.project, environment: given.environment });
      expect(deleteAfterOfFence(stored)).toBe(given.deleteAfter ?? Infinity);
      expect(compact).toMatchObject({ tag: given.tag, rules: rulesText(given) });
      if (compact.shape.type === 'circle') {
        const { longitude, latitude, radiusM } = compact.shape;
        expect([longitude, latitude, radiusM]).toEqual([...given.center, given.radius]);
      }
      expect(compact.shape.type).toBe(given.ring === null ? 'circle' : 'ring');
    }),
  );
});

test('a fence with default rules stores none', () => {
  expect(rulesText(geofenceRecord())).toBe('');
  expect(JSON.parse(rulesText(geofenceRecord({ ip: '10.0.0.1', stopDetection: false })))).toEqual({
    ip: '10.0.0.1',
    stopDetection: false,
  });
});
