import { describe, expect, test } from 'vitest';
import { checkStyle } from '../../renderer/styles/custom.js';
import { maxStyleBytes } from '../../schemas/json/map.js';
import { type Body, mapParts, useApi } from '../testing/fixtures.js';

const archive = { kind: 'vector', layers: ['land'] } as const;
const maps = mapParts({
  checkStyle: async (_project, json) => checkStyle(JSON.parse(`${json}`), archive),
  maxStyles: 4,
});
const api = await useApi({ maps });

const background = (color: unknown = '#ff0000') => ({
  id: 'ground',
  type: 'background',
  paint: { 'background-color': color },
});
const style = { version: 8, sources: {}, layers: [background()] };

/** Creates a project. Returns it, and a function that calls with its secret key of Test. */
async function newOwner() {
  const project = await api.newProject('Styles');
  const key = project.key('test', 'secret');
  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object | string) =>
    api.call(method, `/v1/map-styles${path}`, { key, ...(body !== undefined && { body }) });
  return { project, call };
}
type Owner = Awaited<ReturnType<typeof newOwner>>;

async function created(owner: Owner, body: object = style): Promise<Body> {
  const answer = await owner.call('POST', '', body);
  expect(answer.status).toBe(200);
  return answer.body.mapStyle;
}

test('a style can be uploaded, read, listed, changed and deleted', async () => {
  const owner = await newOwner();
  const made = await owner.call('POST', '', { name: 'Ours', style });
  const { _id, createdAt } = made.body.mapStyle;
  const bytes = JSON.stringify(style).length;
  const mapStyle = { _id, live: false, createdAt, updatedAt: createdAt, name: 'Ours', bytes };
  expect(made).toMatchObject({ status: 200, body: { meta: { code: 200 }, mapStyle, unsupported: [] } });
  expect((await owner.call('GET', `/${_id}`)).body.mapStyle).toEqual({ ...mapStyle, style });
  expect((await owner.call('GET', '')).body).toEqual({ meta: { code: 200, hasMore: false }, mapStyles: [mapStyle] });

  const changed = { ...style, layers: [background('blue')] };
  const { updatedAt } = (await owner.call('PUT', `/${_id}`, { style: changed })).body.mapStyle;
  expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(createdAt));
  const after = (await owner.call('GET', `/${_id}`)).body.mapStyle;
  expect(after).toMatchObject({ name: 'Ours', createdAt, updatedAt, style: changed });

  expect(await owner.call('DELETE', `/${_id}`)).toMatchObject({ status: 200, body: { meta: { code: 200 } } });
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    expect((await owner.call(method, `/${_id}`, method === 'PUT' ? style : undefined)).status).toBe(404);
  }
  expect((await owner.call('GET', '')).body.mapStyles).toEqual([]);
});

test('a style may be the whole body, and its name is the default', async () => {
  const owner = await newOwner();
  const named = { ...style, name: 'Its own' };
  expect(await created(owner, named)).toMatchObject({ name: 'Its own' });
  expect(await created(owner, { style: named, name: 'Ours' })).toMatchObject({ name: 'Ours' });
  const { _id, ...rest } = await created(owner);
  expect('name' in rest).toBe(false);
  const put = async (body: object) => (await owner.call('PUT', `/${_id}`, body)).body.mapStyle.name;
  expect([await put(named), await put({ name: 'Ours' }), await put(named), await put({ name: null })]).toEqual([
    'Its own',
    'Ours',
    'Ours',
    'Its own',
  ]);
  expect((await owner.call('GET', `/${_id}`)).body.mapStyle.style).toEqual(named);
});

test('a response can be sent back unchanged', async () => {
  const owner = await newOwner();
  const { _id } = await created(owner, { name: 'Ours', style });
  const { mapStyle } = (await owner.call('GET', `/${_id}`)).body;
  const { status, body } = await owner.call('PUT', `/${_id}`, mapStyle);
  const { style: _, updatedAt: __, ...same } = mapStyle;
  expect([status, body.mapStyle]).toMatchObject([200, same]);
});

test('each upload reports what is not drawn', async () => {
  const owner = await newOwner();
  const parks = { id: 'parks', type: 'fill', source: 'a', 'source-layer': 'park' };
  const asking = { ...style, sprite: 'mapbox://sprites/a', sources: { a: { type: 'vector' } }, layers: [parks] };
  const answers = [await owner.call('POST', '', asking)];
  answers.push(await owner.call('PUT', `/${answers[0]!.body.mapStyle._id}`, { name: 'Ours' }));
  for (const { body } of answers) {
    expect(body.unsupported).toMatchObject([
      { layer: null, property: 'sprite' },
      { layer: 'parks', property: 'source-layer' },
    ]);
  }
});

