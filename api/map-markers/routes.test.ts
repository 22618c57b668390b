import sharp from 'sharp';
import { expect, test } from 'vitest';
import { rasterizeIcon } from '../../renderer/icons/rasterize.js';
import { maxMarkerBytes } from '../../schemas/json/map.js';
import { mapParts, useApi } from '../testing/fixtures.js';

const checkIcon = async (_project: string, file: Uint8Array) => {
  const icon = await rasterizeIcon(file, 1);
  return icon.ok ? ({ ok: true, value: icon.value.kind } as const) : icon;
};
const api = await useApi({ maps: mapParts({ checkIcon, maxMarkers: 4 }) });

const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20"/></svg>',
);
const png = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
  .png()
  .toBuffer();
/** Returns a valid PNG with a total of this many bytes. */
const padded = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)]);

/** Creates a project. Returns functions that call with its secret key of Test, with an image or fields as the body. */
async function newOwner() {
  const project = await api.newProject('Markers');
  const key = project.key('test', 'secret');
  const post = async (image: Buffer, type = 'image/png', query = '', authorization = key) => {
    const headers = { authorization, 'content-type': type };
    const answer = await api.app.inject({ method: 'POST', url: `/v1/map-markers${query}`, headers, payload: image });
    return { status: answer.statusCode, body: answer.json() };
  };
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    api.call(method, `/v1/map-markers${path}`, { key, ...(body && { body }) });
  const image = (id: string, authorization = key) =>
    api.app.inject({ method: 'GET', url: `/v1/map-markers/${id}/image`, headers: { authorization } });
  return { project, post, call, image };
}

test('a marker can be uploaded, read, listed, downloaded and deleted', async () => {
  const owner = await newOwner();
  const made = await owner.post(png, 'image/png', '?name=Pin');
  const { _id, createdAt } = made.body.mapMarker;
  const mapMarker = {
    _id,
    live: false,
    createdAt,
    updatedAt: createdAt,
    name: 'Pin',
    type: 'image/png',
    bytes: png.length,
  };
  expect(made).toMatchObject({ status: 200, body: { meta: { code: 200 }, mapMarker } });
  expect((await owner.call('GET', `/${_id}`)).body.mapMarker).toEqual(mapMarker);
  expect((await owner.call('GET', '')).body).toEqual({ meta: { code: 200, hasMore: false }, mapMarkers: [mapMarker] });
  const image = await owner.image(_id);
  expect(image.headers['content-type']).toBe('image/png');
  expect(image.rawPayload.equals(png)).toBe(true);
  expect(await owner.call('DELETE', `/${_id}`)).toMatchObject({ status: 200, body: { meta: { code: 200 } } });
  expect([(await owner.call('GET', `/${_id}`)).status, (await owner.image(_id)).statusCode]).toEqual([404, 404]);
  expect((await owner.call('GET', '')).body.mapMarkers).toEqual([]);
});

test('a marker may be JSON, and its type is detected from its bytes', async () => {
  const owner = await newOwner();
  const { mapMarker } = (await owner.call('POST', '', { name: 'Square', image: svg.toString('base64') })).body;
  expect(mapMarker).toMatchObject({ name: 'Square', type: 'image/svg+xml', bytes: svg.length });
  expect((await owner.post(svg, 'image/png')).body.mapMarker).toMatchObject({ type: 'image/svg+xml' });
});

test('an SVG opened as a page runs no scripts', async () => {
  const owner = await newOwner();
  const { headers } = await owner.image((await owner.post(svg, 'image/svg+xml')).body.mapMarker._id);
  expect(headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
    'x-content-type-options': 'nosniff',
  });
});

test('the largest image is accepted in both formats', async () => {
  const owner = await newOwner();
  const largest = padded(maxMarkerBytes);
  const answers = [await owner.post(largest), await owner.call('POST', '', { image: largest.toString('base64') })];
  for (const { body } of answers) expect((await owner.image(body.mapMarker._id)).rawPayload.equals(largest)).toBe(true);
});

