import { cpSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Position } from '../../../schemas/json/common.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import { collectGarbage } from '../../../testing/garbage.js';
import { until } from '../../../testing/until.js';
import { topics } from '../../ports.js';
import { leasesOfOnlyNode, type TakeLease } from '../../sweeper.js';
import { geofenceRecord, projectA, projectRecord, scope, temporaryFolder } from '../testing/fixtures.js';
import type { ConfigurationChange } from '../types.js';
import { appendChange } from './append-change.js';
import { type ChangeProblem, createChangeDecoder, followChanges, followComparedChanges } from './changes.js';
import { createCatchUp, createConfigurationWriter } from './configuration-writer.js';
import { openReadModel } from './read-model.js';
import { createRestorationSweeper } from './sweepers.js';

const put = (record: ReturnType<typeof geofenceRecord>): ConfigurationChange => ({
  kind: 'geofence',
  id: record._id,
  record,
});

function startNode(path = temporaryFolder()) {
  const embedded = openEmbedded({ path: `${path}/data`, partitions: 1 });
  const readModel = openReadModel(`${path}/read-model`);
  const problems: ChangeProblem[] = [];
  const following = followChanges({ log: embedded.log, readModel, onProblem: (problem) => problems.push(problem) });
  const stop = async () => {
    await following.close();
    await readModel.close();
    await embedded.close();
  };
  return {
    log: embedded.log,
    readModel,
    problems,
    writer: createConfigurationWriter({ log: embedded.log, readModel }),
    stop,
  };
}

test('reads written records at once, and again after a restart', async () => {
  const path = temporaryFolder();
  const first = startNode(path);
  const fence = geofenceRecord();
  await first.writer.write([{ kind: 'project', id: projectA, record: projectRecord() }, put(fence)]);
  expect(first.readModel.geofence(scope, fence._id)).toEqual(fence);
  expect(first.readModel.project(projectA)).toEqual(projectRecord());
  await first.writer.write([{ kind: 'geofence', id: fence._id, record: null }]);
  expect(first.readModel.geofence(scope, fence._id)).toBeUndefined();
  await first.writer.catchUp();
  await first.stop();

  const second = startNode(path);
  onTestFinished(() => second.stop());
  expect(second.readModel.project(projectA)).toEqual(projectRecord());
  await second.writer.write([put(fence)]);
  expect(second.readModel.geofence(scope, fence._id)).toEqual(fence);
});