describe('refusals', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const withMetadata = (metadata: unknown) => ({ ...style, metadata: { a: metadata } });
  /** Returns a style of this many bytes. */
  const sized = (bytes: number) => withMetadata('x'.repeat(bytes - JSON.stringify(withMetadata('')).length));
  const layers = (count: number) => Array.from({ length: count }, (_, i) => ({ ...background(), id: `${i}` }));

  test.each<[string, object, string, string]>([
    ['no style', {}, 'style', 'is required'],
    ['an unknown field', { style, title: 'x' }, 'title', 'is not a known field'],
    ['a name too long', { style, name: 'x'.repeat(257) }, 'name', 'must have at most 256 characters'],
    ['a list', { style: [] }, 'style', 'must be a MapLibre style'],
    ['text', { style: 'x' }, 'style', 'must be valid JSON'],
    ['an empty style', { style: {} }, 'style', 'missing required property "version"'],
    [
      'a wrong colour',
      { style: { ...style, layers: [background(7)] } },
      'style.layers[0].paint.background-color',
      'color expected, number found',
    ],
    [
      'a wrong colour, without a wrapper',
      { ...style, layers: [background(7)] },
      'layers[0].paint.background-color',
      'color exp',
    ],
    ['an unknown layer type', { ...style, layers: [{ id: 'a', type: 'rain' }] }, 'layers[0]', ''],
    ['too many layers', { ...style, layers: layers(501) }, 'style', 'must have at most 500 layers'],
    ['too deep a nesting', withMetadata(nested(99)), 'style', 'must not nest deeper than 100 levels'],
    ['too many bytes', sized(maxStyleBytes + 1), 'style', 'must have at most 900000 bytes as compact JSON'],
  ])('%s', async (_name, body, param, rule) => {
    const owner = await newOwner();
    const { status, body: answer } = await owner.call('POST', '', body);
    expect([status, answer.meta.type, answer.meta.param]).toEqual([400, 'invalid_parameter', param]);
    expect(answer.meta.message).toContain(`${param}: ${rule}`);
    expect((await owner.call('GET', '')).body.mapStyles).toEqual([]);
  });

  test.each([
    ['layers', { ...style, layers: layers(500) }],
    ['nesting', withMetadata(nested(98))],
    ['bytes', sized(maxStyleBytes)],
  ])('not the most %s', async (_name, body) => {
    const owner = await newOwner();
    const { _id } = await created(owner, body);
    expect((await owner.call('GET', `/${_id}`)).body.mapStyle.style).toEqual(body);
  });

  test('nesting that would overflow the stack', async () => {
    const payload = `{"version":8,"sources":{},"layers":${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
    const headers = { authorization: api.secret, 'content-type': 'application/json' };
    const answer = await api.app.inject({ method: 'POST', url: '/v1/map-styles', headers, payload });
    expect(answer.json().meta).toMatchObject({
      code: 400,
      type: 'invalid_body',
      message: expect.stringContaining('at most 200 lists'),
    });
  });

  test('a body above one mebibyte', async () => {
    const owner = await newOwner();
    expect((await owner.call('POST', '', sized(1_048_577))).status).toBe(413);
  });

  test('an invalid change leaves the style unchanged', async () => {
    const owner = await newOwner();
    const { _id } = await created(owner);
    const wrong = { style: { ...style, layers: [background(7)] } };
    expect((await owner.call('PUT', `/${_id}`, wrong)).body.meta.param).toBe('style.layers[0].paint.background-color');
    expect((await owner.call('GET', `/${_id}`)).body.mapStyle.style).toEqual(style);
  });
});

test('concurrent uploads do not exceed the limit of an environment', async () => {
  const owner = await newOwner();
  const answers = await Promise.all(Array.from({ length: 6 }, () => owner.call('POST', '', style)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 409, 409]);
  const live = owner.project.key('live', 'secret');
  expect((await api.call('POST', '/v1/map-styles', { key: live, body: style })).status).toBe(200);
});

test('pages by createdAt contain the styles, newest first', async () => {
  const owner = await newOwner();
  const made: string[] = [];
  for (let count = 0; count < 4; count++) made.unshift((await created(owner))._id);
  const first = (await owner.call('GET', '?limit=3')).body;
  const second = (await owner.call('GET', `?limit=3&createdBefore=${first.mapStyles[2].createdAt}`)).body;
  expect([first.meta.hasMore, second.meta.hasMore]).toEqual([true, false]);
  expect([...first.mapStyles, ...second.mapStyles].map(({ _id }) => _id)).toEqual(made);
});

test('styles belong to their project and environment, and require secret keys', async () => {
  const [owner, other] = [await newOwner(), await newOwner()];
  const { _id } = await created(owner);
  for (const key of [owner.project.key('live', 'secret'), other.project.key('test', 'secret')]) {
    expect((await api.call('GET', '/v1/map-styles', { key })).body.mapStyles).toEqual([]);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const answer = await api.call(method, `/v1/map-styles/${_id}`, { key, ...(method === 'PUT' && { body: style }) });
      expect(answer.status).toBe(404);
    }
  }
  const publishable = owner.project.key('test', 'publishable');
  expect((await api.call('GET', `/v1/map-styles/${_id}`, { key: publishable })).status).toBe(403);
  expect((await owner.call('GET', `/${_id}`)).status).toBe(200);
});
