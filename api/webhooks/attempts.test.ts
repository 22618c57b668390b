import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveId, freshId } from '../../schemas/ids.js';
import type { Attempt } from '../../schemas/records.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { attemptRows } from '../../schemas/testing/rows.js';
import { attemptJson } from '../../schemas/wire/webhook.js';
import { type Body, useAnalytics, useApi, webhookParts } from '../testing/fixtures.js';
import { resultNames } from './attempts.js';
import { attemptRecord, deliveryRecord, startMs } from './testing/fixtures.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics, webhooks: webhookParts({ maxWebhooks: 1_000 }) });

const newWebhook = async (): Promise<string> =>
  (await api.call('POST', '/v1/webhooks', { body: { url: 'https://example.com/' } })).body.webhook._id;
const store = (attempts: readonly Attempt[]) => analytics.insert('webhook_attempts', attemptRows(attempts));

async function everyPage(webhook: string, query: string): Promise<Body[]> {
  const attempts: Body[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await api.call('GET', `/v1/webhooks/${webhook}/attempts?${query}${cursor}`);
    attempts.push(...body.attempts);
    expect(body.meta.hasMore).toBe('cursor' in body.meta);
    if (!body.meta.hasMore) return attempts;
    cursor = `&cursor=${body.meta.cursor}`;
  }
}

const states = ['delivered', 'retrying', 'given_up'] as const;
const shape = fc.record({
  time: fc.nat(4),
  result: fc.constantFrom(...resultNames),
  state: fc.constantFrom(...states),
  delivery: fc.nat(2),
  events: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
  answered: fc.boolean(),
  next: fc.option(fc.nat(1_000_000)),
});

test('pages by cursor equal the filtered model, with equal times and duplicate rows', async () => {
  const eventId = (number: number) => deriveId('event', `${number}`);
  const deliveryId = (number: number) => deriveId('delivery', `${number}`);
  const filters: [string, (attempt: Attempt) => boolean][] = [
    ['', () => true],
    ['result=timed_out', ({ result }) => result === 'timed_out'],
    ['state=given_up', ({ state }) => state === 'given_up'],
    [`delivery=${deliveryId(1)}`, ({ delivery }) => delivery.id === deliveryId(1)],
    [
      `event=${eventId(2)}&state=retrying`,
      ({ delivery, state }) => delivery.events.includes(eventId(2)) && state === 'retrying',
    ],
    [
      `after=${new Date(startMs).toISOString()}&before=${new Date(startMs + 3).toISOString()}`,
      ({ at }) => at > startMs && at < startMs + 3,
    ],
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(shape, { maxLength: 25 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(...filters),
      async (shapes, limit, [query, keep]) => {
        const [webhook, other] = [await newWebhook(), await newWebhook()];
        const attempts = shapes.map((one): Attempt => {
          const about = {
            webhook,
            project: api.project.record._id,
            id: deliveryId(one.delivery),
            events: one.events.map(eventId),
          };
          const failed = { status: null, responseHeaders: null, responseBody: null, message: 'nobody\tanswered' };
          return attemptRecord({
            id: freshId(),
            at: startMs + one.time,
            result: one.result,
            state: one.state,
            nextAttemptAt: one.next === null ? null : startMs + one.next,
            delivery: deliveryRecord({ ...about, body: Buffer.from(`{"event":{"a":"€\\n\\\\"},"n":${one.time}}`) }),
            ...(!one.answered && failed),
          });
        });
        await store(attempts);
        await store([
          ...attempts.slice(0, 7),
          attemptRecord({ delivery: deliveryRecord({ webhook: other, project: api.project.record._id }) }),
        ]);
        const expected = attempts
          .filter(keep)
          .sort((one, next) => next.at - one.at || (one.id < next.id ? 1 : -1))
          .map(attemptJson);
        expect(await everyPage(webhook, `limit=${limit}&${query}`)).toEqual(expected);
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});

test.each([
  ['cursor=x', 'cursor'],
  ['limit=0', 'limit'],
  ['before=yesterday', 'before'],
  ['state=failed', 'state'],
  ['result=ok', 'result'],
])('%s is refused', async (query, param) => {
  const webhook = await newWebhook();
  expect(await api.call('GET', `/v1/webhooks/${webhook}/attempts?${query}`)).toMatchObject({
    status: 400,
    body: { meta: { param } },
  });
});