test.each<[string, object, string, string]>([
  ['no image', {}, 'image', 'is required'],
  ['no base64', { image: 'ä' }, 'image', 'must be base64'],
  ['a number', { image: 7 }, 'image', 'must be base64'],
  ['a list', { image: ['AAAA'] }, 'image', 'must be base64'],
  ['an unknown field', { image: 'AAAA', title: 'x' }, 'title', 'is not a known field'],
  [
    'a name too long',
    { image: png.toString('base64'), name: 'x'.repeat(257) },
    'name',
    'must have at most 256 characters',
  ],
  ['text', { image: Buffer.from('text').toString('base64') }, 'image', 'must be a PNG or SVG of at most'],
  ['an image cut short', { image: png.subarray(0, 40).toString('base64') }, 'image', 'must be a PNG or SVG of at most'],
  ['too many bytes', { image: padded(maxMarkerBytes + 1).toString('base64') }, 'image', 'must have at most 256 KiB'],
])('%s is refused', async (_name, fields, param, rule) => {
  const owner = await newOwner();
  const { status, body } = await owner.call('POST', '', fields);
  expect([status, body.meta.param]).toEqual([400, param]);
  expect(body.meta.message).toContain(`${param}: ${rule}`);
  expect((await owner.call('GET', '')).body.mapMarkers).toEqual([]);
});

test.each<[string, Buffer, string, number]>([
  ['text', Buffer.from('text'), 'image/png', 400],
  ['an empty body', Buffer.alloc(0), 'image/png', 400],
  ['too many bytes', padded(maxMarkerBytes + 1), 'image/png', 400],
  ['far too many bytes', padded(2 * maxMarkerBytes + 1), 'image/png', 413],
  ['another type', png, 'image/gif', 415],
])('%s as image is refused', async (_name, image, type, status) => {
  const owner = await newOwner();
  const answer = await owner.post(image, type);
  expect(answer.status).toBe(status);
  if (status === 400) expect(answer.body.meta.param).toBe('image');
});

test('concurrent uploads do not exceed the limit of an environment', async () => {
  const owner = await newOwner();
  const answers = await Promise.all(Array.from({ length: 6 }, () => owner.post(png)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 409, 409]);
  expect((await owner.post(png, 'image/png', '', owner.project.key('live', 'secret'))).status).toBe(200);
});

test('markers belong to their project and environment, and require secret keys', async () => {
  const [owner, other] = [await newOwner(), await newOwner()];
  const { _id } = (await owner.post(png)).body.mapMarker;
  for (const key of [owner.project.key('live', 'secret'), other.project.key('test', 'secret')]) {
    expect((await api.call('GET', '/v1/map-markers', { key })).body.mapMarkers).toEqual([]);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/image'],
      ['DELETE', ''],
    ] as const) {
      expect((await api.call(method, `/v1/map-markers/${_id}${path}`, { key })).status).toBe(404);
    }
  }
  expect((await owner.image(_id, owner.project.key('test', 'publishable'))).statusCode).toBe(403);
  expect((await owner.image(_id)).statusCode).toBe(200);
});

test('a PATCH renames a marker or replaces its image, and keeps the rest', async () => {
  const owner = await newOwner();
  const { _id, createdAt } = (await owner.post(png, 'image/png', '?name=Pin')).body.mapMarker;
  const renamed = await owner.call('PATCH', `/${_id}`, { name: 'Flag' });
  expect(renamed).toMatchObject({
    status: 200,
    body: { mapMarker: { _id, createdAt, name: 'Flag', type: 'image/png' } },
  });
  expect((await owner.image(_id)).rawPayload).toEqual(png);

  const replaced = await owner.call('PATCH', `/${_id}`, { image: svg.toString('base64') });
  expect(replaced.body.mapMarker).toMatchObject({ name: 'Flag', type: 'image/svg+xml', bytes: svg.length });
  expect((await owner.image(_id)).rawPayload).toEqual(svg);

  for (const [body, param] of [
    [{ image: null }, 'image'],
    [{ image: 'AAAA' }, 'image'],
    [{ imgae: 'AAAA' }, 'imgae'],
  ] as const) {
    expect((await owner.call('PATCH', `/${_id}`, body)).body.meta).toMatchObject({ code: 400, param });
  }
  expect((await owner.call('PATCH', `/${_id}`, { name: null })).body.mapMarker.name).toBeUndefined();
  expect((await owner.image(_id)).rawPayload).toEqual(svg);
  expect((await owner.call('PATCH', `/${'0'.repeat(24)}`, { name: 'A' })).status).toBe(404);
});
