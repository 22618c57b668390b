/** The description of the API, as a client generator would read it. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { outlineOf } from '../support/api-outline.js';
import { typesOf } from '../support/api-types.js';
import type { Json } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';

const methods = ['get', 'put', 'post', 'delete', 'patch'];

let server: SharedServer;
let openapi: Json;

beforeAll(async () => {
  server = await SharedServer.newProject();
  const { status, body } = await server.withKey(undefined).get('/openapi.json');
  expect(status).toBe(200);
  openapi = body;
});

const operations = (): [string, string, Json][] =>
  Object.entries<Json>(openapi.paths).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method): [string, string, Json] => [method, path, item[method]]),
  );

/** Every `$ref` in the document. */
function references(node: Json): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = typeof node.$ref === 'string' ? [node.$ref] : [];
  return [...own, ...Object.values(node).flatMap(references)];
}

const resolve = (reference: string): Json =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce((node: Json, step) => node?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], openapi);

describe('/openapi.json', () => {
  it('names the API and its version', () => {
    expect(openapi.openapi).toMatch(/^3\.[01]\./);
    expect(openapi.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
  });

  it.each([
    ['post', '/v1/track'],
    ['post', '/v1/track/replay'],
    ['post', '/v1/locations'],
    ['get', '/v1/config'],
    ['get', '/v1/context'],
    ['get', '/v1/search/geofences'],
    ['get', '/v1/search/beacons'],
    ['get', '/v1/geofences'],
    ['put', '/v1/geofences/{tag}/{externalId}'],
    ['put', '/v1/beacons/{tag}/{externalId}'],
    ['get', '/v1/events'],
    ['get', '/v1/users'],
    ['put', '/v1/settings'],
    ['post', '/v1/explain'],
    ['get', '/maps/static'],
  ])('describes %s %s', (method, path) => {
    expect(openapi.paths[path]?.[method]).toBeDefined();
  });

  it('resolves every reference', () => {
    const broken = references(openapi).filter(
      (reference) => !reference.startsWith('#/') || resolve(reference) === undefined,
    );
    expect(broken).toEqual([]);
  });

  it('gives every operation a unique id, a summary and its answers', () => {
    const ids = operations().map(([, , operation]) => operation.operationId);
    expect(ids.every((id) => typeof id === 'string')).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, , operation] of operations()) {
      expect(operation.summary?.length).toBeGreaterThan(0);
      expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
    }
  });

  // Calls of five groups were in no group that a generator knew, and stood last on the page of the API.
  it('explains the groups of all operations', () => {
    const explained = openapi.tags.map(({ name, description }: Json) => description && name);
    const used = operations().flatMap(([, , operation]) => operation.tags);
    expect(new Set(explained)).toEqual(new Set(used));
  });

  it('declares every parameter of a path', () => {
    for (const [, path, operation] of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'path');
      expect(declared.map((parameter: Json) => parameter.name).sort()).toEqual(inPath.sort());
      expect(declared.every((parameter: Json) => parameter.required === true)).toBe(true);
    }
  });

  // A blank value counts as not given, and the description allowed it: clients and fuzzers that follow it were refused.
  it('requires text of every required parameter, and the server refuses a blank one', async () => {
    const backend = server.as('test_secret');
    let count = 0;
    for (const [method, path, { parameters = [] }] of operations()) {
      const texts = parameters.filter(
        ({ in: place, required, schema }: Json) => place === 'query' && required && schema.type === 'string',
      );
      if (method !== 'get' || texts.length === 0) continue;
      count += 1;
      expect(texts.map(({ schema }: Json) => schema.minLength)).toEqual(texts.map(() => 1));
      const query = texts.map(({ name }: Json) => `${name}=%20`).join('&');
      const { status, body } = await backend.get(`${path}?${query}`);
      expect([path, status, body.meta.message]).toEqual([path, 400, `${texts[0].name}: is required`]);
    }
    expect(count).toBeGreaterThan(8);
  });

  // The client yields the records of every list with a cursor, whatever its name.
  it('answers pages with one list beside `meta`', () => {
    const pages = operations().flatMap(([, path, { parameters = [], responses }]) => {
      const isPaged = parameters.some(({ in: place, name }: Json) => place === 'query' && name === 'cursor');
      // An export continues by a cursor as well, but its answers are files.
      const schema = responses['200']?.content?.['application/json']?.schema;
      return isPaged && schema ? [{ path, properties: schema.properties as Json }] : [];
    });
    expect(pages.length).toBeGreaterThan(15);
    for (const { path, properties } of pages) {
      const lists = Object.entries<Json>(properties).filter(([, { type }]) => type === 'array');
      expect([path, 'meta' in properties, lists.length]).toEqual([path, true, 1]);
    }
  });

  // Metrics and files of analytics were described as JSON, and answers of health as failures.
  it.each([
    ['/health/live', 'application/json'],
    ['/health/ready', 'application/json'],
    ['/metrics', 'text/plain'],
  ])('declares the answer of %s', async (path, type) => {
    const { status, headers } = await server.withKey(undefined).get(path);
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
    const { responses } = openapi.paths[path].get;
    expect(responses['200'].content[type].schema).not.toEqual(responses.default.content['application/json'].schema);
  });

  it.each(['json', 'csv', 'parquet'])('declares the type of answers of analytics as %s', async (format) => {
    const queries = operations().filter(([, path]) => path.startsWith('/v1/analytics/'));
    expect(queries.length).toBeGreaterThan(5);
    for (const [, path, { responses }] of queries) {
      const { status, headers } = await server.as('test_secret').get(`${path}?format=${format}`);
      const type = headers.get('content-type')?.split(';', 1)[0];
      expect([path, status, Object.keys(responses['200'].content)]).toEqual([
        path,
        200,
        expect.arrayContaining([type]),
      ]);
    }
  });

  // A generated client took 202 for a failure, and did not know the import of a refused file.
  it.each(['geofences', 'beacons'])('declares the import of %s that runs, and that of a refused file', async (name) => {
    const { responses } = openapi.paths[`/v1/${name}/import`].post;
    const schemaOf = (status: number) => responses[status]?.content['application/json'].schema;
    expect(schemaOf(202).properties).toEqual(schemaOf(200).properties);
    const refused = { body: 'unknown\n', headers: { 'content-type': 'text/csv' } };
    const { status, body } = await server.as('test_secret').send('POST', `/v1/${name}/import`, refused);
    expect([status, body.import.status]).toEqual([400, 'failed']);
    for (const failure of [400, 503]) expect(schemaOf(failure).properties).toHaveProperty('import');
  });

  it('declares the ETag of a geofence, and If-Match where it may answer 412, and only there', () => {
    const { get, put } = openapi.paths['/v1/geofences/{id}'];
    for (const { responses } of [get, put]) expect(responses['200'].headers.ETag.schema).toEqual({ type: 'string' });
    for (const [, path, { parameters = [], responses }] of operations()) {
      const ifMatch = parameters.find((parameter: Json) => parameter.in === 'header' && parameter.name === 'If-Match');
      expect([path, ifMatch !== undefined]).toEqual([path, responses['412'] !== undefined]);
      if (ifMatch) expect(ifMatch).toMatchObject({ required: false, schema: { type: 'string' } });
    }
    expect(put.responses['412']).toBeDefined();
  });
});

