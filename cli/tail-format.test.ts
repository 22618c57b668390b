import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../schemas/json/user.js';
import * as arbitrary from '../schemas/testing/records.js';
import { eventJson } from '../schemas/wire/user.js';
import { painter } from '../server/terminal-text.js';
import { tailLine } from './tail-format.js';

const plain = painter(false);
const center = { type: 'Point' as const, coordinates: [11.25, 43.77] as [number, number] };
const event: Event = {
  _id: 'a'.repeat(24),
  type: 'user.exited_geofence',
  createdAt: new Date(2027, 4, 6, 14, 3, 7).toISOString(),
  actualCreatedAt: new Date(2027, 4, 6, 14, 3, 8).toISOString(),
  live: false,
  user: { userId: 'ann', deviceId: 'phone-1' },
  geofence: {
    _id: 'b'.repeat(24),
    tag: 'store',
    externalId: 'duomo',
    description: 'Piazza del Duomo',
    type: 'circle',
    geometryCenter: center,
    geometryRadius: 120,
  },
  confidence: 3,
  duration: 12.5,
};

describe('an event’s line', () => {
  test('has columns for local time, type, user, place, confidence and duration', () => {
    expect(tailLine(event, plain)).toBe(
      '14:03:07 user.exited_geofence       ann                  store/duomo                      ' +
        'confidence 3 after 12.5 min',
    );
    const { duration: _, user: __, geofence: ___, ...bare } = event;
    const line = tailLine({ ...bare, type: 'bought_a_ticket', user: { deviceId: 'phone-1' } }, plain);
    expect(line).toBe(
      '14:03:07 bought_a_ticket            phone-1                                               confidence 3',
    );
  });

  test('shows the description of a geofence without tag and external id', () => {
    const { tag: _, externalId: __, ...nameless } = event.geofence!;
    expect(tailLine({ ...event, geofence: nameless }, plain)).toContain('Piazza del Duomo');
    expect(tailLine({ ...event, geofence: { ...nameless, tag: 'store' } }, plain)).not.toContain('Piazza');
  });

  test('has the same text with and without colours', () => {
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
    const coloured = tailLine(event, painter(true));
    expect(coloured).toMatch(escapes);
    expect(coloured.replaceAll(escapes, '')).toBe(tailLine(event, plain));
  });

  test('of a conversion named constructor had the style "undefined"', () => {
    expect(tailLine({ ...event, type: 'constructor' }, painter(true))).not.toContain('undefined');
  });

  test('is one line without control characters, for any names that clients choose', () => {
    const nasty = fc.string({ unit: fc.constantFrom('\n', '\r', '\u001b[2J', '\u009b', '\u0007', 'a', '🛰') });
    fc.assert(
      fc.property(arbitrary.event, nasty, (record, name) => {
        const user = { id: null, userId: name || null, deviceId: `${name}!`, profile: null };
        expect(tailLine(eventJson({ ...record, user, type: `${name}.` }), plain)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});
