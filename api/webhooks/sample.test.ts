import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { Event, eventTypes, User } from '../../schemas/json/user.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { Delivery } from '../../schemas/records.js';
import { type Body, useApi, webhookParts } from '../testing/fixtures.js';
import { attemptRecord } from './testing/fixtures.js';

const tried: { webhook: WebhookRecord; delivery: Delivery }[] = [];
const attemptOnce = async (webhook: WebhookRecord, delivery: Delivery) => {
  tried.unshift({ webhook, delivery });
  return attemptRecord({ delivery, result: 'timed_out', state: 'given_up', status: null, message: 'nothing came' });
};
const api = await useApi({ webhooks: webhookParts({ maxWebhooks: 100, attemptOnce }) });

const isEvent = Compile(Event);
const isUser = Compile(User);

async function sample(fields: object, body: object = {}): Promise<Body> {
  const { webhook } = (await api.call('POST', '/v1/webhooks', { body: { url: 'https://example.com/', ...fields } }))
    .body;
  const answer = await api.call('POST', `/v1/webhooks/${webhook._id}/test`, { body });
  expect(answer.status).toBe(200);
  expect(tried[0]?.webhook._id).toBe(webhook._id);
  return answer.body.attempt;
}
const sent = (): Body => JSON.parse(tried[0]!.delivery.body.toString());

test('is sent at once, to a disabled webhook too, and the answer contains the response', async () => {
  const attempt = await sample({ enabled: false });
  const { delivery } = tried[0]!;
  expect(attempt).toMatchObject({
    delivery: delivery.id,
    events: delivery.events,
    reason: 'test',
    result: 'timed_out',
  });
  expect(attempt.request.body).toBe(delivery.body.toString());
  expect(attempt).not.toHaveProperty('response');
});

describe.each([...eventTypes, 'opened_app'])('%s', (type) => {
  test.each(['single', 'grouped'])('looks as a real one and is marked, %s', async (mode) => {
    await sample({ delivery: mode }, { type });
    const { user, ...rest } = sent();
    const event = mode === 'single' ? rest.event : rest.events[0];
    expect([isEvent.Check(event), isUser.Check(user)]).toEqual([true, true]);
    expect(event).toMatchObject({
      type,
      live: false,
      source: 'test',
      metadata: { test: true },
      user: { _id: user._id },
    });
    expect(user).toMatchObject({ source: 'test', metadata: { test: true } });
    expect(tried[0]?.delivery).toMatchObject({ events: [event._id], reason: 'test' });
  });
});

// The sample of a dwell had no duration, so the code of a receiver that reads it could not be tried.
test('regression: exits and dwells have a duration, as real ones', async () => {
  const withDuration: string[] = [];
  for (const type of eventTypes) {
    await sample({}, { type });
    if (sent().event.duration !== undefined) withDuration.push(type);
  }
  expect(withDuration).toEqual(eventTypes.filter((type) => /exited|dwelled/.test(type)));
});

test('has the first type of the webhook', async () => {
  await sample({});
  expect(sent().event.type).toBe('user.entered_geofence');
  await sample({ types: ['user.exited_beacon', 'opened_app'] });
  expect(sent().event.type).toBe('user.exited_beacon');
});

test('has new ids each time', async () => {
  const ids = [
    (await sample({})).delivery,
    (await sample({})).delivery,
    ...tried.slice(0, 2).flatMap(({ delivery }) => delivery.events),
  ];
  expect(new Set(ids).size).toBe(4);
});

test.each([
  [{ type: 'user.entered_house' }, 'type'],
  [{ kind: 'x' }, 'kind'],
])('refuses %j', async (body, param) => {
  const { webhook } = (await api.call('POST', '/v1/webhooks', { body: { url: 'https://example.com/' } })).body;
  const before = tried.length;
  expect(await api.call('POST', `/v1/webhooks/${webhook._id}/test`, { body })).toMatchObject({
    status: 400,
    body: { meta: { param } },
  });
  expect(tried).toHaveLength(before);
});
