/**
 * Checks the guarantees of the webhook stage under random failures, with a ledger of sent and expected deliveries.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import { createRandom } from '../../../schemas/random.js';
import type { Event } from '../../../schemas/records.js';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { until } from '../../../testing/until.js';
import { answer, failure, type SentRequest } from './testing/scripted-client.js';
import { eventRecord, keyOfEvent, WebhookNode, webhookRecord } from './testing/stage.js';
import { webhookId } from './testing/webhooks.js';

const webhooks = [0, 1, 2].map((number) =>
  webhookRecord({
    _id: webhookId(number),
    url: `http://hook-${number}/`,
    delivery: number === 2 ? 'grouped' : 'single',
    types: number === 1 ? ['user.exited_geofence'] : null,
    // Edited in the future, so that the webhook is never disabled for failing.
    updatedAt: Date.UTC(2030, 0, 1),
  }),
);

const wants = ({ types }: WebhookRecord, { type }: Event): boolean => types === null || types.includes(type);

const eventIds = ({ body }: SentRequest): string[] => {
  const { event, events = [event] } = JSON.parse(body);
  return events.map(({ _id }: { _id: string }) => _id);
};

/** Generates locations of a few devices, each with a few events. */
const eventsOfLocations = fc
  .array(fc.record({ device: fc.nat(3), types: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }) }), {
    minLength: 1,
    maxLength: 25,
    size: 'max',
  })
  .map((locations) =>
    locations.map(({ device, types }, location) =>
      types.map((isExit, number) =>
        eventRecord(device, location, number, { type: isExit ? 'user.exited_geofence' : 'user.entered_geofence' }),
      ),
    ),
  );

interface Plan {
  readonly locations: Event[][];
  readonly appendAtOnce: number;
  readonly maxBatchRecords: number;
  readonly maxWindow: number;
  /** 1: one delivery of the project in memory at a time. */
  readonly maxLoadedBytes: number;
  /** Share of attempts that fail. */
  readonly failing: number;
  readonly seed: number;
  /** Numbers of requests after which the stage and its folder are closed and reopened. */
  readonly restarts: number[];
}

const plan: fc.Arbitrary<Plan> = fc.record({
  locations: eventsOfLocations,
  appendAtOnce: fc.integer({ min: 1, max: 10 }),
  maxBatchRecords: fc.integer({ min: 1, max: 12 }),
  maxWindow: fc.integer({ min: 1, max: 4 }),
  maxLoadedBytes: fc.constantFrom(1, 2_000, 1_000_000),
  failing: fc.constantFrom(0, 0.2, 0.5),
  seed: fc.integer(),
  restarts: fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 2 }),
});

async function run({
  locations,
  appendAtOnce,
  maxBatchRecords,
  maxWindow,
  maxLoadedBytes,
  failing,
  seed,
  restarts,
}: Plan): Promise<SentRequest[]> {
  const node = await WebhookNode.open(2);
  try {
    const draw = createRandom(seed).next;
    const inFlight = new Set<string>();
    const done = new Set<string>();
    await node.configure(...webhooks);
    node.client.answering = async ({ url, id, body }) => {
      expect(done, 'not again once it has arrived, with nothing killed').not.toContain(id);
      const way = url + (JSON.parse(body).user?.deviceId as string);
      expect(inFlight, 'one at a time per webhook and device').not.toContain(way);
      inFlight.add(way);
      await new Promise((resolve) => setTimeout(resolve, draw() * 3));
      inFlight.delete(way);
      // The eighth attempt always succeeds, because a delivery that is given up would count as lost.
      const tries = node.client.requests.filter((sent) => sent.url === url && sent.body === body).length;
      if (draw() < failing && tries < 8) return failure;
      done.add(id);
      return answer(200);
    };
    const start = () => node.start({ bounds: { maxBatchRecords, maxWindow, maxLoadedBytes }, random: draw });
    start();
    for (let from = 0; from < locations.length; from += appendAtOnce) {
      await node.append(...locations.slice(from, from + appendAtOnce).flat());
    }
    const expected = locations
      .flat()
      .reduce((sum, event) => sum + webhooks.filter((hook) => wants(hook, event)).length, 0);
    const delivered = async () => {
      const attempts = (await node.attempts()).filter(({ state }) => state === 'delivered');
      return new Set(attempts.flatMap(({ delivery }) => delivery.events.map((id) => delivery.webhook + id))).size;
    };
    await until(async () => {
      if (restarts.length > 0 && node.client.requests.length >= (restarts[0] as number)) {
        restarts.shift();
        await node.reopen();
        start();
      }
      if (node.time.nextAtMs < Infinity) node.time.passTo(node.time.nextAtMs);
      return (await delivered()) === expected && (await node.waiting()) === 0;
    });
    return node.client.requests;
  } finally {
    await node.dispose();
  }
}

