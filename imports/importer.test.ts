/** Imports of CSV files: applied and refused rows, and the record of the import. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readBeacon } from '../api/beacons/fields.js';
import { beaconRecord } from '../api/beacons/record.js';
import { geofenceId } from '../api/geofences/record.js';
import { accepted } from '../http/fields/reader.js';
import { projectRecord } from '../pipeline/catalog/testing/fixtures.js';
import type { ConfigurationWriter, Scope } from '../pipeline/catalog/types.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import type { ImportRecord } from '../schemas/json/import.js';
import type { ImportRequest } from './execution.js';
import { fileText } from './files.js';
import { createImporter } from './importer.js';
import { bytesOf, newScope, useWorkbench } from './testing/fixtures.js';

const bench = useWorkbench();

const header = 'description,type,tag,externalId,coordinates,radius';
const shop = (name: string, more = '100') => `Shop ${name},circle,store,${name},"[10.5,50.25]",${more}`;
const file = (...lines: string[]) => [header, ...lines].join('\n');
const requestOf = (scope: ReturnType<typeof newScope>, text: string): ImportRequest => ({
  scope,
  resource: 'geofence',
  source: bytesOf(text),
  format: 'csv',
  requestedBy: { kind: 'key', name: 'prj_test_sk_…cafe' },
});
const stored = (scope: ReturnType<typeof newScope>) =>
  bench.readModel.geofences({ ...scope, orderBy: 'createdAt', limit: 1_000 }).items;

describe('an import', () => {
  it('creates a geofence for each row, with the rules of the API', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a'), shop('b')));
    expect(result).toMatchObject({ status: 'completed', rows: 2, created: 2, rejected: 0, lastLine: 3 });
    expect(stored(scope).map(({ externalId, radius, timeZone }) => [externalId, radius, timeZone])).toEqual(
      expect.arrayContaining([
        ['a', 100, 'Europe/Berlin'],
        ['b', 100, 'Europe/Berlin'],
      ]),
    );
  });

  it('changes nothing when it is repeated', async () => {
    const scope = newScope();
    await bench.import(scope, file(shop('a'), shop('b')));
    const before = stored(scope);
    const result = await bench.import(scope, file(shop('a'), shop('b')));
    expect(result).toMatchObject({ status: 'completed', created: 0, updated: 0, unchanged: 2 });
    expect(stored(scope)).toEqual(before);
  });

  it('applies the good rows and reports the bad ones', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a'), shop('b', '5'), shop('c')));
    expect(result).toMatchObject({ status: 'completed', created: 2, rejected: 1 });
    expect(result.rejections).toEqual([
      { line: 3, column: 'radius', value: '5', rule: 'must be a number from 10 to 10000 metres' },
    ]);
  });
});

// An import of a row past its deleteAfter created the geofence each time, with a new createdAt. To the devices inside
// that is another geofence, so late locations that left it made no exit.
describe('a row past its deleteAfter', () => {
  const expiring = (deleteAfter: string, more?: string) => `${header},deleteAfter\n${shop('a', more)},${deleteAfter}`;
  const idOf = (scope: ReturnType<typeof newScope>) => geofenceId(scope, { tag: 'store', externalId: 'a' });

  it('changes nothing over the geofence that has the same', async () => {
    const scope = newScope();
    expect(await bench.import(scope, expiring('2020-01-01'))).toMatchObject({ created: 1 });
    const before = bench.readModel.storedGeofence(scope, idOf(scope));
    expect(await bench.import(scope, expiring('2020-01-01'))).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    expect(bench.readModel.storedGeofence(scope, idOf(scope))).toEqual(before);
  });

  it('edits the geofence without making another of it', async () => {
    const scope = newScope();
    await bench.import(scope, expiring('2020-01-01'));
    const before = bench.readModel.storedGeofence(scope, idOf(scope))!;
    expect(await bench.import(scope, expiring('2019-01-01', '200'))).toMatchObject({ created: 0, updated: 1 });
    const after = bench.readModel.storedGeofence(scope, idOf(scope))!;
    expect(after).toMatchObject({ createdAt: before.createdAt, radius: 200, deleteAfter: Date.UTC(2019, 0, 1) });
  });

  it('is another geofence once it names a later time, or none', async () => {
    const scope = newScope();
    for (const later of ['2999-01-01', '']) {
      await bench.import(scope, expiring('2020-01-01'));
      const before = bench.readModel.storedGeofence(scope, idOf(scope))!;
      expect(await bench.import(scope, expiring(later))).toMatchObject({ created: 1 });
      expect(stored(scope)[0]!.createdAt).toBeGreaterThan(before.createdAt);
    }
  });
});

it('tells of each import when its record says how it ended', async () => {
  const scope = newScope();
  const told: ImportRecord[] = [];
  const importer = createImporter({ ...bench, onEnded: (record) => void told.push(record) });
  await importer.importRecords(requestOf(scope, file(shop('a'))));
  await importer.importRecords(requestOf(scope, file(shop('b'), '"open')));
  expect(told).toMatchObject([
    { status: 'completed', created: 1 },
    { status: 'failed', created: 1 },
  ]);
  expect(told.map(({ _id }) => bench.readModel.imports.find(scope, _id)?.status)).toEqual(['completed', 'failed']);
});

describe('an import of a broken file', () => {
  it('fails with the line, after the rows before it', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a'), '"open'));
    expect(result).toMatchObject({ status: 'failed', created: 1, failure: { line: 3, column: 'row' } });
    expect(stored(scope)).toHaveLength(1);
  });

  it('changes nothing when the header is bad', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a')).replace('tag', 'tga'));
    expect(result).toMatchObject({ status: 'failed', rows: 0, failure: { line: 1, column: 'tga' } });
    expect(stored(scope)).toEqual([]);
  });

  it('ends at the limit of rows', async () => {
    const scope = newScope();
    const small = createImporter({ ...bench, bounds: { maxRows: 2 } });
    const result = await small.importRecords(requestOf(scope, file(shop('a'), shop('b'), shop('c'))));
    const failure = { column: 'file', rule: 'has more than 2 rows' };
    expect(result).toMatchObject({ status: 'failed', failure, rows: 2, created: 2, rejected: 0 });
    expect(stored(scope)).toHaveLength(2);
  });
});

describe('rows of one pair', () => {
  it('are bad but for the first', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a'), shop('a', '200')));
    expect(result).toMatchObject({ created: 1, rejected: 1 });
    expect(result.rejections[0]).toMatchObject({
      line: 3,
      column: 'externalId',
      rule: 'repeats the tag and externalId of line 2, which counts; name each pair once',
    });
    expect(stored(scope)[0]!.radius).toBe(100);
  });
});

describe('an edit that comes between comparison and write', () => {
  it('is not undone: the row is compared and written again', async () => {
    const scope = newScope();
    await bench.import(scope, file(shop('a')));
    const before = stored(scope)[0]!;
    let isFirst = true;
    const writer: ConfigurationWriter = {
      ...bench.writer,
      async write(changes) {
        if (isFirst && changes.some(({ kind }) => kind === 'geofence')) {
          isFirst = false;
          const record = { ...before, radius: 999, updatedAt: bench.writer.nextTimestamp() };
          const bases = bench.readModel.bases('geofence', record._id);
          await bench.writer.write([{ kind: 'geofence', id: record._id, record, bases }]);
        }
        return bench.writer.write(changes);
      },
    };
    const result = await createImporter({ ...bench, writer }).importRecords(requestOf(scope, file(shop('a', '200'))));
    expect(result).toMatchObject({ status: 'completed', updated: 1, rejected: 0 });
    expect(stored(scope)).toMatchObject([{ radius: 200, createdAt: before.createdAt }]);
    expect(bench.readModel.contested(10)).toEqual([]);
  });
});

/** Yields rows, and waits at `heldAt` until it is released. */
function heldFile(names: readonly string[], heldAt: number) {
  let release: () => void = () => {};
  let arrive: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  async function* source() {
    yield Buffer.from(`${header}\n`);
    for (const [index, name] of names.entries()) {
      if (index === heldAt) {
        arrive();
        await released;
      }
      yield Buffer.from(`${shop(name)}\n`);
    }
  }
  return { source: source(), release, arrived };
}

