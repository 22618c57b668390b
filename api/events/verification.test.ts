/** Verdicts of SDKs on events. Regression: every id returned 200. */
import { expect, it } from 'vitest';
import { deriveId } from '../../schemas/ids.js';
import { exampleEvent } from '../../schemas/testing/examples.js';
import { eventRows } from '../../schemas/testing/rows.js';
import { type TestProject, useAnalytics, useApi } from '../testing/fixtures.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

const store = (project: TestProject, name: string) => {
  const event = exampleEvent({ id: deriveId(name), project: project.record._id, environment: 'test' });
  return analytics.insert('events', eventRows([event]));
};
const verify = (id: string, body: object, environment: 'test' | 'live' = 'test') =>
  api.call('PUT', `/v1/events/${id}/verification`, { key: api.project.key(environment, 'publishable'), body });

it('is 200 for an event of the key, with each verdict in each form', async () => {
  await store(api.project, 'known');
  for (const verification of [1, 0, -1, '1', '-1', 'ACCEPT', 'UNVERIFY', 'REJECT']) {
    const answer = await verify(deriveId('known'), { verification, verifiedPlaceId: null });
    expect(answer).toMatchObject({ status: 200, body: { meta: { code: 200 } } });
  }
});

it('is 404 for an unknown id, and equally for one of another project or environment', async () => {
  const other = await api.newProject('Other');
  await store(other, 'of another');
  await store(api.project, 'of test');
  const answers = await Promise.all([
    verify(deriveId('nobody'), { verification: 1 }),
    verify(deriveId('of another'), { verification: 1 }),
    verify(deriveId('of test'), { verification: 1 }, 'live'),
  ]);
  for (const { status, body } of answers) {
    expect(status).toBe(404);
    expect(body.meta).toMatchObject({ code: 404, type: 'not_found', message: 'there is no such event' });
  }
});

it('is 200 for an event that is stored during the retries', async () => {
  const answer = verify(deriveId('soon'), { verification: 1 });
  await store(api.project, 'soon');
  expect((await answer).status).toBe(200);
});

it.each([
  ['0123', { verification: 1 }, 'id'],
  ['anything', { verification: 1 }, 'id'],
  [deriveId('known'), { verification: 2 }, 'verification'],
  [deriveId('known'), { verification: 'PERHAPS' }, 'verification'],
  [deriveId('known'), {}, 'verification'],
])('%s with %j is 400 for its %s', async (id, body, param) => {
  expect(await verify(id, body)).toMatchObject({ status: 400, body: { meta: { param } } });
});

it('refuses callers beyond its queue without delaying other queries', async () => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => verify(deriveId(`flood ${index}`), { verification: 1 })),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  expect(statuses).toEqual(new Set([404, 503]));
  expect((await api.call('GET', `/v1/events/${deriveId('known')}`)).status).toBe(200);
});
