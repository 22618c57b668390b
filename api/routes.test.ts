import { expect, test } from 'vitest';
import { type Body, useApi } from './testing/fixtures.js';

const api = await useApi();

const operations = async () => {
  const { body } = await api.call('GET', '/openapi.json', { key: '' });
  return Object.entries<Record<string, Body>>(body.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
};

test('every operation is described in full', async () => {
  const all = await operations();
  expect(all.length).toBeGreaterThan(50);
  expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
  for (const { path, method, operation } of all) {
    expect(operation).toMatchObject({
      summary: expect.any(String),
      tags: [expect.any(String)],
      security: expect.any(Array),
    });
    // Only a caller who signs in has no credentials yet.
    const isOpen =
      /^\/v1\/(signup|signin|password\/reset|invitations\/(accept|preview))/.test(path) && !path.endsWith('links');
    expect(operation.security.length === 0).toBe(isOpen);
    const { content } = operation.responses['200'] ?? operation.responses['202'];
    if (operation.operationId === 'streamEvents') expect(Object.keys(content)).toEqual(['text/event-stream']);
    else if (path.startsWith('/maps/') && path !== '/maps/static') expect(Object.keys(content)).not.toEqual([]);
    else if (['getStaticMap', 'getMapMarkerImage'].includes(operation.operationId)) {
      expect(Object.keys(content)).toContain('image/png');
    } else expect(content['application/json'].schema.properties.meta).toBeDefined();
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '403', '429']));
    const declared = (operation.parameters ?? []).filter((parameter: { in: string }) => parameter.in === 'path');
    expect(declared.map(({ name }: { name: string }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(operation.requestBody !== undefined).toBe(method === 'post' || method === 'put' || method === 'patch');
    if (operation.requestBody) expect(Object.keys(operation.requestBody.content)).toContain('application/json');
  }
});

// Generators that do not know tuples read `items: false` as a list without items.
test('tuples have a length and a type of their items', async () => {
  const { body } = await api.call('GET', '/openapi.json', { key: '' });
  expect(body.components.schemas.GeofenceSummary.properties.geometryCenter.properties.coordinates).toMatchObject({
    minItems: 2,
    maxItems: 2,
    prefixItems: [{ type: 'number' }, { type: 'number' }],
    items: { type: 'number' },
  });
});

test('lists say what they can be asked', async () => {
  const list = (await operations()).find(({ operation }) => operation.operationId === 'listEvents');
  expect(list?.operation.parameters.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['limit', 'cursor', 'createdBefore', 'createdAfter', 'type', 'userId', 'geofence', 'tag']),
  );
});

test('unknown paths are refused with or without a key', async () => {
  expect((await api.call('GET', '/v1/nothing')).body.meta.type).toBe('not_found');
  expect((await api.call('GET', '/v1/nothing', { key: '' })).body.meta.type).toBe('not_found');
});

// A generated client knew 409, 413, 415, 422 and 503 of many calls only as `default`, and so could not tell them apart.
test('operations declare the failures that the server decides, with their codes', async () => {
  for (const { method, operation } of await operations()) {
    const { responses } = operation;
    const declared = Object.keys(responses);
    const honoursKey = operation.parameters?.some(({ name }: { name: string }) => name === 'Idempotency-Key') === true;
    expect(declared).toEqual(expect.arrayContaining(['400', '503', 'default']));
    for (const [status, isAnswered] of [
      ...['408', '413', '415'].map((status) => [status, ['post', 'put', 'patch'].includes(method)] as const),
      ['422', honoursKey],
    ] as const)
      expect([operation.operationId, status, declared.includes(status)]).toEqual([
        operation.operationId,
        status,
        isAnswered,
      ]);
    if (honoursKey) expect(declared).toContain('409');
  }
  const { body } = await api.call('GET', '/openapi.json', { key: '' });
  const codesOf = (status: number) => body.components.schemas[`Failure${status}`].properties.type.enum;
  expect(codesOf(409)).toEqual(expect.arrayContaining(['conflict', 'edit_conflict', 'request_in_progress']));
  expect(codesOf(403)).toEqual(['forbidden', 'plan_required', 'origin_not_allowed']);
  const { responses } = body.paths['/v1/geofences'].post;
  expect(responses['409'].headers['Retry-After'].schema).toEqual({ type: 'integer' });
  expect(responses['409'].content['application/json'].schema.properties.meta).toEqual({
    $ref: '#/components/schemas/Failure409',
  });
});
