/** Rules for every operation, and so also for later ones. */
import { describe, expect, test } from 'vitest';
import { adminApiKey, type Body, useApi, webhookParts } from './testing/fixtures.js';

const api = await useApi({ webhooks: webhookParts({ maxWebhooks: 100 }) });
const description = (await api.call('GET', '/openapi.json', { key: '' })).body;

const operations = Object.entries<Record<string, Body>>(description.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const answerOf = ({ operation }: (typeof operations)[number]): Record<string, Body> =>
  operation.responses['200']?.content?.['application/json']?.schema?.properties ?? {};

/** Answers with arrays that are not pages of a list, and why. */
const withoutPages: Readonly<Record<string, string>> = {
  '/v1/topics': 'a fixed list of topics',
  '/v1/topics/events': 'a log, read by offset',
  '/v1/account': 'the projects of one account',
  '/v1/sessions': 'the browsers of one account and of links to its projects, at most 100 each',
  '/v1/positions': 'the positions received last, read on by their time',
  '/v1/users/{id}/locations/{locationId}/explanation': 'the events of one location',
};
/** The best results of a query, which has no further pages. */
const isResult = (path: string): boolean => /^\/v1\/(analytics|search|geocode)\//.test(path);

const lists = operations.filter(
  (each) =>
    each.method === 'get' &&
    !isResult(each.path) &&
    !(each.path in withoutPages) &&
    Object.values(answerOf(each)).some(({ type }) => type === 'array'),
);

describe('every list', () => {
  test.each(lists.map((each) => [each.path, each] as const))('%s has a limit and pages by a cursor', (_, each) => {
    const names = (each.operation.parameters ?? [])
      .filter((parameter: Body) => parameter.in === 'query')
      .map(({ name }: Body) => name);
    expect(names).toEqual(expect.arrayContaining(['limit', 'cursor']));
    expect(Object.keys(answerOf(each).meta.properties)).toEqual(expect.arrayContaining(['code', 'hasMore', 'cursor']));
  });

  const pair = (tag: string, index: number) => `/${tag}/${tag}-${index}`;
  const circle = { description: 'A', type: 'circle', coordinates: [13.4, 52.5], radius: 100 };
  const beacon = {
    description: 'B',
    type: 'ibeacon',
    uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
    major: 1,
    coordinates: [13.4, 52.5],
  };
  const some = 7;
  const indices = Array.from({ length: some }, (_, index) => index);

  test.each<[string, string, () => Promise<unknown>]>([
    [
      '/v1/geofences',
      'geofences',
      () => Promise.all(indices.map((i) => api.call('PUT', `/v1/geofences${pair('t', i)}`, { body: circle }))),
    ],
    [
      '/v1/beacons',
      'beacons',
      () =>
        Promise.all(
          indices.map((i) => api.call('PUT', `/v1/beacons${pair('t', i)}`, { body: { ...beacon, minor: i } })),
        ),
    ],
    [
      '/v1/webhooks',
      'webhooks',
      () =>
        Promise.all(
          indices.map((i) => api.call('POST', '/v1/webhooks', { body: { url: `https://example.com/${i}` } })),
        ),
    ],
    ['/v1/erasures', 'erasures', () => Promise.all(indices.map((i) => api.call('DELETE', `/v1/users/${i}`)))],
    ['/v1/projects', 'projects', () => Promise.all(indices.map((i) => api.newProject(`P${i}`)))],
  ])('%s gives every record exactly once, whatever the limit', async (path, name, create) => {
    await create();
    const key = name === 'projects' ? adminApiKey : api.secret;
    const whole = (await api.call('GET', `${path}?limit=1000`, { key })).body;
    expect(whole.meta).toEqual({ code: 200, hasMore: false });
    expect(whole[name].length).toBeGreaterThanOrEqual(some);
    for (const limit of [1, 3, whole[name].length]) {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { meta, [name]: page } = (await api.call('GET', `${path}?limit=${limit}${cursor}`, { key })).body;
        expect(page.length).toBeLessThanOrEqual(limit);
        found.push(...page.map(({ _id }: Body) => _id));
        if (!meta.hasMore) break;
        cursor = `&cursor=${meta.cursor}`;
      }
      expect(found).toEqual(whole[name].map(({ _id }: Body) => _id));
    }
    const { status, body } = await api.call('GET', `${path}?cursor=nonsense`, { key });
    expect([status, body.meta.param]).toEqual([400, 'cursor']);
  });
});