describe('imports of a project', () => {
  it('run one at a time, on all nodes', async () => {
    const scope = newScope();
    const held = heldFile(['a', 'b'], 1);
    const running = bench.importer.importRecords({ ...requestOf(scope, ''), source: held.source });
    await held.arrived;
    for (const importer of [bench.importer, bench.otherImporter()]) {
      await expect(importer.importRecords(requestOf(scope, ''))).rejects.toMatchObject({ code: 'import_running' });
      await expect(importer.check(scope)).rejects.toMatchObject({ code: 'import_running' });
    }
    expect(await bench.import(newScope(), file(shop('a')))).toMatchObject({ created: 1 });
    held.release();
    expect(await running).toMatchObject({ created: 2 });
    expect(await bench.import(scope, file(shop('a')))).toMatchObject({ unchanged: 1 });
  });

  it('of a node are limited', async () => {
    const importer = createImporter({ ...bench, bounds: { maxRunning: 1 } });
    const permit = await importer.admit(newScope());
    await expect(importer.admit(newScope())).rejects.toMatchObject({ code: 'overloaded' });
    await expect(importer.check(newScope())).rejects.toMatchObject({ code: 'overloaded' });
    await permit.release();
    const scope = newScope();
    await importer.check(scope);
    await importer.check(scope);
    await (await importer.admit(newScope())).release();
  });
});

