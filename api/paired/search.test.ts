import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { geofenceRecord } from '../../pipeline/catalog/testing/fixtures.js';
import type { ConfigurationWriter, ListCursor, ListQuery, Page, SearchQuery } from '../../pipeline/catalog/types.js';
import { freshId } from '../../schemas/ids.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { useApi } from '../testing/fixtures.js';
import { changeMany } from './bulk.js';
import { listPage } from './search.js';

const api = await useApi();

const circle = { description: 'Store', type: 'circle', coordinates: [-73.97, 40.78], radius: 100 };
const put = (externalId: string, fields: object = {}, tag = 'store') =>
  api.call('PUT', `/v1/geofences/${tag}/${externalId}`, { body: { ...circle, ...fields } });
const list = async (query: string) => (await api.call('GET', `/v1/geofences?${query}`)).body;
const idsOf = async (query: string): Promise<string[]> =>
  (await list(query)).geofences.map(({ externalId }: { externalId: string }) => externalId);

await put('cafe', { description: 'Café Roma' });
await put('bar', { description: 'Bar', enabled: false });
await put('door', { description: 'Zoo', metadata: { floor: 2 } }, 'roma');

test('words are searched in all names, without case and accents', async () => {
  expect(await idsOf('search=ROMA&sort=description')).toEqual(['cafe', 'door']);
  expect(await idsOf('search=cafe%20roma')).toEqual(['cafe']);
  expect(await idsOf('search=roma&metadata[floor]=2')).toEqual(['door']);
  expect(await idsOf('search=nowhere')).toEqual([]);
  const words = Array.from({ length: 11 }, (_, index) => index).join('%20');
  expect(await list(`search=${words}`)).toMatchObject({ meta: { code: 400, param: 'search' } });
});

// Each value that a form or a CSV column gives by key is text, and no filter found one that looks like a number.
test('a filter finds metadata that were given as text or as values', async () => {
  const key = (await api.newProject('Filters')).key('test', 'secret');
  const form = 'description=S&type=circle&coordinates=[1,2]&radius=50&metadata[shop]=1205&metadata[open]=true';
  await api.call('PUT', '/v1/geofences/shop/form', { key, body: form });
  const metadata = { shop: 1205, open: true };
  await api.call('PUT', '/v1/geofences/shop/json', { key, body: { ...circle, metadata } });
  const found = async (path: string) =>
    (await api.call('GET', path, { key })).body.geofences.map((one: { externalId: string }) => one.externalId);
  expect(await found('/v1/geofences?metadata[shop]=1205')).toEqual(['json', 'form']);
  expect(await found('/v1/geofences?metadata[shop]=1205&metadata[open]=true')).toEqual(['json', 'form']);
  expect(await found('/v1/geofences?metadata[shop]=01205')).toEqual(['json']);
  expect(await found('/v1/geofences?metadata[shop]=120')).toEqual([]);
});

test('records are filtered by their state and sorted either way, and paged by a cursor', async () => {
  expect(await idsOf('enabled=false')).toEqual(['bar']);
  expect(await idsOf('enabled=true&tag=store')).toEqual(['cafe']);
  expect(await idsOf('sort=createdAt')).toEqual(['cafe', 'bar', 'door']);
  const first = await list('sort=-description&limit=2');
  expect(first.geofences.map(({ description }: { description: string }) => description)).toEqual(['Zoo', 'Café Roma']);
  expect(first.meta.hasMore).toBe(true);
  const second = await list(`sort=-description&limit=2&cursor=${first.meta.cursor}`);
  expect(second.geofences).toMatchObject([{ description: 'Bar' }]);
  expect(second.meta).toEqual({ code: 200, hasMore: false });
  expect(await list('sort=-description&cursor=abc')).toMatchObject({ meta: { code: 400, param: 'cursor' } });
  expect(await list('sort=radius')).toMatchObject({ meta: { code: 400, param: 'sort' } });
});

test.each(['geofences', 'geofences/count', 'beacons', 'beacons/count'])(
  '%s refuse a malformed filter by metadata (fault: it was ignored, and everything was returned)',
  async (path) => {
    for (const filter of ['metadata=floor', 'metadata[]=2', 'metadata[__proto__]=2', 'metadata[a][b]=2']) {
      const { status, body } = await api.call('GET', `/v1/${path}?${filter}`);
      expect([filter, status, body.meta.param]).toEqual([filter, 400, 'metadata']);
    }
  },
);

const resource = {
  list: (query: ListQuery) => api.readModel.geofences(query),
  search: (query: SearchQuery) => api.readModel.searchGeofences(query),
};

