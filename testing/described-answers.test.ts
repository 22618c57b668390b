import { expect, test } from 'vitest';
import { createAnswerCheck } from './described-answers.js';

const meta = { type: 'object', properties: { code: { type: 'integer' } }, required: ['code'] };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const check = createAnswerCheck({
  paths: {
    '/v1/shops/{id}': {
      get: {
        operationId: 'getShop',
        responses: {
          200: json({
            type: 'object',
            properties: { meta: { $ref: '#/components/schemas/Meta' }, shop: { $ref: '#/components/schemas/Shop' } },
            required: ['meta', 'shop'],
          }),
          default: json({ type: 'object', properties: { meta: { $ref: '#/components/schemas/Meta' } } }),
        },
      },
    },
    '/v1/shops/nearest': { get: { operationId: 'nearestShop', responses: { 200: json({ type: 'null' }) } } },
  },
  components: {
    schemas: {
      Meta: meta,
      Shop: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: {}, additionalProperties: true } },
      },
    },
  },
});
const ofShop = (status: number, body: object) => check.ofRequest('GET', '/v1/shops/7', status, body);

test('an answer as described passes, also one with fields that are left open', () => {
  expect(ofShop(200, { meta: { code: 200 }, shop: {} })).toBeUndefined();
  expect(ofShop(200, { meta: { code: 200 }, shop: { metadata: { size: 4 } } })).toBeUndefined();
});

test('a missing field, a wrong type and an unknown field are faults', () => {
  expect(ofShop(200, { meta: { code: 200 } })).toMatch(/getShop answers 200 .*shop/);
  expect(ofShop(200, { meta: { code: '200' }, shop: {} })).toMatch(/meta\/code/);
  expect(ofShop(200, { meta: { code: 200 }, shop: { size: 4 } })).toMatch(/size/);
});

test('a status that is not listed is described by the default, and without one it is a fault', () => {
  expect(ofShop(418, { meta: { code: 418 } })).toBeUndefined();
  expect(ofShop(418, { shop: {} })).toMatch(/418/);
  expect(check.ofOperation('nearestShop', 418, null)).toBe('nearestShop answers 418 with JSON');
});

test('a path without a parameter is not that of an id', () => {
  expect(check.ofRequest('GET', '/v1/shops/nearest', 200, null)).toBeUndefined();
  expect(check.ofRequest('GET', '/v1/shops/nearest/', 200, {})).toBeUndefined();
});
