import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import { dayMs, hourMs } from '../../../schemas/durations.js';
import type { Delivery } from '../../../schemas/records.js';
import { until } from '../../../testing/until.js';
import { projectB } from '../../catalog/testing/fixtures.js';
import { type DeliveryQueue, type DeliverySource, type Log, type StreamHandler, topics } from '../../ports.js';
import { maxEventCharacters } from '../../records/deliveries.js';
import { noMetrics } from '../metrics.js';
import { projectRecord, withPartitionsLost, withPositionRepairedMeanwhile } from '../testing/node.js';
import { retryDelaysMs } from './testing/bounds.js';
import { answer, failure } from './testing/scripted-client.js';
import { eventRecord, keyOfEvent, WebhookNode, webhookRecord } from './testing/stage.js';
import { webhookId } from './testing/webhooks.js';

let node: WebhookNode;

beforeEach(async () => {
  node = await WebhookNode.open();
});
afterEach(() => node.dispose());

const hook = webhookRecord({ updatedAt: Date.UTC(2026, 0, 1) });

/** Waits for the next timer and passes to it. */
const passToTimer = async () => {
  await until(() => node.time.nextAtMs < Infinity);
  node.time.passTo(node.time.nextAtMs);
};

const settled = (waiting = 0) => until(async () => (await node.waiting()) === waiting);

describe('an event', () => {
  test('goes to every webhook that wants it and to no other', async () => {
    await node.configure(
      webhookRecord({ _id: webhookId(1), url: 'http://a/' }),
      webhookRecord({ _id: webhookId(2), url: 'http://b/', types: ['user.exited_geofence'] }),
      webhookRecord({ _id: webhookId(3), url: 'http://c/', types: ['user.entered_geofence'] }),
      webhookRecord({ _id: webhookId(4), url: 'http://d/', enabled: false }),
    );
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(2);
    expect(node.client.requests.map(({ url }) => url).sort()).toEqual(['http://a/', 'http://c/']);
    await settled();
  });

  test("has the event's own fields of the user when no state is stored", async () => {
    await node.configure(hook);
    node.start();
    const event = eventRecord(1, 1);
    await node.append(event);
    await node.attempted(1);
    const { user } = JSON.parse(node.client.requests[0]!.body);
    expect(user).toEqual({ _id: event.user?.id, deviceId: event.user?.deviceId });
  });

  test('is grouped with the others of its location, also across the end of a batch', async () => {
    await node.configure({ ...hook, delivery: 'grouped' });
    await node.append(...Array.from({ length: 3 }, (_, number) => eventRecord(1, 1, number)));
    await node.append(...Array.from({ length: 7 }, (_, number) => eventRecord(2, 1, number)), eventRecord(3, 1));
    node.start({ bounds: { maxBatchRecords: 5 } });
    await node.attempted(4);
    const sizes = node.client.requests.map(({ body }) => JSON.parse(body).events.length);
    expect(sizes.sort()).toEqual([1, 2, 3, 5]);
  });

  // Batches end at 4 MiB, too. Only those with all records that they may have were completed.
  test('regression: is grouped with the others of its location across the end of a batch of large events', async () => {
    await node.configure({ ...hook, delivery: 'grouped' });
    const metadata = JSON.stringify({ note: 'x'.repeat(33_000) });
    await node.append(...Array.from({ length: 150 }, (_, number) => eventRecord(1, 1, number, { metadata })));
    const { length } = (await node.node.embedded.log.read(topics.events, 0, 0, 1_000)).records;
    expect(length).toBeLessThan(150);
    expect(length % 5).not.toBe(0);
    node.start();
    await settled();
    await node.attempted(30);
    const sizes = node.client.requests.map(({ body }) => JSON.parse(body).events.length);
    expect(sizes).toEqual(Array(30).fill(5));
  });

  test('is redelivered on request, under the same id', async () => {
    await node.configure(hook);
    node.start();
    await node.append(eventRecord(1, 1));
    const [first] = await node.attempted(1);
    const again: Delivery = { ...(await firstDelivery()), reason: 'redelivery' };
    await node.node.embedded.log.append(topics.deliveries, [{ key: hook._id, value: codecs.delivery.encode(again) }]);
    const [, second] = await node.attempted(2);
    expect(second?.delivery).toMatchObject({ id: first?.delivery.id, reason: 'redelivery' });
    expect(node.client.requests[1]?.body).toBe(node.client.requests[0]?.body);
  });
});

