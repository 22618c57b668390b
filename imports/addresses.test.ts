/** Rows that name an address or a place instead of coordinates. */
import { expect, it } from 'vitest';
import { placeRecord, readPlace } from '../api/places/fields.js';
import { exportedGeofence } from '../api/stored-fields.js';
import { accepted } from '../http/fields/reader.js';
import { createGazetteer } from '../providers/geocoding/gazetteer/gazetteer.js';
import { placeRecordId } from '../schemas/ids.js';
import { createImporter } from './importer.js';
import { newScope, useWorkbench } from './testing/fixtures.js';

const bench = useWorkbench();
const { configuration, writer, values, leases, clock } = bench;
const geometrySources = { geocoder: createGazetteer() };
const importer = createImporter({ configuration, writer, values, leases, clock, geometrySources });

type Scope = ReturnType<typeof newScope>;

function importLines(scope: Scope, ...lines: string[]) {
  const file = ['description,type,tag,externalId,coordinates,address,placeId,radius', ...lines].join('\n');
  return importer.importRecords({
    scope,
    resource: 'geofence',
    source: (async function* () {
      yield Buffer.from(file);
    })(),
    format: 'csv',
    requestedBy: { kind: 'key', name: 'prj_test_sk_…cafe' },
  });
}
const stored = (scope: Scope) => bench.readModel.geofences({ ...scope, orderBy: 'createdAt', limit: 100 }).items;

it('an address gives the centre, a street is refused with its line, and repeating changes nothing', async () => {
  const scope = newScope();
  const lines = [
    'Town,circle,a,1,,"Paris, TX",,100',
    'Street,circle,a,2,,"10 Downing Street, London",,100',
    'Both,circle,a,3,"[-0.13,51.5]","10 Downing Street, London",,100',
    'Far,circle,a,4,"[0,0]",Tokyo,,100',
  ];
  const result = await importLines(scope, ...lines);
  expect(result).toMatchObject({ status: 'completed', created: 2, rejected: 2 });
  expect(result.rejections).toMatchObject([
    { line: 3, column: 'address' },
    { line: 5, column: 'address' },
  ]);
  const before = stored(scope);
  expect(before.map(({ externalId, geometrySource }) => [externalId, geometrySource?.address?.warning])).toEqual(
    expect.arrayContaining([
      ['1', null],
      ['3', expect.stringContaining('was not compared')],
    ]),
  );
  expect(await importLines(scope, ...lines)).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
  expect(stored(scope)).toEqual(before);
});

it('a place gives its geometry, and an export says type, radius and place as they were given', async () => {
  const scope = newScope();
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  const input = accepted(readPlace({ _id: 'mall', name: 'Mall', geometry: { type: 'Polygon', coordinates: [ring] } }));
  const id = placeRecordId(scope.project, scope.environment, 'mall');
  await writer.write([{ kind: 'place', id, record: placeRecord(scope, input, undefined, 1) }]);
  const lines = ['Mall,circle,p,1,,,mall,100', 'None,circle,p,2,,,nowhere,100'];
  const result = await importLines(scope, ...lines);
  expect(result).toMatchObject({ created: 1, rejected: 1 });
  expect(result.rejections).toMatchObject([{ line: 3, column: 'placeId' }]);
  const [record] = stored(scope);
  expect(record).toMatchObject({ type: 'polygon', ring });
  const fields = Object.fromEntries(
    exportedGeofence.names.map((name, at) => [name, exportedGeofence.values(record!)[at]]),
  );
  expect(fields).toMatchObject({ type: 'circle', radius: 100, placeId: 'mall' });
  expect(await importLines(scope, lines[0]!)).toMatchObject({ unchanged: 1 });
});