test('a list whose filter matches nothing holds up no other request, as it did for seconds', async () => {
  const scope = { project: api.project.record._id, environment: 'live' } as const;
  const records = Array.from({ length: 1_600 }, (_, number) =>
    geofenceRecord({ ...scope, externalId: `${number}`, updatedAt: 1_000 + Math.floor(number / 7) }),
  );
  await api.writer.write(records.map((record) => ({ kind: 'geofence', id: record._id, record, bases: ['absent'] })));
  const query = { ...scope, orderBy: 'updatedAt', limit: 1_100 } as const;
  const client = new AbortController();
  expect(await listPage(resource, query, client.signal)).toEqual(resource.list(query));

  let isRead = false;
  const page = listPage(resource, { ...query, metadata: { color: ['none'] } }, client.signal).finally(() => {
    isRead = true;
  });
  let turns = 0;
  for (; !isRead; turns++) await setImmediate();
  expect(await page).toEqual({ items: [], hasMore: false });
  // A record may have 150 kB, so few are read in a turn.
  expect(turns).toBeGreaterThanOrEqual(1_600 / 25);

  // It went on for seconds when its client had left.
  const left = listPage(resource, { ...query, metadata: { color: ['none'] } }, client.signal);
  client.abort(new Error('the client has left'));
  await expect(left).rejects.toThrow('the client has left');
});

// Each of 60,000 users had a geofence of this name. A page of one stopped all other requests for a second.
test('a list of an external id that many tags have is read in turns, and in the order of time', async () => {
  const { record } = await api.newProject('Homes');
  const scope = { project: record._id, environment: 'test' } as const;
  const homes = Array.from({ length: 500 }, (_, number) => {
    const pair = { tag: `user${number}`, externalId: 'home' };
    return geofenceRecord({ ...scope, ...pair, _id: freshId(), updatedAt: 1_000 + ((number * 7) % 90) });
  });
  await api.writer.write(homes.map((record) => ({ kind: 'geofence', id: record._id, record, bases: ['absent'] })));
  const client = new AbortController();
  const query = { ...scope, orderBy: 'updatedAt', externalId: 'home', limit: 60 } as const;
  let turns = 0;
  let isRead = false;
  const read = async () => {
    const found: string[] = [];
    for (let cursor: ListCursor | null = null; ; ) {
      const page: Page<GeofenceRecord> = await listPage(resource, { ...query, cursor }, client.signal);
      found.push(...page.items.map(({ _id }) => _id));
      if (!page.hasMore) return found;
      const last = page.items.at(-1)!;
      cursor = { timeMs: last.updatedAt, id: last._id };
    }
  };
  const found = read().finally(() => {
    isRead = true;
  });
  for (; !isRead; turns++) await setImmediate();
  const newest = homes.sort((a, b) => b.updatedAt - a.updatedAt || (a._id < b._id ? 1 : -1));
  expect(await found).toEqual(newest.map(({ _id }) => _id));
  expect(turns).toBeGreaterThanOrEqual((9 * 500) / 25);

  const left = listPage(resource, query, client.signal);
  client.abort(new Error('the client has left'));
  await expect(left).rejects.toThrow('the client has left');
});

// Forty pages of outlines of large records kept other requests waiting for 25 seconds.
test('outlines are read in turns, one page in each', async () => {
  const scope = { project: api.project.record._id, environment: 'live' } as const;
  expect(api.readModel.geofences({ ...scope, orderBy: 'updatedAt', limit: 1_000, cursor: null }).items).toHaveLength(
    1_000,
  );
  let answered = 0;
  const pages = Array.from({ length: 5 }, async () => {
    const { body } = await api.call('GET', '/v1/geofences/outlines?limit=1000', {
      key: api.project.key('live', 'secret'),
    });
    expect(body.outlines).toHaveLength(1_000);
    answered += 1;
  });
  let turns = 0;
  for (; answered < 5; turns++) await setImmediate();
  await Promise.all(pages);
  expect(turns).toBeGreaterThanOrEqual((5 * 1_000) / 25);
});

test('a count has the conditions of the list', async () => {
  const count = async (query = '') => (await api.call('GET', `/v1/geofences/count?${query}`)).body;
  expect(await count()).toEqual({ meta: { code: 200 }, count: 3, complete: true });
  expect(await count('tag=store')).toMatchObject({ count: 2 });
  expect(await count('search=roma&enabled=true')).toMatchObject({ count: 2 });
  expect(await count('externalId=bar')).toMatchObject({ count: 1 });
  expect((await api.call('GET', '/v1/beacons/count')).body).toMatchObject({ count: 0 });
});