// Imports and sign-ups were missing, so a client repeated them as if nothing happened twice.
it('docs/api.md names every POST that ignores Idempotency-Key, and no other', () => {
  const guide = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const [, section = ''] = /## Repeat a POST safely\n([\s\S]*?)\n## /.exec(guide) ?? [];
  const named = [...section.matchAll(/`(\/v1\/[\w/-]+)`/g)].map(([, path]) => path);
  const ignoring = operations().filter(
    ([method, , { parameters = [] }]) =>
      method === 'post' && !parameters.some(({ name }: Json) => name === 'Idempotency-Key'),
  );
  expect(named.toSorted()).toEqual(ignoring.map(([, path]) => path).toSorted());
});

/**
 * After a change of the API: describe it in docs/api-changes.md, run this test with `--update`, and write the digest
 * that it then names into the new entry.
 */
describe('a change of the API', () => {
  it('is in the committed outline', async () => {
    await expect(outlineOf(openapi).text).toMatchFileSnapshot('../../docs/api-outline.txt');
  });

  it('is in the types of the client', async () => {
    await expect(typesOf(openapi)).toMatchFileSnapshot('../../client/types.ts');
  });

  it('has an entry in docs/api-changes.md, the newest of which names the digest of the outline', () => {
    const changes = readFileSync(new URL('../../docs/api-changes.md', import.meta.url), 'utf8');
    expect(/^Outline: `(\w+)`$/m.exec(changes)?.[1]).toBe(outlineOf(openapi).digest);
  });
});
