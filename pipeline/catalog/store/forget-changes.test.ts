import { expect, onTestFinished, test } from 'vitest';
import { geofenceRecord, temporaryFolder } from '../testing/fixtures.js';
import { createForgetter } from './forget-changes.js';
import { openReadModel } from './read-model.js';

function recordingCache() {
  const removed: string[] = [];
  return { removed, delete: (id: string) => void removed.push(id), clear: () => void removed.push('all') };
}

// After an import of a million geofences, the next location waited until a million changes were read.
test('caches forget what has changed, and begin anew after more changes than are read quickly', async () => {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  const read: number[] = [];
  const configuration = {
    get version() {
      return readModel.version;
    },
    feed(fromVersion: number, limit?: number) {
      const page = readModel.feed(fromVersion, limit);
      read.push(page?.things.length ?? 0);
      return page;
    },
  };
  const [geofence, beacon] = [recordingCache(), recordingCache()];
  const forget = createForgetter(configuration, { geofence, beacon });
  let offset = 0;
  async function write(count: number): Promise<string[]> {
    const records = Array.from({ length: count }, (_, index) => geofenceRecord({ externalId: `${offset + index}` }));
    offset += count;
    await readModel.apply(
      records.map((record) => ({ kind: 'geofence', id: record._id, record })),
      offset,
    );
    return records.map(({ _id }) => _id);
  }

  const few = await write(3);
  forget();
  expect(new Set(geofence.removed)).toEqual(new Set(few));
  expect(beacon.removed).toEqual([]);

  for (let batch = 0; batch < 12; batch++) await write(500);
  forget();
  expect(geofence.removed.slice(few.length)).toEqual(['all']);
  expect(beacon.removed).toEqual(['all']);
  expect(Math.max(...read)).toBeLessThan(3_000);

  const [last] = await write(1);
  forget();
  expect(geofence.removed.at(-1)).toBe(last);
});