// The time that Kafka took for the first edit of a node counted as lag of its read model, and the edit was refused.
test('only the time after the append counts as lag of the read model', async () => {
  const { log, readModel, stop } = startNode();
  onTestFinished(stop);
  const limitMs = 60_000;
  const slow = Object.assign(Object.create(log), {
    async append(...appended: Parameters<typeof log.append>) {
      await vi.advanceTimersByTimeAsync(limitMs);
      vi.useRealTimers();
      await log.append(...appended);
    },
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const writer = createConfigurationWriter({ log: slow, readModel, limitMs });
  await expect(writer.write([put(geofenceRecord())])).resolves.toMatchObject([{ kind: 'applied' }]);
});

test('names what is late: the log, or the read model', async () => {
  const { log, readModel, stop } = startNode();
  onTestFinished(stop);
  const never = new Promise<never>(() => {});
  const silent = Object.assign(Object.create(log), { end: () => never });
  const [unanswered, lagging] = [
    createConfigurationWriter({ log: silent, readModel, limitMs: 1 }),
    createConfigurationWriter({
      log: Object.assign(Object.create(log), { end: async () => 0 }),
      readModel: Object.assign(Object.create(readModel), { waitFor: () => never }),
      limitMs: 1,
    }),
  ];
  await expect(unanswered.catchUp()).rejects.toThrow('the log does not answer');
  await expect(lagging.catchUp()).rejects.toThrow('this node lags behind the configuration');
});

// Each request with an unknown key added one, 20 a second, for as long as the read model stood still.
test('regression: what has waited too long for the read model leaves nothing in memory', async () => {
  const { log, readModel, stop } = startNode();
  onTestFinished(stop);
  let waiting: WeakRef<Promise<void>> | undefined;
  const observed: typeof readModel = Object.assign(Object.create(readModel), {
    waitFor(...given: Parameters<typeof readModel.waitFor>) {
      const waited = readModel.waitFor(...given);
      waiting = new WeakRef(waited);
      return waited;
    },
  });
  const ahead = Object.assign(Object.create(log), { end: async () => readModel.nextOffset + 1 });
  await expect(createCatchUp({ log: ahead, readModel: observed, limitMs: 1 })()).rejects.toThrow('lags behind');
  await until(() => {
    collectGarbage();
    return waiting!.deref() === undefined;
  });
});

test('a change that was appended without waiting reaches the read model', async () => {
  const node = startNode();
  onTestFinished(() => node.stop());
  const fence = geofenceRecord();
  await appendChange({ log: node.log, clock: () => 7_000 }, put(fence));
  await node.writer.catchUp();
  expect(node.readModel.geofence(scope, fence._id)).toEqual(fence);
  const [record] = (await node.log.read(topics.changes, 0, 0, 10)).records;
  expect(record?.value && codecs.change.decode(record.value).changedAt).toBe(7_000);
});

test('a new node reads the topic from the start', async () => {
  const node = startNode();
  onTestFinished(() => node.stop());
  const fences = Array.from({ length: 2_500 }, (_, index) => geofenceRecord({ externalId: String(index) }));
  await node.writer.write(fences.map(put));
  const late = openReadModel(temporaryFolder());
  const following = followChanges({ log: node.log, readModel: late, onProblem: () => {} });
  await late.waitFor(node.readModel.nextOffset);
  expect([...late.compactFences()]).toHaveLength(2_500);
  await following.close();
  await late.close();
});

test('reports and skips invalid records', async () => {
  const node = startNode();
  onTestFinished(() => node.stop());
  const fence = geofenceRecord();
  const encode = (record: unknown) =>
    codecs.change.encode({ kind: 'geofence', id: fence._id, changedAt: 0, record: JSON.stringify(record) });
  const key = `geofence/${fence._id}`;
  await node.log.append(topics.changes, [
    { key: 'nonsense', value: null },
    { key, value: Buffer.from('not avro') },
    { key: `beacon/${fence._id}`, value: encode(fence) },
    { key, value: encode({ ...fence, radius: 'wide' }) },
    { key, value: encode({ ...fence, ip: 'nowhere' }) },
  ]);
  await node.writer.write([put(geofenceRecord({ externalId: 'good' }))]);
  expect([...node.readModel.compactFences()]).toHaveLength(1);
  // Compaction may remove a record before it is read, if a later record has the same key.
  expect(node.problems.map(({ key: of }) => of)).toEqual(
    expect.arrayContaining(['nonsense', `beacon/${fence._id}`, key]),
  );
  expect(node.problems.every(({ reason }) => reason.length > 0)).toBe(true);
});

test('reports the reason for each kind of invalid change', () => {
  const decode = createChangeDecoder();
  const fence = geofenceRecord();
  const value = (record: unknown, id = fence._id) =>
    codecs.change.encode({ kind: 'geofence', id, changedAt: 0, record: JSON.stringify(record) });
  const key = `geofence/${fence._id}`;
  expect(decode({ key, value: value(fence) })).toMatchObject({ kind: 'geofence', id: fence._id, record: fence });
  expect(decode({ key, value: null })).toEqual({ kind: 'geofence', id: fence._id, record: null });
  expect(() => decode({ key: 'toString/1', value: null })).toThrow('kind/id');
  expect(() => decode({ key: `${key}/x`, value: null })).toThrow('kind/id');
  expect(() => decode({ key, value: value(fence, projectA) })).toThrow('different ids');
  expect(() => decode({ key, value: value({ ...fence, _id: projectA }) })).toThrow('different ids');
  expect(() => decode({ key, value: value({ ...fence, enabled: 1 }) })).toThrow('/enabled');
  expect(() => decode({ key, value: value({ ...fence, ip: 'nowhere' }) })).toThrow('nowhere');
});

test('timestamps increase beyond those of earlier runs, even with a stopped clock', async () => {
  const node = startNode();
  onTestFinished(() => node.stop());
  const writer = createConfigurationWriter({ log: node.log, readModel: node.readModel, clock: () => 5_000 });
  expect([writer.nextTimestamp(), writer.nextTimestamp()]).toEqual([5_000, 5_001]);
  await writer.write([put(geofenceRecord({ updatedAt: 9_000 }))]);
  expect([writer.nextTimestamp(), writer.nextTimestamp()]).toEqual([9_001, 9_002]);
});

/** Two read models of one log, as on two nodes. */
function startTwoNodes(compactionLagMs?: number) {
  const path = temporaryFolder();
  const embedded = openEmbedded({ path, partitions: 1, ...(compactionLagMs !== undefined && { compactionLagMs }) });
  const { log } = embedded;
  const start = () => {
    const readModel = openReadModel(temporaryFolder());
    const following = followChanges({ log, readModel, onProblem: (problem) => expect(problem).toBeUndefined() });
    const stop = async () => {
      await following.close();
      await readModel.close();
    };
    return { readModel, writer: createConfigurationWriter({ log, readModel }), stop };
  };
  const nodes = [start(), start()] as const;
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await embedded.close();
  });
  return { log, nodes, start };
}