describe('every event arrives at every webhook that wants it, and', () => {
  test('each delivery has the same bytes on every attempt, and first attempts are in order per device', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (drawn) => {
        const { locations } = drawn;
        const requests = await run({ ...drawn, restarts: [...drawn.restarts] });
        const bodies = new Map<string, string>();
        for (const { id, body } of requests) {
          expect(bodies.get(id) ?? body).toBe(body);
          bodies.set(id, body);
        }
        const events = locations.flat();
        for (const webhook of webhooks) {
          const wanted = events.filter((event) => wants(webhook, event));
          const firsts = [...new Set(requests.filter(({ url }) => url === webhook.url).flatMap(eventIds))];
          expect([...firsts].sort()).toEqual(wanted.map(({ id }) => id).sort());
          for (const key of new Set(wanted.map(keyOfEvent))) {
            const ofDevice = wanted.filter((event) => keyOfEvent(event) === key).map(({ id }) => id);
            expect(firsts.filter((id) => ofDevice.includes(id))).toEqual(ofDevice);
          }
        }
      }),
      { numRuns: propertyRuns(8) },
    );
  });
});

test('a webhook that never responds has one request in flight, and all others get everything', async () => {
  const node = await WebhookNode.open(2);
  const healthy = Array.from({ length: 20 }, (_, number) =>
    webhookRecord({ _id: webhookId(number), url: `http://${number}/` }),
  );
  const dead = webhookRecord({ _id: webhookId(99), url: 'http://dead/' });
  await node.configure(dead, ...healthy);
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  node.client.answering = async ({ url }) => {
    if (url !== dead.url) return answer(200);
    await released;
    return failure;
  };
  node.start({ bounds: { maxConcurrency: 4, maxConcurrencyPerWebhook: 4 } });
  const events = Array.from({ length: 50 }, (_, number) => eventRecord(number, 1));
  for (const event of events) await node.append(event);
  await until(() => node.client.requests.length >= 20 * 50 + 1);
  for (const { url } of healthy) {
    expect(node.client.to(url).flatMap(eventIds).sort()).toEqual(events.map(({ id }) => id).sort());
  }
  expect(node.client.to(dead.url)).toHaveLength(1);
  release();
  await node.dispose();
});

test('webhooks that never respond leave half of the slots to the others', async () => {
  const node = await WebhookNode.open();
  const dead = Array.from({ length: 30 }, (_, number) =>
    webhookRecord({ _id: webhookId(number), url: 'http://dead/' }),
  );
  const healthy = webhookRecord({ _id: webhookId(99), url: 'http://healthy/' });
  await node.configure(healthy);
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  node.client.answering = async ({ url }) => {
    if (url === healthy.url) return answer(200);
    await released;
    return failure;
  };
  node.start({ bounds: { maxConcurrency: 10 } });
  await node.append(eventRecord(1, 1));
  await node.attempted(1);
  await node.configure(...dead);
  await node.append(...Array.from({ length: 40 }, (_, number) => eventRecord(number, 2)));
  await until(() => node.client.to(healthy.url).length === 41);
  expect(node.client.to('http://dead/')).toHaveLength(5);
  release();
  await node.dispose();
});
