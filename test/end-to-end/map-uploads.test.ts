/** Styles and markers from upload to picture, and who can use them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, ok } from '../support/client.js';
import { askMap, countOf, type MapQuery, pictureOf, startMapServer } from '../support/maps.js';
import type { TestServer } from '../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startMapServer();
});
afterAll(() => server?.dispose());

const styleIn = (land: string) => ({
  version: 8,
  name: 'Two colours',
  glyphs: 'http://127.0.0.1:9/{fontstack}/{range}.pbf',
  sources: { tiles: { type: 'vector', url: 'http://127.0.0.1:9/tiles.json' } },
  layers: [
    { id: 'sea', type: 'background', paint: { 'background-color': '#102030' } },
    { id: 'land', type: 'fill', source: 'tiles', 'source-layer': 'land', paint: { 'fill-color': land } },
    { id: 'roads', type: 'line', source: 'tiles', 'source-layer': 'transportation' },
  ],
});
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#f0f"/></svg>';

const ask = (query: MapQuery, key: keyof TestServer['keys'] = 'test_publishable') =>
  askMap(server, { width: '300', height: '200', center: '20,0', zoom: '4', ...query }, { key });

const picture = async (query: MapQuery) => pictureOf(await ask(query));

const upload = async (style: object): Promise<Json> => ok(await server.as('test_secret').post('/v1/map-styles', style));

async function uploadMarker(): Promise<string> {
  const sending = { body: svg, headers: { 'content-type': 'image/svg+xml' } };
  return ok(await server.as('test_secret').send('POST', '/v1/map-markers?name=Square', sending)).mapMarker._id;
}

it('a map has the uploaded style and marker at every scale', async () => {
  const { mapStyle, unsupported } = await upload(styleIn('#00ff88'));
  expect(unsupported.map(({ layer, property }: Json) => [layer, property])).toEqual([
    [null, 'glyphs'],
    ['roads', 'source-layer'],
  ]);
  const marker = await uploadMarker();
  for (const scale of [1, 3]) {
    const map = await picture({ style: mapStyle._id, markers: `icon:${marker}|20,0`, scale: `${scale}` });
    expect(countOf(map, 'ff00ff')).toBe((40 * scale) ** 2);
    expect(countOf(map, '00ff88') / (300 * 200 * scale ** 2)).toBeGreaterThan(0.8);
  }
  const ocean = await picture({ style: mapStyle._id, center: '0,-140' });
  expect(countOf(ocean, '102030') / (300 * 200)).toBeGreaterThan(0.8);
});

it('a changed style is used at once, and survives a restart with the marker', async () => {
  const { mapStyle } = await upload(styleIn('#00ff88'));
  const query = { style: mapStyle._id, markers: `icon:${await uploadMarker()}|20,0` };
  expect(countOf(await picture(query), '00ff88')).toBeGreaterThan(40_000);
  ok(await server.as('test_secret').put(`/v1/map-styles/${mapStyle._id}`, styleIn('#ffaa00')));
  const changed = await picture(query);
  expect(countOf(changed, '00ff88')).toBe(0);
  expect(countOf(changed, 'ffaa00')).toBeGreaterThan(40_000);
  await server.stop();
  await server.restart();
  expect((await picture(query)).pixels.equals(changed.pixels)).toBe(true);
});

it('uploads are unavailable to other environments, and after deletion', async () => {
  const { mapStyle } = await upload(styleIn('#00ff88'));
  const marker = await uploadMarker();
  const refused = async (query: Record<string, string>, key: keyof TestServer['keys']) => {
    const answer = await ask(query, key);
    return [answer.status, ((await answer.json()) as Json).meta?.param];
  };
  expect(await refused({ style: mapStyle._id }, 'live_publishable')).toEqual([400, 'style']);
  expect(await refused({ markers: `icon:${marker}|20,0` }, 'live_publishable')).toEqual([400, 'markers']);
  ok(await server.as('test_secret').delete(`/v1/map-styles/${mapStyle._id}`));
  ok(await server.as('test_secret').delete(`/v1/map-markers/${marker}`));
  expect(await refused({ style: mapStyle._id }, 'test_publishable')).toEqual([400, 'style']);
  expect(await refused({ markers: `icon:${marker}|20,0` }, 'test_publishable')).toEqual([400, 'markers']);
});

it('errors are refused with their position', async () => {
  const wrong = {
    ...styleIn('#00ff88'),
    layers: [{ id: 'sea', type: 'background', paint: { 'background-color': 7 } }],
  };
  const { status, body } = await server.as('test_secret').post('/v1/map-styles', { style: wrong });
  expect([status, body.meta.param]).toEqual([400, 'style.layers[0].paint.background-color']);
  const text = { body: 'not an image', headers: { 'content-type': 'image/png' } };
  const answer = await server.as('test_secret').send('POST', '/v1/map-markers', text);
  expect([answer.status, answer.body.meta.param]).toEqual([400, 'image']);
});
