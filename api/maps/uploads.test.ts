import { beforeEach, expect, test } from 'vitest';
import type { DrawnMap, MapRequest, Uploads } from '../../renderer/types.js';
import { freshId } from '../../schemas/ids.js';
import type { Environment } from '../../schemas/json/common.js';
import type { MapMarkerRecord, MapStyleRecord } from '../../schemas/json/map.js';
import { completeMap, mapParts, type TestProject, useApi } from '../testing/fixtures.js';

/** The maps that were drawn, with their files. */
const drawn: { readonly request: MapRequest; readonly uploads: Uploads }[] = [];
beforeEach(() => {
  drawn.length = 0;
});

/** The image consists of the files that it was drawn with. */
async function render(
  _project: string,
  request: MapRequest,
  uploads: Uploads,
): Promise<DrawnMap & { processorMs: number }> {
  drawn.push({ request, uploads });
  const icons = request.markers.map(({ icon }) => uploads.icons.get(icon ?? '') ?? icon);
  const bytes = Buffer.from(`${uploads.style ?? request.style} ${icons.join(' ')}`);
  return { ...completeMap, bytes, processorMs: 0 };
}
const api = await useApi({ maps: mapParts({ render, maxCacheBytes: 100_000 }) });
const publishable = api.project.key('test', 'publishable');

const identity = (project: TestProject, environment: Environment, _id: string) => {
  const updatedAt = api.writer.nextTimestamp();
  return { _id, project: project.record._id, environment, createdAt: updatedAt, updatedAt, name: null };
};

async function keepStyle(style: object, id = freshId(), project = api.project, environment: Environment = 'test') {
  const record: MapStyleRecord = { ...identity(project, environment, id), style: { ...style } };
  await api.writer.write([{ kind: 'map-style', id, record }]);
  return id;
}

async function keepMarker(text: string, id = freshId(), project = api.project, environment: Environment = 'test') {
  const image = Buffer.from(text).toString('base64');
  const record: MapMarkerRecord = { ...identity(project, environment, id), type: 'image/png', image };
  await api.writer.write([{ kind: 'map-marker', id, record }]);
  return id;
}

const get = (query: string, key = publishable, headers: Record<string, string> = {}) =>
  api.app.inject({ url: `/maps/static?width=600&height=400&${query}`, headers: { authorization: key, ...headers } });

test('a map has the uploaded style, uploaded markers and markers by URL', async () => {
  const [style, one, other] = [await keepStyle({ a: 1 }), await keepMarker('one'), await keepMarker('other')];
  const markers = [
    `icon:${one}|1,2`,
    `icon:${other}|3,4`,
    `icon:${one}|5,6`,
    'icon:https://a.example/x.png|7,8',
    '9,10',
  ];
  const query = markers.map((marker) => `markers=${encodeURIComponent(marker)}`).join('&');
  expect((await get(`style=${style}&${query}`)).body).toBe('{"a":1} one other one https://a.example/x.png ');
  expect(drawn[0]?.uploads.icons.size).toBe(2);
});

test('a change is visible at once, and caches must revalidate', async () => {
  const [style, marker] = [await keepStyle({ a: 1 }), await keepMarker('before')];
  const query = `style=${style}&markers=icon:${marker}%7C1,2`;
  const first = await get(query);
  expect(first.headers['cache-control']).toBe('public, no-cache');
  const known = { 'if-none-match': first.headers.etag as string };
  expect((await get(query, publishable, known)).statusCode).toBe(304);
  expect(drawn).toHaveLength(1);

  await keepStyle({ a: 2 }, style);
  expect((await get(query, publishable, known)).body).toBe('{"a":2} before');
  await keepMarker('after', marker);
  expect((await get(query, publishable, known)).body).toBe('{"a":2} after');
  expect(drawn).toHaveLength(3);

  await api.writer.write([{ kind: 'map-marker', id: marker, record: null }]);
  expect((await get(query)).json().meta).toMatchObject({ code: 400, param: 'markers' });
  await api.writer.write([{ kind: 'map-style', id: style, record: null }]);
  expect((await get(query)).json().meta).toMatchObject({ code: 400, param: 'style' });
});

test('maps without uploads are cacheable', async () => {
  expect((await get('center=1,2&zoom=3')).headers['cache-control']).toBe('public, max-age=86400');
});

test('uploads belong to their project and environment, even when cached', async () => {
  const other = await api.newProject('Other');
  for (const [project, environment] of [
    [api.project, 'test'],
    [api.project, 'live'],
    [other, 'test'],
  ] as const) {
    const style = await keepStyle({ a: 1 }, freshId(), project, environment);
    const marker = await keepMarker('x', freshId(), project, environment);
    const owner = project.key(environment, 'publishable');
    const queries = [`center=1,2&zoom=3&style=${style}`, `markers=icon:${marker}%7C1,2`];
    for (const query of queries) expect((await get(query, owner)).statusCode).toBe(200);
    const keys = [api.project, other].flatMap((each) => [each.key('test', 'publishable'), each.key('live', 'secret')]);
    const strangers = keys.filter((key) => key !== owner && key !== project.key(environment, 'secret'));
    expect(strangers.length).toBeGreaterThanOrEqual(3);
    for (const key of strangers) {
      const metas = await Promise.all(queries.map(async (query) => (await get(query, key)).json().meta));
      expect(metas).toMatchObject([
        { code: 400, param: 'style' },
        { code: 400, param: 'markers' },
      ]);
    }
  }
});

test('styles and markers have separate ids', async () => {
  const [style, marker] = [await keepStyle({ a: 1 }), await keepMarker('x')];
  expect((await get(`center=1,2&zoom=3&style=${marker}`)).json().meta).toMatchObject({ code: 400, param: 'style' });
  expect((await get(`markers=icon:${style}%7C1,2`)).json().meta).toMatchObject({ code: 400, param: 'markers' });
});
