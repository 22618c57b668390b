import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ComparedEvent } from '../../replay/replay.js';
import { exampleEvent, exampleEventGeofence } from '../../schemas/testing/examples.js';
import { event as anyEvent } from '../../schemas/testing/records.js';
import { eventJson } from '../../schemas/wire/user.js';
import { eventFormat, type Format } from './formats.js';

const event = exampleEvent({
  id: '0123456789abcdef01234567',
  type: 'user.exited_geofence',
  project: 'e986b32ece1395367523b4cf',
  createdAt: Date.UTC(2026, 5, 1),
  actualCreatedAt: Date.UTC(2026, 5, 1, 0, 0, 1),
  locationId: 'fedcba987654321001234567',
  user: { id: null, userId: null, deviceId: 'phone-1', profile: null },
  geofence: exampleEventGeofence({
    id: 'ffffba987654321001234567',
    tag: 'store',
    externalId: 'duomo',
    description: 'Duomo, "the old"',
  }),
  longitude: 11.5,
  latitude: 43.25,
  accuracy_m: 10,
  duration_min: 1.5,
});
const compared = (foundIn: ComparedEvent['foundIn'], isFirst = false): ComparedEvent => ({ event, foundIn, isFirst });
const everywhere = [compared('both'), compared('replay', true), compared('record')];
const linesOf = (format: Format, differencesOnly: boolean) =>
  everywhere.map(eventFormat(format, differencesOnly).lineOf);

describe('lines of JSON', () => {
  test('are the wire form of what the replay has', () => {
    fc.assert(
      fc.property(anyEvent, (each) => {
        const line = eventFormat('ndjson', false).lineOf({ event: each, foundIn: 'both', isFirst: false });
        expect(JSON.parse(line!)).toEqual(JSON.parse(JSON.stringify(eventJson(each))));
        expect(line).not.toContain('\n');
      }),
    );
    expect(linesOf('ndjson', false).map((line) => line !== undefined)).toEqual([true, true, false]);
  });

  test('or, of differences, say where they were found', () => {
    expect(linesOf('ndjson', true).map((line) => line && JSON.parse(line))).toEqual([
      undefined,
      { foundIn: 'replay', firstLocation: true, event: eventJson(event) },
      { foundIn: 'record', firstLocation: false, event: eventJson(event) },
    ]);
  });
});

test('rows have their columns, quoted where they must be', () => {
  const { header } = eventFormat('csv', false);
  expect(header).toBe(
    'foundIn,firstLocation,_id,type,createdAt,actualCreatedAt,deviceId,userId,tag,externalId,description,' +
      'longitude,latitude,locationAccuracy,confidence,duration',
  );
  const row =
    ',0123456789abcdef01234567,user.exited_geofence,2026-06-01T00:00:00.000Z,2026-06-01T00:00:01.000Z,phone-1,' +
    ',store,duomo,"Duomo, ""the old""",11.5,43.25,10,3,1.5';
  expect(linesOf('csv', false)).toEqual([`both,false${row}`, `replay,true${row}`, undefined]);
  expect(linesOf('csv', true)).toEqual([undefined, `replay,true${row}`, `record,false${row}`]);
});

// Whoever has a publishable key chooses the id of a device. One that began with `=cmd|` was written as it was, and would
// have run on the computer of whoever opened the file.
test('no text of a row is a formula', () => {
  const deviceId = "=cmd|' /C calc'!A1";
  for (const externalId of ['+1', '-1', '@a', '\t=1', '\r=1', '\n=1', '＝1', "'=1"]) {
    const geofence = { ...event.geofence!, externalId };
    const dangerous = { ...event, user: { ...event.user!, deviceId }, geofence, longitude: -11.5 };
    const line = eventFormat('csv', false).lineOf({ event: dangerous, foundIn: 'both', isFirst: false });
    expect(line).toContain(`,'${deviceId},`);
    expect(line).toContain(`'${externalId}`);
    expect(line).toContain(',-11.5,');
  }
});

test('a summary lists differences only, and only when asked', () => {
  expect(linesOf('summary', false)).toEqual([undefined, undefined, undefined]);
  expect(linesOf('summary', true)).toEqual([
    undefined,
    '+ 2026-06-01T00:00:00.000Z user.exited_geofence store/duomo phone-1 (first location of the device)',
    '- 2026-06-01T00:00:00.000Z user.exited_geofence store/duomo phone-1',
  ]);
});

// A device named itself so that the terminal of whoever compared a replay ran its sequence.
test('a line of a summary has no characters that a terminal obeys', () => {
  const hostile = { ...event, user: { ...event.user!, deviceId: '\u001b]0;owned\u0007\u009b2J\u202e' } };
  const line = eventFormat('summary', true).lineOf({ event: hostile, foundIn: 'replay', isFirst: false });
  expect(line).toMatch(/ \uFFFD\]0;owned\uFFFD\uFFFD2J\uFFFD$/);
});
