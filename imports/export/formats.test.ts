/** An exported record is read back unchanged, for every field, value and format. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBeacon } from '../../api/beacons/fields.js';
import { readGeofence } from '../../api/geofences/fields.js';
import { type ExportedFields, exportedBeacon, exportedGeofence } from '../../api/stored-fields.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { beaconRecord, geofenceRecord } from '../../pipeline/catalog/testing/fixtures.js';
import { unguardCell } from '../csv-cells.js';
import { beacon, geofence } from '../testing/arbitraries.js';
import { type ExportFormatName, exportFormatNames, exportFormats, written } from './formats.js';

function file<Stored extends { readonly _id: string }>(
  name: ExportFormatName,
  fields: ExportedFields<Stored>,
  records: readonly Stored[],
): string {
  const format = exportFormats[name];
  const rows = records.map((record, index) => written(format, fields, record, index === 0));
  return format.head(fields.names) + rows.join('') + format.tail;
}

/** Reads a file as plainly as its format allows. */
const readers: Readonly<Record<ExportFormatName, (text: string) => RawFields[]>> = {
  csv(text) {
    const [header = [], ...rows] = parse(text, { bom: true }) as string[][];
    return rows.map((cells) => Object.fromEntries(cells.map((cell, index) => [header[index]!, unguardCell(cell)])));
  },
  geojson: (text) =>
    JSON.parse(text).features.map(
      ({ geometry, properties }: { geometry: { coordinates: unknown }; properties: object }) => ({
        ...properties,
        coordinates: geometry.coordinates,
      }),
    ),
  ndjson: (text) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
};

/** Returns the record as it is stored: JSON, whose keys are ordered. */
const stored = (values: readonly object[]): string[] =>
  values.map((value) => JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))));

describe.each(exportFormatNames)('%s', (format) => {
  test('gives every geofence again', () => {
    fc.assert(
      fc.property(fc.array(geofence, { maxLength: 3 }), (inputs) => {
        const text = file(format, exportedGeofence, inputs.map(geofenceRecord));
        const read = readers[format](text).map((fields) => accepted(readGeofence(fields)));
        expect(stored(read)).toEqual(stored(inputs));
      }),
    );
  });

  test('gives every beacon again', () => {
    fc.assert(
      fc.property(fc.array(beacon, { maxLength: 3 }), (inputs) => {
        const text = file(format, exportedBeacon, inputs.map(beaconRecord));
        const read = readers[format](text).map((fields) => accepted(readBeacon(fields)));
        expect(stored(read)).toEqual(stored(inputs));
      }),
    );
  });
});

test('no cell of a CSV file is a formula', () => {
  fc.assert(
    fc.property(geofence, (input) => {
      const rows = parse(file('csv', exportedGeofence, [geofenceRecord(input)])) as string[][];
      for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r\n]/);
    }),
  );
});

test('a CSV file has one column for each field that an import takes, in the order of the field table', () => {
  expect(exportedGeofence.names.join()).toBe(
    'description,type,tag,externalId,placeId,address,coordinates,radius,mode,enabled,metadata,operatingHours,' +
      'stopDetection,dwellThreshold,disableAfter,deleteAfter,userIds,ip',
  );
  expect(exportedBeacon.names.join()).toBe(
    'description,type,tag,externalId,uuid,major,minor,uid,instance,coordinates,enabled,metadata',
  );
});

test('a GeoJSON file without records is an empty collection', () => {
  expect(JSON.parse(file('geojson', exportedGeofence, []))).toEqual({ type: 'FeatureCollection', features: [] });
});
