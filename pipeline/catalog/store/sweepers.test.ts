import { expect, onTestFinished, test } from 'vitest';
import { PortError } from '../../errors.js';
import { leasesOfOnlyNode, type TakeLease } from '../../sweeper.js';
import { geofenceRecord, temporaryFolder } from '../testing/fixtures.js';
import type { ConfigurationChange, DecodedChange } from '../types.js';
import { openReadModel } from './read-model.js';
import { createExpirySweeper } from './sweepers.js';

const catchUp = async () => {};

test('deletes only geofences whose deleteAfter has passed', async () => {
  let now = 1_000;
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  let offset = 0;
  const written: string[] = [];
  const write = async (changes: readonly ConfigurationChange[]) => {
    written.push(...changes.filter(({ record }) => record === null).map(({ id }) => id));
    offset += changes.length;
    await readModel.apply(changes as DecodedChange[], offset);
    return [];
  };
  const fences = [null, 1_500, 2_500].map((deleteAfter, index) =>
    geofenceRecord({ externalId: String(index), deleteAfter }),
  );
  await write(fences.map((record) => ({ kind: 'geofence', id: record._id, record })));

  const sweeper = createExpirySweeper({
    readModel,
    writer: { write, catchUp },
    takeLease: leasesOfOnlyNode,
    clock: () => now,
    intervalMs: 5,
    retentionMs: 0,
  });
  sweeper.start();
  now = 1_501;
  await expect.poll(() => written).toEqual([fences[1]!._id]);
  now = 2_600;
  await expect.poll(() => written).toEqual([fences[1]!._id, fences[2]!._id]);
  await sweeper.stop();
  await sweeper.done;
  expect([...readModel.compactFences()].map(({ id }) => id)).toEqual([fences[0]!._id]);
});

test('a node without the lease deletes nothing, and tries again', async () => {
  const leasesTaken: string[] = [];
  let isOurs = false;
  const takeLease: TakeLease = async (name, closing) => {
    leasesTaken.push(name);
    return isOurs ? leasesOfOnlyNode(name, closing) : undefined;
  };
  let expired = ['x'];
  const written: string[] = [];
  const write = async (changes: readonly ConfigurationChange[]) => {
    for (const { id } of changes) written.push(id);
    if (changes.length > 0) expired = [];
    return [];
  };
  const sweeper = createExpirySweeper({
    readModel: { expired: () => expired, bases: () => [] },
    writer: { write, catchUp },
    takeLease,
    intervalMs: 1,
    retentionMs: 0,
  });
  sweeper.start();
  await expect.poll(() => leasesTaken.length).toBeGreaterThan(3);
  expect(written).toEqual([]);
  isOurs = true;
  await expect.poll(() => written).toEqual(['x']);
  await sweeper.stop();
  expect(new Set(leasesTaken)).toEqual(new Set(['expiry']));
});

test('a failure of the log ends the sweeper and is reported', async () => {
  const readModel = { expired: () => ['x'], bases: () => [] };
  const write = async () => {
    throw new Error('the log is gone');
  };
  const sweeper = createExpirySweeper({
    readModel,
    writer: { write, catchUp },
    takeLease: leasesOfOnlyNode,
    intervalMs: 5,
    retentionMs: 0,
  });
  sweeper.start();
  await expect(sweeper.done).rejects.toThrow('the log is gone');
  await sweeper.stop();
});

// A node ended when a geofence expired while requests had filled the log.
test.each(['overloaded', 'unavailable', 'storage_full'] as const)(
  'regression: a sweep that a log refuses as %s is repeated',
  async (code) => {
    let refusals = 0;
    let expired = ['x'];
    const write = async () => {
      if (refusals++ < 2) throw new PortError(code, 'not now');
      expired = [];
      return [];
    };
    const sweeper = createExpirySweeper({
      readModel: { expired: () => expired, bases: () => [] },
      writer: { write, catchUp },
      takeLease: leasesOfOnlyNode,
      intervalMs: 1,
      retentionMs: 0,
    });
    sweeper.start();
    await Promise.race([expect.poll(() => expired).toEqual([]), sweeper.done]);
    await sweeper.stop();
    await sweeper.done;
  },
);
