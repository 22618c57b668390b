/** Arbitrary valid geofences and beacons, in normal form, with everything that their fields may hold. */
import fc from 'fast-check';
import type { BeaconInput } from '../../api/beacons/fields.js';
import { parseAddressRanges } from '../../pipeline/evaluation/addresses.js';
import { parseOperatingHours } from '../../pipeline/evaluation/hours.js';
import { normalizeRing } from '../../pipeline/geometry/ring.js';
import { place, unitStar } from '../../pipeline/geometry/testing/arbitraries.js';
import type { Validated } from '../../schemas/errors.js';
import type { Metadata, Position } from '../../schemas/json/common.js';
import { dayNames } from '../../schemas/json/constants.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { anyCharacter } from '../../testing/any-character.js';

/** What an owner says about a circle or polygon. */
type PlainGeofence = Omit<
  GeofenceRecord,
  '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt' | 'timeZone' | 'geometrySource'
>;

function valid<T>(validated: Validated<T>): T {
  if (!validated.ok) throw new Error(`${validated.problem.param}: ${validated.problem.rule}`);
  return validated.value;
}

/** Texts that formats, spreadsheets and parsers have mistaken for something else. */
const awkward = [
  '=1+1',
  "'=1+1",
  "''@sum",
  "'",
  '+49 30',
  '-5',
  '@here',
  '\tx',
  '\rx',
  '\nx',
  '＝1',
  'a,b',
  'a;b',
  '"',
  '""',
  'say "hi"',
  'line\nbreak',
  'line\r\nbreak',
  'line\rbreak',
  ' x ',
  '[1,2]',
  '["a"',
  '{"a":1}',
  'true',
  'null',
  '007',
  '1e3',
  '\ufeffmark',
  'a\u0000b',
  '\u2028',
  'Ünïcödé 🏬 中文',
  '#comment',
  '__proto__',
];

/** Well-formed text that is not blank. */
const text = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.constantFrom(...awkward),
      fc.string({ unit: anyCharacter, maxLength }),
      fc.string({ unit: 'grapheme', maxLength: Math.min(maxLength, 20) }),
      fc
        .tuple(fc.constantFrom('=', '+', '-', '@', "'", "'="), fc.string({ maxLength: 10 }))
        .map((parts) => parts.join('')),
    )
    .filter((value) => value.trim() !== '' && value.length <= maxLength && value.isWellFormed());

const perhaps = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { nil: null });

/** JSON has no negative zero. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const nonNegative = number.map(Math.abs);

/** No metadata has the key `__proto__`. */
const key = text(256).filter((given) => given !== '__proto__');
const metadata: fc.Arbitrary<Metadata> = fc
  .uniqueArray(fc.tuple(key, fc.oneof(text(100), fc.constant(''), fc.boolean(), number)), {
    maxLength: 16,
    selector: ([key]) => key,
  })
  .map((entries) => Object.fromEntries(entries));

const minuteOfDay = fc.integer({ min: 0, max: 1_439 });
const time = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
const pair = fc.tuple(minuteOfDay.map(time), fc.oneof(minuteOfDay.map(time), fc.constant('24:00')));
const operatingHours = fc
  .dictionary(fc.constantFrom(...dayNames), fc.array(pair, { maxLength: 3 }), { minKeys: 1 })
  .map((days) => valid(parseOperatingHours({ ...days })));

/** From the year 0 to 9999 in UTC, and the hours around that only an offset can name. */
const offsetMs = (23 * 60 + 59) * 60_000;
const date = fc.oneof(
  fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2100, 0, 1) }),
  fc.integer({
    min: Date.parse('0000-01-01T00:00:00Z') - offsetMs,
    max: Date.parse('9999-12-31T23:59:59.999Z') + offsetMs,
  }),
);

const range = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.ipV4().map((ip) => ip.replace(/\d+$/, '*')),
);
const ip = fc
  .array(range, { minLength: 1, maxLength: 5 })
  .map((ranges) => parseAddressRanges(ranges.join(', ')))
  .filter((parsed) => parsed.ok)
  .map(valid);

const userIds = fc
  .array(text(256), { minLength: 1, maxLength: 5 })
  .map((ids) => [...new Set(ids.map((id) => id.trim()))]);

const position: fc.Arbitrary<Position> = fc.tuple(
  fc.double({ min: -180, max: 180, noNaN: true }).map((value) => value + 0),
  fc.double({ min: -90, max: 90, noNaN: true }).map((value) => value + 0),
);

const circle = fc.record({
  type: fc.constant('circle' as const),
  center: position,
  radius: fc.double({ min: 10, max: 10_000, noNaN: true }),
  ring: fc.constant(null),
});

const wrapped = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180;

/** Also across the antimeridian. */
const polygon = fc
  .tuple(unitStar(3, 12), fc.integer({ min: -180, max: 180 }), fc.integer({ min: -60, max: 60 }))
  .map(([star, x, y]) => {
    const points = place(star, x, y, 0.5, 0.5);
    const ring: Position[] = [];
    for (let i = 0; i < points.length; i += 2) ring.push([wrapped(points[i]!), points[i + 1]!]);
    return normalizeRing([...ring, ring[0]!]);
  })
  .filter((normal) => normal.ok)
  .map(valid)
  .map(({ ring, centroid, radiusM }) => ({ type: 'polygon' as const, center: centroid, radius: radiusM, ring }));

/** Generates circles and polygons with all other fields of a geofence. */
export const geofence: fc.Arbitrary<PlainGeofence> = fc
  .tuple(
    fc.oneof(circle, polygon),
    fc.record({
      tag: text(256),
      externalId: text(256),
      description: text(4_096),
      mode: perhaps(fc.constantFrom('car', 'truck', 'foot', 'bike', 'motorbike')),
      enabled: fc.boolean(),
      metadata: perhaps(metadata),
      operatingHours: perhaps(operatingHours),
      stopDetection: perhaps(fc.boolean()),
      dwellThreshold_min: perhaps(nonNegative),
      disableAfter: perhaps(date),
      deleteAfter: perhaps(date),
      userIds: perhaps(userIds),
      ip: perhaps(ip),
    }),
  )
  .map(([shape, rest]) => ({ ...rest, ...shape }));

const hex = (digits: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });
const uint16 = fc.integer({ min: 0, max: 65_535 }).map(String);

const identifiers = fc.oneof(
  fc.record({
    type: fc.constant('ibeacon' as const),
    group: hex(32).map((digits) => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')),
    major: uint16,
    minor: uint16,
  }),
  fc.record({ type: fc.constant('eddystone' as const), group: hex(20), major: fc.constant(''), minor: hex(12) }),
);

/** Generates beacons of both types with all other fields. */
export const beacon: fc.Arbitrary<BeaconInput> = fc
  .tuple(
    identifiers,
    fc.record({
      tag: perhaps(text(256)),
      externalId: perhaps(text(256)),
      description: text(4_096),
      coordinates: position,
      enabled: fc.boolean(),
      metadata: perhaps(metadata),
    }),
  )
  .map(([identity, rest]) => ({ ...rest, ...identity }));
