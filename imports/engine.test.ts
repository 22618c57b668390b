/** Regressions of imports beside other edits. Two edits may have the same time, because times are in milliseconds. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfigurationChange, ConfigurationWriter } from '../pipeline/catalog/types.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import { applyBatch } from './batch.js';
import { applyRows } from './engine.js';
import { geometryResolver, resourceOf } from './resources.js';
import type { RowBatch, SourceRow } from './source.js';
import { newScope, useWorkbench } from './testing/fixtures.js';

const bench = useWorkbench();

const shop = (externalId: string, radius = 100) => ({
  description: 'Shop',
  type: 'circle',
  coordinates: [10.5, 50.25],
  tag: 'store',
  externalId,
  radius,
});

const geofencesOf = (scope: ReturnType<typeof newScope>) => {
  const resource = resourceOf('geofence', { ...bench, resolve: geometryResolver(bench) }, scope);
  const stored = (externalId: string): GeofenceRecord =>
    bench.readModel
      .geofences({ ...scope, orderBy: 'createdAt', limit: 10 })
      .items.find((geofence) => geofence.externalId === externalId)!;
  return { resource, stored, apply: (...rows: object[]) => applyBatch(bench, resource, rows, false) };
};

/** An edit by somebody else, based on what is stored now. */
const edit = (record: GeofenceRecord, change: Partial<GeofenceRecord> | null) =>
  bench.writer.write([
    {
      kind: 'geofence',
      id: record._id,
      record: change && { ...record, ...change },
      bases: bench.readModel.bases('geofence', record._id),
    },
  ]);

describe('a row was answered as updated and not stored, if another edit of the same millisecond came first', () => {
  it('is compared and written again', async () => {
    const geofences = geofencesOf(newScope());
    await geofences.apply(shop('a'));
    const before = geofences.stored('a');
    let isFirst = true;
    const writer: ConfigurationWriter = {
      ...bench.writer,
      async write(changes) {
        const updatedAt = (changes[0]!.record as GeofenceRecord).updatedAt;
        if (isFirst) await edit(before, { enabled: false, updatedAt });
        isFirst = false;
        return bench.writer.write(changes);
      },
    };
    const [result] = await applyBatch({ ...bench, writer }, geofences.resource, [shop('a', 200)], false);
    expect(result).toMatchObject({ action: 'updated' });
    expect(geofences.stored('a')).toMatchObject({ radius: 200, createdAt: before.createdAt });
    expect(geofences.stored('a').updatedAt).toBeGreaterThan(before.updatedAt);
  });

  it('is not written again if only the answer was lost', async () => {
    const geofences = geofencesOf(newScope());
    const written: ConfigurationChange[] = [];
    const writer: ConfigurationWriter = {
      ...bench.writer,
      async write(changes) {
        written.push(...changes);
        await bench.writer.write(changes);
        return changes.map(() => ({ kind: 'refused' }));
      },
    };
    const [result] = await applyBatch({ ...bench, writer }, geofences.resource, [shop('a')], false);
    expect(result).toMatchObject({ action: 'created' });
    expect(written).toHaveLength(1);
  });
});

describe('rows share a time, which may be older than what they replace', () => {
  /** Applies one row, then the change, then the other row. Both rows have one time. */
  async function around(scope: ReturnType<typeof newScope>, change: (atMs: number) => Promise<unknown>) {
    const { resource } = geofencesOf(scope);
    let atMs = 0;
    const writer: ConfigurationWriter = {
      ...bench.writer,
      nextTimestamp() {
        const next = bench.writer.nextTimestamp();
        atMs ||= next;
        return next;
      },
    };
    const rowOf = (line: number, fields: object): SourceRow => ({ line, content: { fields: { ...fields } } });
    async function* batches(): AsyncGenerator<RowBatch> {
      yield { rows: [rowOf(1, shop('first'))], bytesRead: 0 };
      await change(atMs);
      yield { rows: [rowOf(2, shop('second', 200))], bytesRead: 0 };
    }
    const request = { resource, batches: batches(), isDryRun: false, maxRows: 10, unit: 'line' };
    await applyRows({ configuration: bench.readModel, writer }, request, {
      rejected: (_, problem) => expect.fail(problem.rule),
      checkpoint: () => [],
    });
    return atMs;
  }

  it('a geofence that was created and deleted at that time is created as another one', async () => {
    const scope = newScope();
    const geofences = geofencesOf(scope);
    const createdAt = await around(scope, async (atMs) => {
      await geofences.apply(shop('second'));
      const record = geofences.stored('second');
      await edit(record, { createdAt: atMs, updatedAt: atMs });
      await edit(record, null);
    });
    // A visit to the deleted one would continue in one of the same time of creation.
    expect(geofences.stored('second').createdAt).not.toBe(createdAt);
  });

  it('the time of an update is later than that of the record it replaces', async () => {
    const scope = newScope();
    const geofences = geofencesOf(scope);
    let replaced = 0;
    await around(scope, async () => {
      await geofences.apply(shop('second'));
      replaced = geofences.stored('second').updatedAt;
    });
    expect(geofences.stored('second')).toMatchObject({ radius: 200 });
    expect(geofences.stored('second').updatedAt).toBeGreaterThan(replaced);
  });
});

// All beacons were read at once: a batch with one beacon without a pair held up every other request meanwhile.
it('regression: other work has its turn while beacons without a pair are looked for', async () => {
  const scope = newScope();
  const beacon = (minor: number) => ({
    type: 'ibeacon',
    uuid: '2f234454-cf6d-4a0f-adf2-f4911ba9ffa6',
    major: 1,
    minor,
    description: `Beacon ${minor}`,
    coordinates: [10.5, 50.25],
  });
  const lines = Array.from({ length: 2_000 }, (_, minor) => JSON.stringify(beacon(minor)));
  const imported = await bench.import(scope, lines.join('\n'), { resource: 'beacon', format: 'ndjson' });
  expect(imported).toMatchObject({ created: lines.length });

  const resource = resourceOf('beacon', { ...bench, resolve: geometryResolver(bench) }, scope);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  onTestFinished(() => {
    isDone = true;
  });
  const read = await resource.read(beacon(7));
  expect(read).toMatchObject({ ok: true });
  expect(turns).toBeGreaterThan(0);
});
