/** Counts what the cache of definitions reads from the configuration. */
import { expect, onTestFinished, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import { openReadModel } from '../../catalog/store/read-model.js';
import { beaconRecord, geofenceRecord, scope, temporaryFolder } from '../../catalog/testing/fixtures.js';
import type { ConfigurationReader } from '../../catalog/types.js';
import { createDefinitions } from './definitions.js';

const geofences = Array.from({ length: 50 }, (_, number) =>
  geofenceRecord({ _id: deriveId('fence', `${number}`), externalId: `${number}` }),
);
const beacons = Array.from({ length: 20 }, (_, number) =>
  beaconRecord({ _id: deriveId('beacon', `${number}`), externalId: `${number}` }),
);

/** A read model whose feed reaches back `feedRecords` changes, and definitions that count their reads of it. */
async function countingDefinitions(feedRecords: number) {
  const readModel = openReadModel(temporaryFolder(), { feedRecords });
  onTestFinished(() => readModel.close());
  let offset = 0;
  function apply(changes: Parameters<typeof readModel.apply>[0]): Promise<void> {
    offset += changes.length;
    return readModel.apply(changes, offset);
  }
  await apply([
    ...geofences.map((record) => ({ kind: 'geofence' as const, id: record._id, record })),
    ...beacons.map((record) => ({ kind: 'beacon' as const, id: record._id, record })),
  ]);
  let reads = 0;
  const counting: Pick<ConfigurationReader, 'version' | 'feed' | 'storedGeofenceHead' | 'beacon'> = {
    get version() {
      return readModel.version;
    },
    feed: readModel.feed,
    storedGeofenceHead: (...of) => {
      reads += 1;
      return readModel.storedGeofenceHead(...of);
    },
    beacon: (...of) => {
      reads += 1;
      return readModel.beacon(...of);
    },
  };
  const definitions = createDefinitions(counting);
  return {
    apply,
    definitions,
    /** Reads all definitions as the next batch. Returns the number of reads that reached the configuration. */
    nextBatch() {
      const before = reads;
      definitions.refresh();
      for (const { _id } of geofences) definitions.geofence(scope, _id);
      for (const { _id } of beacons) definitions.beacon(scope, _id);
      return reads - before;
    },
  };
}

test('after a change of one record, the next batch reads only that record again', async () => {
  const { apply, definitions, nextBatch } = await countingDefinitions(1_000);
  expect(nextBatch()).toBe(70);
  expect(nextBatch()).toBe(0);

  const fence = { ...geofences[7]!, description: 'new' };
  await apply([{ kind: 'geofence', id: fence._id, record: fence }]);
  expect(nextBatch()).toBe(1);
  expect(definitions.geofence(scope, fence._id)?.whole().description).toBe('new');

  await apply([{ kind: 'beacon', id: beacons[3]!._id, record: null }]);
  expect(nextBatch()).toBe(1);
  expect(definitions.beacon(scope, beacons[3]!._id)).toBeUndefined();
});

test('a reader that is too far behind reads all records again', async () => {
  const { apply, definitions, nextBatch } = await countingDefinitions(10);
  nextBatch();
  await apply(geofences.slice(0, 20).map((record) => ({ kind: 'geofence', id: record._id, record: null })));
  expect(nextBatch()).toBe(70);
  expect(definitions.geofence(scope, geofences[0]!._id)).toBeUndefined();
});