test('counts of several requests are made in turns of their own', async () => {
  let turn = 0;
  const turns: number[] = [];
  const { count } = api.readModel;
  vi.spyOn(api.readModel, 'count').mockImplementation((...given) => {
    turns.push(turn);
    return count(...given);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  let isDone = false;
  const counts = Promise.all(Array.from({ length: 8 }, () => api.call('GET', '/v1/geofences/count'))).finally(() => {
    isDone = true;
  });
  for (; !isDone; turn++) await setImmediate();
  expect((await counts).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(new Set(turns).size).toBe(8);
});

test('outlines are little of each record, oldest first, in pages', async () => {
  const ring = [
    [0, 0],
    [0.1234567891, 0],
    [0, 0.1],
    [0, 0],
  ];
  await put('field', { type: 'polygon', coordinates: ring }, 'outline');
  const page = async (query: string) => (await api.call('GET', `/v1/geofences/outlines?${query}`)).body;
  const first = await page('limit=3');
  const { _id } = (await list('externalId=cafe')).geofences[0];
  expect(first.outlines[0]).toEqual({
    _id,
    description: 'Café Roma',
    tag: 'store',
    externalId: 'cafe',
    enabled: true,
    center: [-73.97, 40.78],
    radius: 100,
  });
  expect(first.outlines.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual([true, false, true]);
  const second = await page(`cursor=${first.meta.cursor}`);
  expect(second.meta).toEqual({ code: 200, hasMore: false });
  expect(second.outlines).toMatchObject([
    { externalId: 'field', ring: ring.map(([x, y]) => [Number(x?.toFixed(6)), y]) },
  ]);
  expect(second.outlines[0]).not.toHaveProperty('radius');
  expect(await page('cursor=abc')).toMatchObject({ meta: { code: 400, param: 'cursor' } });
  expect(await page('limit=5001')).toMatchObject({ meta: { code: 400, param: 'limit' } });
  await api.call('DELETE', '/v1/geofences/outline/field');
});

test('many are enabled, disabled and deleted at once, and a repetition changes nothing', async () => {
  const names = ['one', 'two', 'three'];
  const ids: string[] = [];
  for (const name of names) ids.push((await put(name, {}, 'bulk')).body.geofence._id);
  const bulk = async (body: object) => (await api.call('POST', '/v1/geofences/bulk', { body })).body;
  const unknown = '0'.repeat(24);
  expect(await bulk({ action: 'disable', ids: [...ids.slice(1), ids[1], unknown] })).toEqual({
    meta: { code: 200 },
    changed: 2,
    unchanged: 0,
    missing: 1,
  });
  expect(await bulk({ action: 'disable', ids })).toMatchObject({ changed: 1, unchanged: 2 });
  expect(await idsOf('tag=bulk&enabled=true')).toEqual([]);
  await api.call('PATCH', `/v1/geofences/${ids[0]}`, { body: { disableAfter: '2020-01-01' } });
  expect(await bulk({ action: 'enable', ids })).toMatchObject({ changed: 3 });
  expect(await idsOf('tag=bulk&enabled=true&sort=createdAt')).toEqual(names);
  expect(await bulk({ action: 'delete', ids })).toMatchObject({ changed: 3, missing: 0 });
  expect(await bulk({ action: 'delete', ids })).toMatchObject({ changed: 0, missing: 3 });
  expect(await bulk({ action: 'paint', ids })).toMatchObject({ meta: { code: 400, param: 'action' } });
  expect(await bulk({ action: 'delete', ids: ['x'] })).toMatchObject({ meta: { code: 400, param: 'ids' } });
});

// A request of 500 ids read, encoded and applied 75 MB in a few turns.
test('a bulk change writes few records at once', async () => {
  const scope = { project: (await api.newProject('Bulk')).record._id, environment: 'test' } as const;
  const records = Array.from({ length: 90 }, (_, number) => geofenceRecord({ ...scope, externalId: `bulk-${number}` }));
  await api.writer.write(records.map((record) => ({ kind: 'geofence', id: record._id, record, bases: ['absent'] })));
  const sizes: number[] = [];
  const writer: ConfigurationWriter = {
    ...api.writer,
    write(changes) {
      sizes.push(changes.length);
      return api.writer.write(changes);
    },
  };
  const parts = { configuration: api.readModel, writer, clock: Date.now };
  const ids = records.map(({ _id }) => _id);
  const find = (id: string) => api.readModel.geofence(scope, id);
  expect(await changeMany(parts, 'geofence', 'disable', ids, find)).toEqual({ changed: 90, unchanged: 0, missing: 0 });
  expect(sizes).toEqual([20, 20, 20, 20, 10]);
  expect(await changeMany(parts, 'geofence', 'disable', ids, find)).toMatchObject({ changed: 0, unchanged: 90 });
  expect(ids.map((id) => find(id)?.enabled)).not.toContain(true);
});

// A filter beside the ids was ignored, so a bulk change did more than its caller asked for.
test('a bulk change refuses fields that it does not know', async () => {
  const { _id } = (await put('whole', {}, 'exact')).body.geofence;
  const body = { action: 'delete', ids: [_id], tag: 'other' };
  expect((await api.call('POST', '/v1/geofences/bulk', { body })).body.meta).toMatchObject({
    type: 'invalid_parameter',
    param: 'tag',
    message: 'tag: is not a known field; known are action, ids',
  });
  expect((await api.call('GET', `/v1/geofences/${_id}`)).status).toBe(200);
});

test('a bulk change reaches no other environment', async () => {
  const { _id } = (await put('kept', {}, 'scoped')).body.geofence;
  const key = api.project.key('live', 'secret');
  const answer = await api.call('POST', '/v1/geofences/bulk', { key, body: { action: 'delete', ids: [_id] } });
  expect(answer.body).toMatchObject({ changed: 0, missing: 1 });
  expect((await api.call('GET', `/v1/geofences/${_id}`)).status).toBe(200);
});
