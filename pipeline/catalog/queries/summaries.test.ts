import { expect, onTestFinished, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import { runAtOnce } from '../../../schemas/turns.js';
import { openReadModel } from '../store/read-model.js';
import { beaconRecord, geofenceRecord, scope, temporaryFolder } from '../testing/fixtures.js';
import { maxListedMetadata, summariesOf } from './summaries.js';

const large = { text: 'x'.repeat(60_000) };
const fence = (index: number, fields: Partial<GeofenceRecord> = {}) =>
  geofenceRecord({ _id: deriveId(String(index)), externalId: String(index), ...fields });

async function readModelOf(records: readonly GeofenceRecord[]) {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  let offset = 0;
  const apply = (record: GeofenceRecord | null, id: string) =>
    readModel.apply([{ kind: 'geofence', id, record }], ++offset);
  await readModel.apply(
    records.map((record) => ({ kind: 'geofence' as const, id: record._id, record })),
    ++offset,
  );
  return { readModel, apply };
}

// A user inside a thousand geofences with 64 kB of metadata had 66 MB in each answer.
test('a list has all geofences, and metadata up to a limit', async () => {
  const records = Array.from({ length: 300 }, (_, i) => fence(i, { metadata: i % 2 === 0 ? large : { i } }));
  const { readModel } = await readModelOf(records);
  const ids = records.map(({ _id }) => _id);
  const list = () => runAtOnce(summariesOf(readModel).geofences(scope, ids));
  const listed = list();
  expect(listed.map(({ _id }) => _id)).toEqual(ids);
  for (const [i, { metadata, metadataOmitted }] of listed.entries()) {
    if (metadataOmitted) expect(metadata).toBeUndefined();
    else expect(metadata).toEqual(records[i]!.metadata);
  }
  // Small metadata fits where large no longer does.
  expect(listed.filter(({ metadataOmitted }) => metadataOmitted)).toHaveLength(150 - 8);
  expect(JSON.stringify(listed).length).toBeLessThan(maxListedMetadata + 300 * 400);
  expect(list()).toEqual(listed);
});

test('a list reads each record once, but for large metadata', async () => {
  const records = Array.from({ length: 100 }, (_, i) => fence(i, { metadata: i < 50 ? large : null }));
  const { readModel } = await readModelOf(records);
  const summaries = summariesOf(readModel);
  const steps = (): number =>
    [
      ...summaries.geofences(
        scope,
        records.map(({ _id }) => _id),
      ),
    ].length;
  expect(steps()).toBe(100 + 8);
  expect(steps()).toBe(8);
});

test('a list shows the latest change, and nothing that was deleted or belongs to others', async () => {
  const record = fence(1);
  const { readModel, apply } = await readModelOf([record]);
  const described = (of = scope) =>
    runAtOnce(summariesOf(readModel).geofences(of, [record._id])).map(({ description }) => description);
  expect(described()).toEqual([record.description]);
  expect(described({ ...scope, environment: 'live' })).toEqual([]);
  await apply({ ...record, description: 'new' }, record._id);
  expect(described()).toEqual(['new']);
  await apply(null, record._id);
  expect(described()).toEqual([]);
});

test('beacons have metadata up to the same limit', async () => {
  const { readModel } = await readModelOf([]);
  const beacons = Array.from({ length: 20 }, (_, i) =>
    beaconRecord({ _id: deriveId(`b${i}`), externalId: `b${i}`, minor: String(i), metadata: large }),
  );
  await readModel.apply(
    beacons.map((record) => ({ kind: 'beacon' as const, id: record._id, record })),
    99,
  );
  const listed = runAtOnce(
    summariesOf(readModel).beacons(
      scope,
      beacons.map(({ _id }) => _id),
    ),
  );
  expect(listed).toHaveLength(20);
  expect(listed.filter(({ metadataOmitted }) => metadataOmitted)).toHaveLength(20 - 8);
});
