/** Counts what the table of keys reads from the configuration. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { openReadModel } from '../../pipeline/catalog/store/read-model.js';
import { geofenceRecord, projectA, projectRecord, temporaryFolder } from '../../pipeline/catalog/testing/fixtures.js';
import { createKeyRing, newKey } from './keys.js';

test('projects are read again when a project changes, and not when a geofence does', async () => {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  const projects = vi.spyOn(readModel, 'projects');
  const keyRing = createKeyRing(readModel);
  const first = newKey('test', 'secret', 0);
  const second = newKey('live', 'publishable', 0);
  const withKeys = (...keys: (typeof first.record)[]) => ({
    kind: 'project' as const,
    id: projectA,
    record: projectRecord({ _id: projectA, keys }),
  });

  await readModel.apply([withKeys(first.record)], 1);
  expect((await keyRing.callerOf(first.key))?.project).toBe(projectA);
  expect(await keyRing.callerOf(second.key)).toBeUndefined();
  expect(projects).toHaveBeenCalledTimes(1);

  const fence = geofenceRecord();
  await readModel.apply([{ kind: 'geofence', id: fence._id, record: fence }], 2);
  expect((await keyRing.callerOf(first.key))?.project).toBe(projectA);
  expect(projects).toHaveBeenCalledTimes(1);

  await readModel.apply([withKeys(second.record)], 3);
  expect(await keyRing.callerOf(first.key)).toBeUndefined();
  expect((await keyRing.callerOf(second.key))?.environment).toBe('live');
  expect(projects).toHaveBeenCalledTimes(2);
});
