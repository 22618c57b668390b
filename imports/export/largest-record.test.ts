/** Every record that may be stored can be imported again: the limit of a row is above the largest record. */
import { expect, test } from 'vitest';
import { maxUserIds, readGeofence } from '../../api/geofences/fields.js';
import { geofenceRecord } from '../../api/geofences/record.js';
import { accepted, maxNameLength, maxTextLength } from '../../http/fields/reader.js';
import { maxMetadataKeys } from '../../schemas/json/common.js';
import { dayNames, maxRingPoints } from '../../schemas/json/constants.js';
import { maxRowLength } from '../source.js';
import { bytesOf, newScope, useWorkbench } from '../testing/fixtures.js';
import { exportFormatNames, exportFormats } from './formats.js';
import { exportedText, geofences } from './routes.js';

const bench = useWorkbench();

/** JSON writes the first as six bytes, UTF-8 the second as three, and CSV the last as two, or as three within JSON. */
const characters = ['\u0001', '中', '"'];

const vertices = maxRingPoints - 1;
const ring = Array.from({ length: vertices }, (_, index) => {
  const angle = (2 * Math.PI * index) / vertices;
  return [-100 - 0.3 * Math.cos(angle), -10 - 0.3 * Math.sin(angle)];
});
const minutes = (minute: number): string =>
  `${Math.floor(minute / 60)}`.padStart(2, '0').concat(':', `${minute % 60}`.padStart(2, '0'));
/** As many opening hours as a day may have. */
const day = Array.from({ length: 24 }, (_, index) => [minutes(60 * index), minutes(60 * index + 30)]);

function largest(character: string) {
  const text = (length: number): string => character.repeat(length);
  const numbered = (length: number, index: number): string => `${text(length - 4)}${1_000 + index}`;
  return {
    description: text(maxTextLength),
    type: 'polygon',
    tag: text(maxNameLength),
    externalId: text(maxNameLength),
    coordinates: [...ring, ring[0]],
    metadata: Object.fromEntries(
      Array.from({ length: maxMetadataKeys }, (_, index) => [numbered(maxNameLength, index), text(maxTextLength)]),
    ),
    operatingHours: Object.fromEntries(dayNames.map((name) => [name, day])),
    userIds: Array.from({ length: maxUserIds }, (_, index) => numbered(maxNameLength, index)),
    ip: Array.from({ length: 256 }, (_, index) => `255.255.255.${index}`).join(','),
    disableAfter: '2090-01-01T00:00:00.000Z',
    deleteAfter: '2091-01-01T00:00:00.000Z',
    dwellThreshold: 100_000.123456,
  };
}

const cases = exportFormatNames.flatMap((format) => characters.map((character) => [format, character] as const));

test.each(cases)(
  'the largest geofence survives export and import as %s, in characters %j',
  async (format, character) => {
    const [scope, elsewhere] = [newScope(), newScope()];
    const given = accepted(readGeofence(largest(character)));
    if (given.center === null || given.radius === null) throw new Error('the polygon has no centre');
    const record = geofenceRecord(scope, { ...given, center: given.center, radius: given.radius }, undefined, 1);
    await bench.writer.write([{ kind: 'geofence', id: record._id, record }]);
    let file = '';
    for await (const part of exportedText(geofences, bench.readModel, scope, exportFormats[format])) file += part;
    expect(Buffer.byteLength(file)).toBeGreaterThan(2 ** 18);
    expect(Buffer.byteLength(file)).toBeLessThan(maxRowLength);
    expect(await bench.import(scope, file, { format })).toMatchObject({
      status: 'completed',
      unchanged: 1,
      rejected: 0,
    });
    const made = await bench.import(elsewhere, '', { format, source: bytesOf(file, 10_000) });
    expect(made).toMatchObject({ status: 'completed', created: 1, rejected: 0 });
  },
);