const firstDelivery = async (): Promise<Delivery> => {
  const [record] = (await node.node.embedded.log.read(topics.attempts, 0, 0, 1)).records;
  return codecs.attempt.decode(record!.value!).delivery;
};

/** Requests a redelivery of the first delivery, as the API does. */
async function redeliverFirst(): Promise<void> {
  const again: Delivery = { ...(await firstDelivery()), reason: 'redelivery', createdAt: node.time.nowMs };
  await node.node.embedded.log.append(topics.deliveries, [{ key: hook._id, value: codecs.delivery.encode(again) }]);
}

describe('a redelivery', () => {
  test('replaces the queued retry, so the event is not sent again after it has succeeded', async () => {
    await node.configure(hook);
    let isUp = false;
    node.client.answering = () => answer(isUp ? 204 : 500);
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    await passToTimer();
    await node.attempted(2);
    isUp = true;
    node.time.pass(1_000);
    await redeliverFirst();
    const attempts = await node.attempted(3);
    expect(attempts.map(({ state }) => state)).toEqual(['retrying', 'retrying', 'delivered']);
    await passUntilEmpty();
    expect((await node.attempts()).map(({ delivery }) => delivery.reason)).toEqual(['event', 'event', 'redelivery']);
  });

  test('that fails has its own retries, and the replaced retries are not sent', async () => {
    await node.configure(hook);
    node.client.answering = () => answer(node.client.requests.length < 4 ? 500 : 204);
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    node.time.pass(1_000);
    await redeliverFirst();
    await node.attempted(2);
    await passUntilEmpty();
    expect((await node.attempts()).map(({ delivery, attempt }) => [delivery.reason, attempt])).toEqual([
      ['event', 1],
      ['redelivery', 1],
      ['redelivery', 2],
      ['redelivery', 3],
    ]);
  });

  test('replaces an earlier redelivery, also across a restart', async () => {
    await node.configure(hook);
    node.client.answering = () => answer(node.client.requests.length < 3 ? 500 : 204);
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    for (const count of [2, 3]) {
      node.time.pass(1_000);
      await redeliverFirst();
      await node.attempted(count);
    }
    await node.reopen();
    node.start();
    await passUntilEmpty();
    expect(node.client.requests).toHaveLength(3);
  });

  /** Passes up to a day, timer by timer, until nothing is queued. */
  async function passUntilEmpty(): Promise<void> {
    const endMs = node.time.nowMs + dayMs;
    await until(async () => {
      if ((await node.waiting()) === 0) return true;
      if (node.time.nextAtMs <= endMs) node.time.passTo(node.time.nextAtMs);
      return false;
    });
  }
});

describe('the number of queued deliveries', () => {
  test('excludes a webhook deleted while its retry was queued, before the retry is due', async () => {
    await node.configure(hook);
    node.client.answering = () => answer(500, { 'retry-after': '3600' });
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    await settled(1);
    await node.node.remove('webhook', hook._id);
    // A minute, in steps, because a timer may set the next one.
    for (let seconds = 0; seconds < 60; seconds++) {
      node.time.pass(1_000);
      await nextTurn();
    }
    await settled();
  });
});

