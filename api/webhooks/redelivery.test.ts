import { expect, test } from 'vitest';
import type { NewRecord, Topic } from '../../pipeline/ports.js';
import { freshId } from '../../schemas/ids.js';
import type { Attempt, Event } from '../../schemas/records.js';
import { attemptRows, eventRows } from '../../schemas/testing/rows.js';
import { eventText } from '../../schemas/wire/event-text.js';
import { eventJson } from '../../schemas/wire/user.js';
import { useAnalytics, useApi, webhookParts } from '../testing/fixtures.js';
import { redeliverRange } from './redelivery.js';
import { attemptRecord, deliveriesTo, deliveryRecord, eventRecord, startMs } from './testing/fixtures.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics, webhooks: webhookParts({ maxWebhooks: 100 }) });

const storeEvents = (events: readonly Event[]) => analytics.insert('events', eventRows(events));
const storeAttempts = (attempts: readonly Attempt[]) => analytics.insert('webhook_attempts', attemptRows(attempts));

async function subject(fields: object = {}) {
  const project = await api.newProject('Redelivery');
  const call = (method: 'POST' | 'PUT', path: string, body: object | string) =>
    api.call(method, `/v1/webhooks${path}`, { key: project.key('test', 'secret'), body });
  const { webhook } = (await call('POST', '', { url: 'https://example.com/', ...fields })).body;
  const event = eventRecord({ id: freshId(), project: project.record._id });
  await storeEvents([event]);
  const redeliver = (body: object | string) => call('POST', `/${webhook._id}/redeliver`, body);
  return { id: webhook._id as string, project, event, redeliver, call };
}

test('an event that was sent is sent again with the same id and bytes, however the webhook has changed', async () => {
  const { id, project, event, redeliver } = await subject({ delivery: 'grouped' });
  const body = Buffer.from('{"event": {"as": "it was sent",\t"\u20ac": "\\u20ac\\\\n"}}\r\n');
  const delivery = deliveryRecord({ webhook: id, project: project.record._id, events: [event.id], body });
  await storeAttempts([attemptRecord({ delivery })]);
  expect(await redeliver({ event: event.id })).toEqual({
    status: 200,
    body: { meta: { code: 200, hasMore: false }, deliveries: 1 },
  });
  const [again] = await deliveriesTo(api.log, id);
  expect(again).toMatchObject({
    id: delivery.id,
    events: [event.id],
    reason: 'redelivery',
    project: project.record._id,
  });
  expect(again?.body.equals(body)).toBe(true);
});

test('an event that was never sent is sent by the current settings of the webhook', async () => {
  const { id, event, redeliver } = await subject();
  expect((await redeliver(`event=${event.id}`)).body.deliveries).toBe(1);
  expect((await redeliver({ from: new Date(startMs).toISOString(), to: '2999-01-01' })).body).toEqual({
    meta: { code: 200, hasMore: false },
    deliveries: 1,
  });
  const [one, other] = await deliveriesTo(api.log, id);
  expect(one?.body.toString()).toBe(`{"event":${eventText(event)},"user":${JSON.stringify(eventJson(event).user)}}`);
  expect(other?.id).toBe(one?.id);
  expect((await redeliver({ from: '2000-01-01', state: 'failed' })).body.deliveries).toBe(0);
});