describe('an import that is interrupted', () => {
  it('says up to which line it is applied, and the next import applies the rest', async () => {
    const scope = newScope();
    const names = Array.from({ length: 20 }, (_, index) => `shop-${index}`);
    const held = heldFile(names, 10);
    const importer = createImporter(bench);
    const running = importer.importRecords({ ...requestOf(scope, ''), source: held.source });
    await held.arrived;
    const closed = importer.close();
    held.release();
    const result = await running;
    await closed;
    expect(result).toMatchObject({ status: 'interrupted', finishedAt: expect.any(Number) });
    expect(stored(scope)).toHaveLength(result.lastLine - 1);
    await expect(importer.importRecords(requestOf(scope, ''))).rejects.toMatchObject({ code: 'unavailable' });
    const again = await bench.import(scope, file(...names.map((name) => shop(name))));
    expect(again).toMatchObject({ unchanged: result.created, created: 20 - result.created });
  });

  it('because its project was deleted', async () => {
    const scope = newScope();
    const record = projectRecord({ _id: scope.project });
    await bench.writer.write([{ kind: 'project', id: record._id, record }]);
    const held = heldFile(['a', 'b'], 1);
    const configuration: typeof bench.readModel = Object.create(bench.readModel);
    const noticed = new Promise<void>((resolve) => {
      configuration.revisionOf = (kind, id) => {
        const revision = bench.readModel.revisionOf(kind, id);
        if (kind === 'project' && revision?.deletedAtMs != null) setImmediate(resolve);
        return revision;
      };
    });
    const importer = createImporter({ ...bench, configuration });
    const running = importer.importRecords({ ...requestOf(scope, ''), source: held.source });
    await held.arrived;
    await bench.writer.write([{ kind: 'project', id: record._id, record: null }]);
    await noticed;
    held.release();
    expect(await running).toMatchObject({ status: 'interrupted', created: 0 });
  });

  it('because it was stopped, here or on another node', async () => {
    let hear: () => void = () => {};
    const values: typeof bench.values = {
      ...bench.values,
      put: (...given) => bench.values.put(...given),
      delete: (...given) => bench.values.delete(...given),
      increment: (...given) => bench.values.increment(...given),
      async get(key) {
        const value = await bench.values.get(key);
        if (key.startsWith('import-stop/') && value !== undefined) setImmediate(hear);
        return value;
      },
    };
    const importer = createImporter({ ...bench, values });
    for (const teller of [importer, bench.otherImporter()]) {
      const scope = newScope();
      const held = heldFile(['a', 'b'], 1);
      const heard = new Promise<void>((resolve) => {
        hear = resolve;
      });
      const permit = await importer.admit(scope);
      const { finished } = await importer.start(permit, { ...requestOf(scope, ''), source: held.source });
      await held.arrived;
      await teller.stop(newScope(), permit.id);
      await teller.stop(scope, permit.id);
      if (teller !== importer) await heard;
      held.release();
      const { status, created } = await finished;
      expect(status).toBe('interrupted');
      await teller.stop(scope, permit.id);
      const again = await bench.import(scope, file(shop('a'), shop('b')));
      expect(again).toMatchObject({ created: 2 - created, unchanged: created });
    }
  });

  // An import that lost its lease in an outage ran on, and another node imported into the same project meanwhile.
  it('because another node holds the lease of its project, and may import', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    let renewal: Promise<boolean> | undefined;
    const values: typeof bench.values = {
      ...bench.values,
      put(...given) {
        renewal = bench.values.put(...given);
        return renewal;
      },
    };
    const scope = newScope();
    const held = heldFile(['a', 'b'], 1);
    const importer = createImporter({ ...bench, leases: createHeldLeases(values) });
    const running = importer.importRecords({ ...requestOf(scope, ''), source: held.source });
    await held.arrived;
    await bench.values.delete(`import/${scope.project}`);
    const permit = await bench.otherImporter().admit(scope);
    vi.advanceTimersToNextTimer();
    while ((await renewal) !== false) vi.advanceTimersToNextTimer();
    held.release();
    expect(await running).toMatchObject({ status: 'interrupted', created: 0 });
    await expect(importer.check(scope)).rejects.toMatchObject({ code: 'import_running' });
    await permit.release();
  });

  it('by the end of its process is shown as interrupted, because its lease is gone', async () => {
    const scope = newScope();
    const held = heldFile(['a', 'b'], 1);
    const running = bench.importer.importRecords({ ...requestOf(scope, ''), source: held.source });
    await held.arrived;
    const [{ _id }] = bench.readModel.imports.list({ ...scope, resource: 'geofences', limit: 1 }).items as [
      ImportRecord,
    ];
    const other = bench.otherImporter();
    expect(await other.statusOf(other.find(scope, _id)!)).toBe('running');
    await bench.values.delete(`import/${scope.project}`);
    expect(await other.statusOf(other.find(scope, _id)!)).toBe('interrupted');
    held.release();
    await running;
  });

  it('has a record in the log that is never ahead of the rows', async () => {
    const scope = newScope();
    const names = Array.from({ length: 2_500 }, (_, index) => `shop-${index}`);
    await bench.import(scope, file(...names.map((name) => shop(name))));
    let rows = 0;
    const lines: number[] = [];
    const end = await bench.log.end(topics.changes, 0);
    for (let offset = 0; offset < end; ) {
      const { records, nextOffset } = await bench.log.read(topics.changes, 0, offset, 1_000);
      for (const { key, value } of records) {
        const record = value === null ? null : JSON.parse(codecs.change.decode(value).record);
        if (record?.project !== scope.project) continue;
        if (key.startsWith('geofence/')) rows += 1;
        if (key.startsWith('import/')) {
          expect(rows).toBeGreaterThanOrEqual(record.lastLine - 1);
          lines.push(record.lastLine);
        }
      }
      offset = nextOffset;
    }
    expect(rows).toBe(2_500);
    expect(lines).toEqual([...lines].sort((one, other) => one - other));
    expect(lines.length).toBeGreaterThan(3);
  });
});