describe('attempts', () => {
  test('follow the documented schedule, eight in total, each recorded', async () => {
    await node.configure({ ...hook, updatedAt: Date.UTC(2027, 0, 1) });
    node.client.answering = () => answer(500, { 'x-why': 'busy' }, 'no');
    const draws = [0, 1, 0.25, 0.5, 0.75, 1, 0];
    node.start({ random: () => draws.shift() ?? 0.5 });
    await node.append(eventRecord(1, 1));
    for (let count = 1; count <= 8; count++) {
      await node.attempted(count);
      if (count < 8) await passToTimer();
    }
    const times = node.client.requests.map(({ atMs }) => atMs);
    const jitter = [0.9, 1.1, 0.95, 1, 1.05, 1.1, 0.9];
    expect(times.slice(1).map((atMs, index) => atMs - times[index]!)).toEqual(
      retryDelaysMs.map((delayMs, index) => Math.round(delayMs * jitter[index]!)),
    );
    await settled();
    const attempts = await node.attempts();
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(attempts.map(({ state }) => state)).toEqual([...Array(7).fill('retrying'), 'given_up']);
    expect(attempts.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([...times.slice(1), null]);
    expect(attempts[0]).toMatchObject({
      result: 'refused',
      status: 500,
      responseHeaders: '{"x-why":"busy"}',
      url: hook.url,
    });
    expect(new Set(node.client.requests.map(({ id, body }) => id + body)).size).toBe(1);
  });

  test('use the webhook as edited meanwhile', async () => {
    await node.configure(hook);
    node.client.answering = ({ url }) => answer(url === hook.url ? 500 : 200);
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    await node.configure({ ...hook, url: 'http://moved/' });
    await passToTimer();
    await node.attempted(2);
    expect(node.client.requests.map(({ url }) => url)).toEqual([hook.url, 'http://moved/']);
    await settled();
  });

  test('are recorded before their deliveries are acknowledged', async () => {
    await node.configure(hook);
    const queue = node.node.embedded.deliveryQueue;
    const settledBefore: number[] = [];
    node.start({
      queue: {
        ...queue,
        async settle(claim, settlements) {
          settledBefore.push((await node.attempts()).length - settlements.length);
          return queue.settle(claim, settlements);
        },
      },
    });
    await node.append(...Array.from({ length: 20 }, (_, device) => eventRecord(device, 1)));
    await node.attempted(20);
    await settled();
    expect(settledBefore.length).toBeGreaterThan(0);
    expect(settledBefore.every((count) => count >= 0)).toBe(true);
  });

  test('to a webhook whose last attempt failed are made one at a time', async () => {
    await node.configure(hook);
    let inFlight = 0;
    const most: number[] = [];
    let isUp = true;
    let isFull = false;
    /** The first request is answered when all are queued, the others when as many as may be are in flight. */
    const isDue = async () => {
      if (most.length === 1) return (await node.waiting()) === 30;
      isFull ||= inFlight === 16;
      return isFull;
    };
    node.client.answering = async () => {
      inFlight += 1;
      most.push(inFlight);
      await (isUp ? until(isDue) : new Promise((resolve) => setTimeout(resolve, 5)));
      inFlight -= 1;
      return isUp ? answer(200) : failure;
    };
    node.start();
    const burst = (location: number) =>
      node.append(...Array.from({ length: 30 }, (_, device) => eventRecord(device, location)));
    await burst(1);
    await node.attempted(30);
    expect(most[0]).toBe(1);
    expect(Math.max(...most)).toBe(16);
    isUp = false;
    await node.append(eventRecord(1, 2));
    await node.attempted(31);
    most.length = 0;
    await burst(3);
    await node.attempted(61);
    expect(Math.max(...most)).toBe(1);
  });

  describe('regression: a clock that was set back by a day delayed for this day', () => {
    test('retries', async () => {
      await node.configure(hook);
      node.client.answering = () => answer(500);
      node.start();
      await node.append(eventRecord(1, 1));
      await node.attempted(1);
      await settled(1);
      node.time.setBack(dayMs);
      const setBackAtMs = node.time.nowMs;
      node.time.pass(6_000);
      const [, second] = await node.attempted(2);
      expect((second?.at as number) - setBackAtMs).toBeLessThanOrEqual(6_000);
      await settled(1);
      node.time.pass(350_000);
      await node.attempted(3);
    });

    test('deliveries on disk, and later ones overtook them', async () => {
      await node.configure(hook);
      node.start({ bounds: { maxWindow: 1 } });
      let answerFirst: () => void = () => {};
      const isAnswered = new Promise<void>((resolve) => (answerFirst = resolve));
      node.client.answering = async () => {
        await isAnswered;
        return answer(200);
      };
      await node.append(eventRecord(1, 1), eventRecord(1, 2), eventRecord(1, 3));
      await until(async () => (await node.waiting()) === 3);
      node.time.setBack(dayMs);
      await node.append(eventRecord(1, 4));
      await until(async () => (await node.waiting()) === 4);
      answerFirst();
      const attempts = await node.attempted(4);
      const locations = [1, 2, 3, 4].map((location) => eventRecord(1, location).id);
      expect(attempts.flatMap(({ delivery }) => delivery.events)).toEqual(locations);
    });
  });

  describe('after a response with Retry-After', () => {
    test('the whole webhook is paused that long', async () => {
      await node.configure(hook);
      node.client.answering = () => answer(503, { 'retry-after': '600' });
      node.start();
      await node.append(eventRecord(1, 1));
      await node.attempted(1);
      node.client.answering = () => answer(200);
      await node.append(eventRecord(2, 1));
      await settled(2);
      node.time.pass(599_000);
      await until(() => node.time.nextAtMs < Infinity);
      expect(node.client.requests).toHaveLength(1);
      node.time.pass(1_000);
      await node.attempted(3);
      await settled();
    });

    test('regression: a clock that was set back by a day paused the webhook for this day', async () => {
      await node.configure(hook);
      node.client.answering = () => answer(503, { 'retry-after': '600' });
      node.start();
      await node.append(eventRecord(1, 1));
      await node.attempted(1);
      await settled(1);
      node.client.answering = () => answer(200);
      node.time.setBack(dayMs);
      await node.append(eventRecord(2, 1));
      node.time.pass(670_000);
      await node.attempted(2);
    });

    test('other webhooks continue', async () => {
      const other = webhookRecord({ _id: webhookId(2), url: 'http://other/' });
      await node.configure(hook, other);
      node.client.answering = ({ url }) => (url === hook.url ? answer(429, { 'retry-after': '60' }) : answer(200));
      node.start();
      await node.append(...Array.from({ length: 10 }, (_, device) => eventRecord(device, 1)));
      await until(() => node.client.to(other.url).length === 10);
      expect(node.client.to(hook.url)).toHaveLength(1);
    });
  });
});

describe('a webhook', () => {
  test('that is gone is disabled at once; queued deliveries continue when it is enabled again', async () => {
    await node.configure(hook);
    node.client.answering = () => answer(410);
    node.start();
    await node.append(eventRecord(1, 1), eventRecord(2, 1));
    const [attempt] = await node.attempted(1);
    expect(attempt).toMatchObject({ result: 'gone', state: 'retrying' });
    await until(() => node.alerts.length === 1);
    expect(node.alerts[0]).toMatchObject({ kind: 'webhook_disabled', webhook: hook._id, reason: 'gone' });
    const disabled = node.node.readModel.webhook(hook, hook._id)!;
    expect(disabled).toMatchObject({ enabled: false, disabled: { reason: 'gone' } });
    node.time.pass(dayMs);
    await settled(2);
    expect(node.client.requests).toHaveLength(1);

    node.client.answering = () => answer(200);
    await node.configure({ ...disabled, enabled: true, disabled: null, updatedAt: disabled.updatedAt + 1 });
    node.time.pass(2_000);
    await settled();
    expect(node.client.requests).toHaveLength(3);
  });

  test('that is changed before its former URL answers 410 stays enabled, and nothing is counted or sent', async () => {
    await node.configure(hook);
    const changed = { ...hook, url: 'http://127.0.0.1:1/other', updatedAt: hook.updatedAt + 1 };
    node.client.answering = async ({ url }) => {
      if (url === changed.url) return answer(200);
      await node.configure(changed);
      return answer(410);
    };
    const counted: string[] = [];
    const stage = node.start({ metrics: { ...noMetrics, add: (name) => counted.push(name) } });
    await node.append(eventRecord(1, 1), eventRecord(2, 1));
    await until(() => node.client.to(changed.url).length === 1);
    await stage.close();
    expect(node.node.readModel.webhook(hook, hook._id)).toEqual(changed);
    expect(node.alerts).toEqual([]);
    expect(counted).not.toContain('webhooks_disabled_total');
  });

  test('that only failed for five days is disabled, with an alert', async () => {
    await node.configure(hook);
    node.client.answering = () => failure;
    node.start();
    const startedAtMs = node.time.nowMs;
    for (let tries = 1; ; tries++) {
      // The eight attempts of an event take a little more than a day.
      if (tries % 8 === 1) await node.append(eventRecord(1, tries));
      else await passToTimer();
      await node.attempted(tries);
      if (node.time.nowMs >= startedAtMs + 5 * dayMs) break;
      expect(node.alerts).toEqual([]);
    }
    await until(() => node.alerts.length === 1);
    expect(node.alerts[0]).toMatchObject({ kind: 'webhook_disabled', reason: 'failing' });
  });

  test('that succeeds once in a while is not disabled', async () => {
    await node.configure(hook);
    node.start();
    for (let day = 0; day < 12; day++) {
      node.client.answering = () => answer(day % 4 === 0 ? 200 : 500);
      await node.append(eventRecord(day, 1));
      await until(async () =>
        (await node.attempts()).some(({ delivery }) => delivery.events[0] === eventRecord(day, 1).id),
      );
      node.time.pass(dayMs);
    }
    expect(node.alerts).toEqual([]);
  });

  // In a cluster, one process had a delivery refused and given up on the first day and the next one refused five days
  // later. It disabled the webhook, which had succeeded in another process all the time.
  test('regression: that succeeds in another process is not disabled for rare failures in this one', async () => {
    await node.configure(hook);
    node.client.answering = () => answer(500);
    const stage = node.start({ retryDelaysMs: [] });
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    node.time.pass(5 * dayMs);
    const { deliveryQueue } = node.node.embedded;
    const ofAnother = { failingSinceMs: null, lastSuccessAtMs: node.time.nowMs - hourMs };
    await until(async () => (await deliveryQueue.health(hook._id)).failingSinceMs !== null);
    await deliveryQueue.setHealth(hook._id, ofAnother, 30 * dayMs);
    await node.append(eventRecord(1, 2));
    await node.attempted(2);
    node.time.pass(5 * dayMs - 1);
    await node.append(eventRecord(1, 3));
    await node.attempted(3);
    expect(node.alerts).toEqual([]);
    expect(await deliveryQueue.health(hook._id)).toMatchObject({ lastSuccessAtMs: ofAnother.lastSuccessAtMs });
    node.time.pass(1);
    await node.append(eventRecord(1, 4));
    await node.attempted(4);
    await stage.close();
    expect(node.alerts).toMatchObject([{ kind: 'webhook_disabled', reason: 'failing' }]);
  });

  // Incident: webhooks of a deleted project were sent to while the eraser waited for the erasures of other projects.
  test.each([
    ['that was deleted', 'webhook', hook._id],
    ['whose project was deleted', 'project', hook.project],
  ] as const)('%s gets no more requests, and its deliveries are dropped', async (_, kind, id) => {
    await node.configure(hook);
    node.client.answering = () => answer(500);
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    await settled(1);
    await node.node.remove(kind, id);
    // The delivery is removed when the stage learns of the deletion, at the latest when its next attempt is due.
    await until(async () => {
      if (node.time.nextAtMs < Infinity) node.time.passTo(node.time.nextAtMs);
      return (await node.waiting()) === 0;
    });
    expect(node.client.requests).toHaveLength(1);
  });

  test('that was disabled for too long does not get the expired deliveries', async () => {
    await node.configure(hook);
    node.client.answering = () => answer(410);
    node.start({ bounds: { deliveryRetentionMs: 3 * dayMs } });
    await node.append(...Array.from({ length: 200 }, (_, device) => eventRecord(device, 1)));
    await settled(200);
    await until(() => node.alerts.length === 1);
    for (let hours = 0; hours < 71; hours++) {
      await passToTimer();
      node.time.pass(hourMs);
    }
    await settled(200);
    await until(async () => {
      node.time.pass(hourMs);
      return (await node.waiting()) === 0;
    });
    const expired = (await node.attempts()).filter(({ result }) => result === 'expired');
    expect(expired).toHaveLength(200);
    expect(expired.every(({ state }) => state === 'given_up')).toBe(true);
    expect(node.client.requests).toHaveLength(1);
  });
});

describe('bad records', () => {
  test('become dead letters, and the partition continues', async () => {
    await node.configure(hook);
    const { log } = node.node.embedded;
    const [event, oversized] = [eventRecord(1, 1), eventRecord(1, 2)];
    const metadata = JSON.stringify({ text: 'x'.repeat(maxEventCharacters) });
    await log.append(topics.events, [{ key: keyOfEvent(event), value: Buffer.from('no event') }]);
    await node.append({ ...oversized, metadata }, event);
    await log.append(topics.deliveries, [{ key: 'x', value: Buffer.from([]) }]);
    node.start();
    await node.attempted(1);
    await until(async () => (await node.node.deadLetters()).length === 3);
    const dead = (await node.node.deadLetters()).map(({ topic, reason }) => `${topic} ${reason}`);
    expect(dead.sort()).toEqual(['deliveries undecodable', 'events oversized_event', 'events undecodable']);
  });

  test('in large numbers halt the partition, while queued deliveries are still sent', async () => {
    await node.configure(hook);
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    const key = keyOfEvent(eventRecord(1, 1));
    const poison = Array.from({ length: 150 }, () => ({ key, value: Buffer.from('bad') }));
    await node.node.embedded.log.append(topics.events, poison);
    await until(() => node.alerts.some(({ kind }) => kind === 'halted'));
    expect(node.alerts).toMatchObject([
      { kind: 'halted', topic: 'events', partition: 0, dead: 100, seen: 101, offset: 100 },
    ]);
    await node.append(eventRecord(2, 1));
    await node.stop();
    expect(node.client.requests).toHaveLength(1);
    node.start({ bounds: { maxDeadLetterShare: 1 } });
    await node.attempted(2);
    expect(await node.node.deadLetters()).toHaveLength(150);
  });
});

test('regression: an event that the log holds twice is delivered once, also after a restart', async () => {
  await node.configure(hook);
  node.start();
  await node.append(eventRecord(1, 1), eventRecord(2, 1));
  await node.attempted(2);
  await node.append(eventRecord(1, 1), eventRecord(1, 2));
  await node.attempted(3);
  await node.stop();
  node.start();
  await node.append(eventRecord(2, 1), eventRecord(2, 2));
  await node.attempted(4);
  await node.stop();
  expect(await node.waiting()).toBe(0);
  expect(node.client.requests).toHaveLength(4);
  expect(new Set(node.client.requests.map(({ id }) => id)).size).toBe(4);
});

test('an event that many webhooks want is queued once for each, also after a crash between two writes', async () => {
  const { embedded } = node.node;
  const hooks = Array.from({ length: 80 }, (_, number) =>
    webhookRecord({ _id: webhookId(number), url: `http://host${number}/` }),
  );
  await node.configure(...hooks);
  const profile = JSON.stringify({ metadata: { note: 'x'.repeat(140_000) } });
  const event = eventRecord(1, 2, 0, { user: { id: null, userId: null, deviceId: 'device 1', profile } });
  let writes = 0;
  const stage = node.start({
    queue: {
      ...embedded.deliveryQueue,
      add: (claim, batch) => {
        if (batch.deliveries.length > 0) writes += 1;
        return writes > 2 ? Promise.reject(new Error('the process ended')) : embedded.deliveryQueue.add(claim, batch);
      },
    },
  });
  // A position with a mark comes first.
  await node.append(eventRecord(1, 1));
  await until(() => node.client.requests.length === hooks.length);
  await node.append(event);
  await expect(stage.done).rejects.toThrow('the process ended');
  await node.reopen();
  node.start();
  await until(() => node.client.requests.length === 2 * hooks.length);
  await settled();
  for (const { url } of hooks) expect(node.client.to(url)).toHaveLength(2);
  expect(node.alerts).toEqual([]);
});

test('regression: continues when a position was repaired while the log compared the former one', async () => {
  await node.configure(hook);
  node.start({ log: withPositionRepairedMeanwhile(node.node.embedded.log) });
  await node.append(eventRecord(1, 1));
  await node.attempted(1);
  expect(node.client.requests).toHaveLength(1);
});

describe('closing', () => {
  test('waits for attempts in flight, acknowledges them and starts no more', async () => {
    await node.configure(hook);
    let answerNow: () => void = () => {};
    node.client.answering = () =>
      new Promise((resolve) => {
        answerNow = () => resolve(answer(200));
      });
    node.start();
    await node.append(eventRecord(1, 1), eventRecord(2, 1));
    await until(() => node.client.requests.length === 1);
    const closed = node.stop();
    answerNow();
    await closed;
    expect(node.client.requests).toHaveLength(1);
    expect(await node.attempts()).toMatchObject([{ state: 'delivered' }]);
    expect(await node.waiting()).toBe(1);
  });
});

describe('another owner', () => {
  test('of a partition raises an alert, and queued deliveries are still sent', async () => {
    await node.configure(hook);
    let isHeld = true;
    node.client.answering = async () => {
      await until(() => !isHeld);
      return answer(200);
    };
    node.start();
    await node.append(eventRecord(1, 1));
    await until(() => node.client.requests.length === 1);
    await node.node.embedded.deliveryQueue.claim({ topic: 'events', partition: 0 });
    isHeld = false;
    await until(() => node.alerts.some(({ kind }) => kind === 'fenced'));
    await node.append(eventRecord(2, 1));
    await until(() => node.client.requests.some(({ body }) => body.includes(eventRecord(2, 1).id)));
    await settled();
    const delivered = new Set((await node.attempts()).flatMap(({ delivery }) => delivery.events));
    expect(delivered).toEqual(new Set([eventRecord(1, 1).id, eventRecord(2, 1).id]));
  });

  test('may have queued deliveries, which are sent once as well', async () => {
    await node.configure(hook);
    const { log, deliveryQueue } = node.node.embedded;
    node.start();
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    await settled();
    const [record] = (await log.read(topics.attempts, 0, 0, 1)).records;
    const { delivery } = codecs.attempt.decode(record!.value!);
    const claim = await deliveryQueue.claim({ topic: 'events', partition: 0 });
    const value = codecs.delivery.encode({ ...delivery, id: 'queued by another' });
    const deliveries = [{ webhook: hook._id, dueAtMs: node.time.nowMs, value }];
    await deliveryQueue.add(claim, { expectedOffset: claim.nextOffset, nextOffset: claim.nextOffset, deliveries });
    await node.append(eventRecord(2, 1));
    await node.attempted(3);
    await settled();
    expect(node.client.requests.map(({ id }) => id)).toContain('queued by another');
    expect(node.client.requests).toHaveLength(3);
  });

  test('keeps a partition that was reassigned to it', async () => {
    await node.configure(hook);
    const { log, deliveryQueue } = node.node.embedded;
    const claimed: string[] = [];
    const queue: typeof deliveryQueue = {
      ...deliveryQueue,
      claim: (source) => {
        claimed.push(source.topic);
        return deliveryQueue.claim(source);
      },
      add: async () => 'fenced',
    };
    const stage = node.start({ log: withPartitionsLost(log), queue, bounds: { reclaimDelayMs: 1 } });
    await node.append(eventRecord(1, 1));
    await until(() => node.alerts.length === 1);
    await stage.close();
    expect(node.alerts).toMatchObject([{ kind: 'fenced', topic: 'events' }]);
    expect(claimed.sort()).toEqual(['deliveries', 'events']);
  });

  test('gets the partition only after lost deliveries were queued again, and then nothing is sent here', async () => {
    await node.configure(hook);
    const { log, deliveryQueue } = node.node.embedded;
    let hasFallenBack = false;
    let isAdding = false;
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const isLost = ({ topic }: DeliverySource) => hasFallenBack && topic === topics.events;
    const queue: DeliveryQueue = {
      ...deliveryQueue,
      verify: async (claims) => claims.map(({ source }) => (isLost(source) ? 'fallen_back' : 'held')),
      claim: async (source) => ({ ...(await deliveryQueue.claim(source)), ...(isLost(source) && { nextOffset: 0 }) }),
      async add(claim, batch) {
        if (!hasFallenBack || batch.deliveries.length === 0) return deliveryQueue.add(claim, batch);
        isAdding = true;
        await held;
        return 'committed';
      },
    };
    let handler: StreamHandler | undefined;
    const consume: Log['consume'] = (options) => {
      if (options.topic === topics.events) handler = options.handler;
      return log.consume(options);
    };
    node.start({ log: { ...log, consume }, queue });
    await node.append(eventRecord(1, 1));
    await node.attempted(1);
    await settled();

    let isRevoked = false;
    const sentAfterwards: string[] = [];
    node.client.answering = async ({ id }) => {
      if (isRevoked) sentAfterwards.push(id);
      return answer(200);
    };
    hasFallenBack = true;
    await until(() => isAdding);
    const revoked = handler!.revoked(0).then(() => {
      isRevoked = true;
    });
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    goOn();
    await revoked;
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(sentAfterwards).toEqual([]);
  });

  test('that keeps claiming ends the stage', async () => {
    await node.configure(hook);
    const queue = node.node.embedded.deliveryQueue;
    const stage = node.start({
      queue: { ...queue, add: async () => 'fenced' },
      bounds: { maxFencedAttempts: 3, reclaimDelayMs: 1 },
    });
    await node.append(eventRecord(1, 1));
    await expect(stage.done).rejects.toThrow('claimed by others 3 times in a row');
  });
});

// A thousand webhooks of users with much metadata held hundreds of megabytes, one body each, as their receivers hung.
test('regression: bodies in memory are bounded in total and by project, while receivers hang', async () => {
  const other = projectB;
  await node.node.configure({ kind: 'project', record: projectRecord({ _id: other }) });
  const hooks = Array.from({ length: 40 }, (_, number) =>
    webhookRecord({ _id: webhookId(number), url: 'http://slow/' }),
  );
  await node.configure(...hooks, webhookRecord({ _id: webhookId(40), url: 'http://other/', project: other }));
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let openBytes = 0;
  let mostOpenBytes = 0;
  node.client.answering = async ({ url, body }) => {
    openBytes += body.length;
    mostOpenBytes = Math.max(mostOpenBytes, openBytes);
    if (url === 'http://slow/') await isReleased;
    openBytes -= body.length;
    return answer(200);
  };
  const bodyBytes = 30_000;
  node.start({ bounds: { maxLoadedBytes: 8 * bodyBytes } });
  const metadata = JSON.stringify({ note: 'x'.repeat(bodyBytes) });
  await node.append(eventRecord(1, 1, 0, { metadata }));
  await until(() => node.client.requests.length > 0);
  await node.append(eventRecord(2, 1, 0, { metadata, project: other }));
  await until(() => node.client.to('http://other/').length === 1);
  await settled(40);
  release();
  await node.attempted(41);
  await settled();
  // Half of the bytes, one body more for each read at the limit, and that of the other project.
  expect(mostOpenBytes).toBeLessThan((4 + 8 + 1) * 1.1 * bodyBytes);
  expect(new Set(node.client.requests.map(({ id }) => id)).size).toBe(41);
});