// A thousand deliveries with large users were read, made and appended at once: some hundred megabytes.
test('regression: a large range is redelivered in parts, which keep groups of a location whole', async () => {
  const { id, project } = await subject({ delivery: 'grouped' });
  const ofProject = { project: project.record._id };
  const sent = Array.from({ length: 250 }, (_, index) =>
    eventRecord({ ...ofProject, id: freshId(), locationId: `${index}` }),
  );
  const unsent = Array.from({ length: 250 }, () => eventRecord({ ...ofProject, id: freshId(), locationId: 'large' }));
  await storeEvents([...sent, ...unsent]);
  const attempts = sent.map(({ id: event }) => {
    const delivery = deliveryRecord({ ...ofProject, id: `of ${event}`, webhook: id, events: [event] });
    return attemptRecord({ id: freshId(), delivery });
  });
  await storeAttempts(attempts);
  const largest = { read: 0, appended: 0 };
  const dependencies = {
    analytics: {
      query: async <Row>(sql: string, parameters?: Record<string, unknown>) => {
        const rows = await analytics.query<Row>(sql, parameters);
        if (/FROM webhook_attempts/.test(sql)) largest.read = Math.max(largest.read, rows.length);
        return rows;
      },
    },
    log: {
      append: async (topic: Topic, records: readonly NewRecord[]) => {
        largest.appended = Math.max(largest.appended, records.length);
        await api.log.append(topic, records);
      },
    },
    configuration: api.readModel,
    states: async () => undefined,
    clock: () => startMs,
  };
  const webhook = api.readModel.webhook({ ...ofProject, environment: 'test' }, id)!;
  const range = { fromMs: 0, toMs: null, failedOnly: false, cursor: null };
  const { deliveries } = await redeliverRange(dependencies as never, webhook, range);
  // The event of the subject was never sent either.
  expect(deliveries).toBe(250 + 50 + 1);
  expect(largest.read).toBeLessThan(200);
  expect(largest.appended).toBeLessThan(200);
  const queued = await deliveriesTo(api.log, id);
  expect(new Set(queued.map((delivery) => delivery.id)).size).toBe(deliveries);
  expect(queued.filter(({ events }) => events.length === 5)).toHaveLength(50);
});

test('events of another environment are not found', async () => {
  const { event, project } = await subject();
  const key = project.key('live', 'secret');
  const { webhook } = (await api.call('POST', '/v1/webhooks', { key, body: { url: 'https://example.com/' } })).body;
  const redeliver = (body: object) => api.call('POST', `/v1/webhooks/${webhook._id}/redeliver`, { key, body });
  expect((await redeliver({ event: event.id })).status).toBe(404);
  expect((await redeliver({ from: '2000-01-01' })).body.deliveries).toBe(0);
});

test.each([{ tags: ['park'] }, { types: ['user.exited_geofence'] }])('%j leaves the event out', async (fields) => {
  const { id, event, redeliver } = await subject(fields);
  expect((await redeliver({ event: event.id })).status).toBe(409);
  expect((await redeliver({ from: '2000-01-01' })).body.deliveries).toBe(0);
  expect(await deliveriesTo(api.log, id)).toEqual([]);
});

test('a disabled webhook gets nothing', async () => {
  const { id, event, redeliver, call } = await subject();
  await call('PUT', `/${id}`, { enabled: false });
  const { status, body } = await redeliver({ event: event.id });
  expect([status, body.meta.type]).toEqual([409, 'conflict']);
  expect(await deliveriesTo(api.log, id)).toEqual([]);
});

test.each([
  [{}, 'from', 'is required unless event is given'],
  [{ event: freshId(), from: '2026-01-01' }, 'event', "can't be combined with from"],
  [{ from: 'soon' }, 'from', 'must be a date'],
  [{ from: '2026-01-02', to: '2026-01-02' }, 'to', 'must be after from'],
  [{ from: '2026-01-01', state: 'delivered' }, 'state', 'must be one of failed'],
  [{ from: '2026-01-01', cursor: 'x' }, 'cursor', 'must be the `meta.cursor` of an earlier answer'],
  [{ from: '2026-01-01', status: 'failed' }, 'status', 'is not a known field'],
])('%j is refused', async (fields, param, rule) => {
  const { redeliver } = await subject();
  const { status, body } = await redeliver(fields);
  expect([status, body.meta.param]).toEqual([400, param]);
  expect(body.meta.message).toMatch(`${param}: ${rule}`);
});