describe('the history', () => {
  it('keeps the newest imports, and the files of fewer', async () => {
    const scope = newScope();
    const small = createImporter({ ...bench, bounds: { maxRemembered: 3, maxWithFiles: 1 } });
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      ids.unshift((await small.importRecords(requestOf(scope, file(shop('a', '1')))))._id);
    }
    const { items } = bench.readModel.imports.list({ ...scope, resource: 'geofences', limit: 10 });
    expect(items.map(({ _id }) => _id)).toEqual(ids.slice(0, 3));
    expect(items.map(({ files }) => files.rejected.parts)).toEqual([1, 0, 0]);
    const { readModel } = bench;
    expect([...fileText(readModel.imports, scope, items[0]!, 'rejected')].join('')).toContain('Shop a,circle');
    const part = { ...items[1]!, files: items[0]!.files };
    expect([...fileText(readModel.imports, scope, part, 'rejected')].join('')).toBe('');
  });

  // A comma without quotes divides the coordinates. The radius after them was in no column, and was lost.
  it('keeps all cells of a row that has too many', async () => {
    const scope = newScope();
    const text = 'tag,externalId,description,type,coordinates,radius\nstore,a,Shop,circle,[1,2],100,\n';
    const result = await bench.import(scope, text);
    expect(result.rejections).toMatchObject([{ line: 2, column: 'row', rule: expect.stringContaining('has 8 cells') }]);
    const [, row] = [...fileText(bench.readModel.imports, scope, result, 'rejected')].join('').split('\r\n');
    expect(row).toMatch(/^store,a,Shop,circle,\[1,"2\],100,",2,row,/);
  });

  it('cuts a file of bad rows that is too long, and counts all', async () => {
    const scope = newScope();
    const small = createImporter({ ...bench, bounds: { maxFileCharacters: 250 } });
    const result = await small.importRecords(requestOf(scope, file(shop('a', '1'), shop('b', '1'), shop('c', '1'))));
    expect(result).toMatchObject({ rejected: 3, files: { rejected: { parts: 1, isCut: true } } });
    expect(result.rejections).toHaveLength(3);
  });
});