test('applies the first of two edits with the same base on every read model, and informs both writers', async () => {
  const { nodes } = startTwoNodes();
  const [left, right] = nodes;
  const fence = geofenceRecord();
  const { _id } = fence;
  expect(await left.writer.write([{ ...put(fence), bases: left.readModel.bases('geofence', _id) }])).toEqual([
    { kind: 'applied', revision: 0 },
  ]);
  await right.writer.catchUp();
  for (let round = 0; round < 20; round++) {
    const before = left.readModel.revisionOf('geofence', _id)!.revision;
    const outcomes = await Promise.all(
      nodes.map(({ readModel, writer }, index) =>
        writer.write([
          { ...put({ ...fence, updatedAt: round, radius: 10 + index }), bases: readModel.bases('geofence', _id) },
        ]),
      ),
    );
    await Promise.all(nodes.map(({ writer }) => writer.catchUp()));
    const applied = outcomes.flat().findIndex(({ kind }) => kind === 'applied');
    expect(outcomes.flat().filter(({ kind }) => kind === 'applied')).toHaveLength(1);
    for (const { readModel } of nodes) {
      expect(readModel.geofence(scope, _id)).toMatchObject({ updatedAt: round, radius: 10 + applied });
      expect(readModel.revisionOf('geofence', _id)!.revision).toBeGreaterThan(before);
    }
  }
});

test('restores a record whose newest edit was refused before compaction, even if it was deleted', async () => {
  const { log, nodes, start } = startTwoNodes(0);
  const [left, right] = nodes;
  const [kept, gone] = [geofenceRecord({ externalId: 'kept' }), geofenceRecord({ externalId: 'gone' })];
  await left.writer.write([put(kept), put(gone)]);
  await right.writer.catchUp();
  const stale = [kept, gone].map(({ _id }) => right.readModel.bases('geofence', _id));
  await left.writer.write([put({ ...kept, radius: 20 }), { ...put(gone), record: null }]);
  const outcomes = await right.writer.write(
    [kept, gone].map((record, index) => ({ ...put(record), bases: stale[index]! })),
  );
  expect(outcomes).toEqual([{ kind: 'refused' }, { kind: 'refused' }]);
  await left.writer.catchUp();
  expect(left.readModel.contested(10)).toHaveLength(2);

  const leasesTaken: string[] = [];
  const takeLease: TakeLease = (name, closing) => {
    leasesTaken.push(name);
    return leasesOfOnlyNode(name, closing);
  };
  const sweeper = createRestorationSweeper({ ...left, takeLease, intervalMs: 5 });
  sweeper.start();
  await expect.poll(() => left.readModel.contested(10)).toEqual([]);
  await sweeper.stop();
  await sweeper.done;
  expect(leasesTaken).toEqual(['restoration']);

  await log.sweep(Date.now() + 1);
  const late = start();
  await late.writer.catchUp();
  for (const { readModel } of [...nodes, late]) {
    await right.writer.catchUp();
    expect(readModel.geofence(scope, kept._id)).toMatchObject({ radius: 20 });
    expect(readModel.record('geofence', gone._id)).toBeNull();
  }
  await late.stop();
});

test('an invalid edit fails at once', async () => {
  const node = startNode();
  onTestFinished(() => node.stop());
  const broken = { ...geofenceRecord(), radius: 'wide' } as unknown as ReturnType<typeof geofenceRecord>;
  await expect(node.writer.write([put(broken)])).rejects.toThrow('/radius');
});

test('ends when a batch cannot be applied, although none follows', async () => {
  const { log, readModel, stop } = startNode();
  onTestFinished(stop);
  const broken = Object.assign(Object.create(readModel), {
    apply: () => Promise.reject(new Error('the disk is broken')),
  });
  const following = followChanges({ log, readModel: broken, onProblem: () => {} });
  const ended = expect(following.done).rejects.toThrow('the disk is broken');
  await appendChange({ log, clock: Date.now }, put(geofenceRecord()));
  await ended;
  await following.close();
});

