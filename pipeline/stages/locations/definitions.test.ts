/** Counts what the cache of definitions reads from the configuration. */
import { expect, onTestFinished, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import { eventGeofence } from '../../../schemas/wire/geofence.js';
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
    reads: () => reads,
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

// A location that enters a thousand geofences of 64 kB read all their metadata, most of which no event had.
test('long metadata is read again only for what has it', async () => {
  const { apply, definitions, reads } = await countingDefinitions(1_000);
  const metadata = { key: 'x'.repeat(60_000) };
  const long = Array.from({ length: 400 }, (_, number) =>
    geofenceRecord({ _id: deriveId('long', `${number}`), externalId: `long ${number}`, metadata }),
  );
  await apply(long.map((record) => ({ kind: 'geofence', id: record._id, record })));
  definitions.refresh();
  const all = () => long.map(({ _id }) => definitions.geofence(scope, _id)!);
  const found = all();
  expect(reads()).toBe(400);
  expect(all().map((definition) => definition.withoutMetadata().metadata)).toEqual(long.map(() => null));
  expect(reads()).toBe(400);
  const text = JSON.stringify(metadata);
  for (const [index, definition] of found.entries()) {
    expect(definition.metadataCharacters).toBe(text.length);
    expect(definition.whole()).toEqual(eventGeofence(long[index]!));
  }
  // Some were cached.
  expect(reads()).toBeGreaterThan(400);
  const before = reads();
  for (const definition of found.slice(-50)) definition.whole();
  expect(reads()).toBe(before);

  const changed = { ...long[0]!, metadata: { key: 'y'.repeat(2_000) } };
  await apply([
    { kind: 'geofence', id: changed._id, record: changed },
    { kind: 'geofence', id: long[1]!._id, record: null },
  ]);
  definitions.refresh();
  expect(definitions.geofence(scope, changed._id)?.whole()).toEqual(eventGeofence(changed));
  expect(definitions.geofence(scope, long[1]!._id)).toBeUndefined();
});

test('a reader that is too far behind reads all records again', async () => {
  const { apply, definitions, nextBatch } = await countingDefinitions(10);
  nextBatch();
  await apply(geofences.slice(0, 20).map((record) => ({ kind: 'geofence', id: record._id, record: null })));
  expect(nextBatch()).toBe(70);
  expect(definitions.geofence(scope, geofences[0]!._id)).toBeUndefined();
});