it('reports a row that is nested deeply, which once ended the import, and applies the others', async () => {
  const row = (externalId: string, metadata: string) =>
    `{"tag":"deep","externalId":"${externalId}","description":"Shop","type":"circle","coordinates":[1,2],` +
    `"radius":100,"metadata":${metadata}}`;
  const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  const text = [row('a', '{}'), row('b', deep), row('c', '{}')].join('\n');
  expect(await bench.import(newScope(), text, { format: 'ndjson' })).toMatchObject({
    status: 'completed',
    created: 2,
    rejected: 1,
    rejections: [{ line: 2, column: 'row' }],
  });
});

describe('beacons without a pair', () => {
  const beacon = (name: string, minor: number) => `${name},ibeacon,${'0'.repeat(32)},1,${minor},"[1,2]"`;
  const beacons = (...rows: string[]) => ['description,type,uuid,major,minor,coordinates', ...rows].join('\n');
  const send = (scope: Scope, ...rows: string[]) => bench.import(scope, beacons(...rows), { resource: 'beacon' });

  /** Creates beacons as calls do, within a second. */
  async function created(scope: Scope, ...minors: number[]): Promise<string[]> {
    const records = minors.map((minor) =>
      beaconRecord(scope, readBeaconOrThrow(minor), undefined, bench.writer.nextTimestamp()),
    );
    await bench.writer.write(records.map((record) => ({ kind: 'beacon', id: record._id, record })));
    return records.map(({ _id }) => _id);
  }

  it('are the same beacon when they transmit the same', async () => {
    const scope = newScope();
    const [id] = await created(scope, 2);
    expect(await send(scope, beacon('Door', 2))).toMatchObject({ unchanged: 1 });
    expect(await send(scope, beacon('Gate', 2))).toMatchObject({ updated: 1 });
    expect(bench.readModel.beacon(scope, id!)?.description).toBe('Gate');
  });

  it('are distinct, although their ids begin with the same second and process', async () => {
    const scope = newScope();
    await created(scope, 1, 2, 3);
    const rows = [1, 2, 3].map((minor) => beacon('Gate', minor));
    expect(await send(scope, ...rows)).toMatchObject({ updated: 3, rejected: 0 });
  });

  it('are repeated if two rows transmit the same, and the message says so', async () => {
    const { rejections } = await send(newScope(), beacon('Door', 2), beacon('Gate', 2));
    expect(rejections).toMatchObject([{ rule: expect.stringMatching(/^transmits the same as line 2/) }]);
  });
});

function readBeaconOrThrow(minor: number) {
  const fields = {
    description: 'Door',
    type: 'ibeacon',
    uuid: '0'.repeat(32),
    major: 1,
    minor,
    coordinates: [1, 2],
  };
  return accepted(readBeacon(fields));
}