/** Returns how many of the fences are applied at once while requests are served. */
async function appliedAtOnce(fences: readonly GeofenceRecord[]): Promise<number[]> {
  const { log, readModel, stop } = startNode();
  onTestFinished(stop);
  const copy = openReadModel(temporaryFolder());
  onTestFinished(() => copy.close());
  const sizes: number[] = [];
  const counted = Object.assign(Object.create(copy), {
    apply(...[changes, ...rest]: Parameters<typeof copy.apply>) {
      sizes.push(changes.length);
      return copy.apply(changes, ...rest);
    },
  });
  await createConfigurationWriter({ log, readModel }).write(fences.map(put));
  const following = followChanges({ log, readModel: counted, onProblem: () => {}, isServing: () => true });
  onTestFinished(() => following.close());
  await copy.waitFor(await log.end(topics.changes, 0));
  expect(copy.count('geofence', scope)).toBe(fences.length);
  return sizes;
}

test('applies few changes at once while requests are served', async () => {
  const fences = Array.from({ length: 450 }, (_, index) => geofenceRecord({ _id: deriveId(`${index}`) }));
  expect(await appliedAtOnce(fences)).toEqual([200, 200, 50]);
});

// Two hundred polygons of 2,000 points stopped all requests for half a second.
test('applies few bytes at once while requests are served', async () => {
  const points = Array.from({ length: 1_000 }, (_, index): Position => [10 + index / 1e7, 50 + Math.sin(index) / 100]);
  const ring = [[10, 49], ...points, [10, 49]] as Position[];
  const bytes = JSON.stringify(ring).length;
  const fences = Array.from({ length: 60 }, (_, index) => geofenceRecord({ _id: deriveId(`${index}`), ring }));
  const sizes = await appliedAtOnce(fences);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(60);
  expect(Math.max(...sizes) * bytes).toBeLessThanOrEqual(524_288);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
});

test('a read model ahead of a restored topic shows the topic once it has caught up', async () => {
  const path = temporaryFolder();
  const [data, older] = [`${path}/data`, `${path}/older`];
  const first = startNode(path);
  const edited = geofenceRecord({ externalId: 'edited' });
  const lost = geofenceRecord({ externalId: 'lost' });
  await first.writer.write([put(edited)]);
  await first.stop();
  cpSync(data, older, { recursive: true });
  const second = startNode(path);
  await second.writer.write([put({ ...edited, description: 'after', updatedAt: edited.updatedAt + 1 }), put(lost)]);
  await second.stop();
  rmSync(data, { recursive: true });
  cpSync(older, data, { recursive: true });

  const embedded = openEmbedded({ path: data, partitions: 1 });
  const readModel = openReadModel(`${path}/read-model`);
  const problems: ChangeProblem[] = [];
  const parts = { log: embedded.log, readModel, onProblem: (problem: ChangeProblem) => problems.push(problem) };
  const following = await followComparedChanges(parts);
  onTestFinished(async () => {
    await following.close();
    await readModel.close();
    await embedded.close();
  });
  await readModel.waitFor((await embedded.log.bounds(topics.changes, 0)).end);
  expect(readModel.geofence(scope, edited._id)).toEqual(edited);
  expect(readModel.geofence(scope, lost._id)).toBeUndefined();
  expect(problems.map(({ reason }) => reason)).toEqual([expect.stringContaining('the read model is rebuilt')]);
});

test('a rebuilt read model catches up with a topic that lost its newest records', async () => {
  const path = temporaryFolder();
  const embedded = openEmbedded({ path: `${path}/data`, partitions: 1, retentionMs: { changes: 0 } });
  const [kept, deleted] = [geofenceRecord({ externalId: 'kept' }), geofenceRecord({ externalId: 'deleted' })];
  for (const change of [put(kept), put(deleted), { kind: 'geofence' as const, id: deleted._id, record: null }]) {
    await appendChange({ log: embedded.log, clock: () => 7_000 }, change);
  }
  await embedded.log.sweep(Date.now() + 2 * 60 * 60 * 1_000);
  expect((await embedded.log.read(topics.changes, 0, 0, 10)).records.map(({ offset }) => offset)).toEqual([0]);
  await embedded.close();

  const node = startNode(path);
  onTestFinished(() => node.stop());
  await node.writer.catchUp();
  expect(node.readModel.geofence(scope, kept._id)).toEqual(kept);
  expect(node.readModel.position).toEqual({ offset: 3, mark: expect.stringMatching(/^0:/) });
});
