/** Export, then import: through the files, the engine and the stores. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beaconRecord } from '../../api/beacons/record.js';
import { geofenceRecord } from '../../api/geofences/record.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { beacon, geofence } from '../testing/arbitraries.js';
import { bytesOf, newScope, useWorkbench } from '../testing/fixtures.js';
import { type ExportFormatName, exportFormatNames, exportFormats } from './formats.js';
import { beacons, exportedText, geofences } from './routes.js';

const bench = useWorkbench();
const formats = exportFormatNames;

async function exported(kind: 'geofence' | 'beacon', scope: Scope, format: ExportFormatName): Promise<string> {
  const { readModel } = bench;
  const parts =
    kind === 'geofence'
      ? exportedText(geofences, readModel, scope, exportFormats[format])
      : exportedText(beacons, readModel, scope, exportFormats[format]);
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

const rowsOf = async (kind: 'geofence' | 'beacon', scope: Scope): Promise<string[]> =>
  (parse(await exported(kind, scope, 'csv')) as string[][]).map((cells) => JSON.stringify(cells)).sort();

/** Sample size; all records of a file differ by their external id. */
const count = 300;

const recordsOf = {
  geofence: (scope: Scope) =>
    fc
      .sample(geofence, { numRuns: count, seed: 7 })
      .map((input, index) => ({ ...input, externalId: `${input.externalId.slice(0, 200)}${index}`, deleteAfter: null }))
      .map((input, index) => geofenceRecord(scope, input, undefined, index + 1)),
  beacon: (scope: Scope) =>
    fc
      .sample(beacon, { numRuns: count, seed: 7 })
      .map((input, index) => ({ ...input, tag: input.tag ?? 'some', externalId: `${index}` }))
      .map((input, index) => beaconRecord(scope, input, undefined, index + 1)),
};

test.each(formats.flatMap((format) => (['geofence', 'beacon'] as const).map((kind) => [format, kind] as const)))(
  'a %s file of each %s makes the same records elsewhere, and changes nothing where it came from',
  async (format, kind) => {
    const scope = newScope();
    const records = recordsOf[kind](scope);
    await bench.writer.write(records.map((record) => ({ kind, id: record._id, record })));
    const text = await exported(kind, scope, format);

    const elsewhere = newScope();
    const request = { resource: kind, format, source: bytesOf(text, 1_000) };
    const made = await bench.import(elsewhere, '', request);
    expect(made).toMatchObject({ status: 'completed', created: count, rejected: 0 });
    // Rows of one batch are created in the same millisecond, so their order may differ.
    expect(await rowsOf(kind, elsewhere)).toEqual(await rowsOf(kind, scope));

    const repeated = await bench.import(scope, '', { ...request, source: bytesOf(text) });
    expect(repeated).toMatchObject({ status: 'completed', created: 0, updated: 0, unchanged: count });
  },
);

/** Writes the collection as GDAL does, and with it QGIS: one set of columns for all features, and ids among them. */
function writtenByGdal(text: string): string {
  const { features } = JSON.parse(text);
  const names = new Set(features.flatMap(({ properties }: Feature) => Object.keys(properties)));
  const none = Object.fromEntries(Array.from(names, (name) => [name, null]));
  const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } };
  return JSON.stringify({
    type: 'FeatureCollection',
    name: 'geofences',
    crs,
    features: features.map(({ type, id, properties, geometry }: Feature) => ({
      type,
      properties: { id, ...none, ...properties },
      geometry,
    })),
  });
}

interface Feature {
  readonly type: string;
  readonly id: string;
  readonly properties: object;
  readonly geometry: object;
}

// QGIS opened the file and saved it. Each row was refused, because `id` is no field.
test.each(['geofence', 'beacon'] as const)('a GeoJSON file of each %s survives tools of GDAL', async (kind) => {
  const scope = newScope();
  const records = recordsOf[kind](scope);
  await bench.writer.write(records.map((record) => ({ kind, id: record._id, record })));
  const source = bytesOf(writtenByGdal(await exported(kind, scope, 'geojson')));
  const repeated = await bench.import(scope, '', { resource: kind, format: 'geojson', source });
  expect(repeated).toMatchObject({ status: 'completed', rejected: 0, unchanged: count });
});
