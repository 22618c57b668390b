import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import { addTo } from '../../../schemas/groups.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Event } from '../../../schemas/records.js';
import { exampleEventGeofence } from '../../../schemas/testing/examples.js';
import { projectRecord } from '../../catalog/testing/fixtures.js';
import type { LogRecord } from '../../ports.js';
import { noDuplicates } from './event-reader.js';
import { type Chunk, createEventFanOut } from './fan-out.js';
import { WebhookDirectory } from './matching.js';
import { eventRecord, keyOfEvent } from './testing/stage.js';
import { webhookId, webhookRecord } from './testing/webhooks.js';

const tags = ['shop', 'depot', null];
const types = ['user.entered_geofence', 'user.exited_geofence', 'sale'];

const chosen = <T>(values: readonly T[]) => fc.option(fc.subarray([...values]), { nil: null });
const webhooks = fc
  .array(
    fc.record({
      types: chosen(types),
      tags: chosen(['shop', 'depot']),
      enabled: fc.boolean(),
      delivery: fc.constantFrom('single' as const, 'grouped' as const),
    }),
    { maxLength: 8 },
  )
  .map((drawn) => drawn.map((fields, number) => webhookRecord({ _id: webhookId(number), ...fields })));

/** Generates events as in a partition: events of a location are adjacent; conversions have no location. */
const partition = fc
  .array(
    fc.record({
      device: fc.nat(2),
      isConversion: fc.boolean(),
      events: fc.array(fc.tuple(fc.constantFrom(...types), fc.constantFrom(...tags)), {
        minLength: 1,
        maxLength: 8,
        size: 'max',
      }),
    }),
    { maxLength: 15, size: 'max' },
  )
  .map((locations) =>
    locations.flatMap(({ device, isConversion, events }, location) =>
      events.map(([type, tag], number) =>
        eventRecord(device, location, number, {
          type,
          geofence: exampleEventGeofence({ tag }),
          ...(isConversion && { locationId: null }),
        }),
      ),
    ),
  );

const recordsOf = (events: readonly Event[]): LogRecord[] =>
  events.map((event, offset) => ({
    key: keyOfEvent(event),
    value: codecs.event.encode(event),
    partition: 0,
    offset,
    timestamp: 1_000 + offset,
  }));

const fanOutTo = (list: readonly WebhookRecord[]) => {
  const configuration = { webhooks: () => list, project: () => projectRecord() };
  return createEventFanOut({
    codecs,
    directory: new WebhookDirectory(configuration),
    log: { partitionOf: () => 0 },
    states: { load: async (_, keys) => keys.map(() => undefined) },
    configuration: configuration as never,
    clock: () => 5_000,
  });
};

/** Lists each delivery with its webhook and events, by webhook and then in order. */
function plainly(list: readonly WebhookRecord[], events: readonly Event[]): string[] {
  return list.flatMap((webhook) => {
    const wanted = events.filter(
      ({ type, geofence }) =>
        webhook.enabled &&
        (webhook.types?.includes(type) ?? true) &&
        (webhook.tags === null || webhook.tags.some((tag) => tag === geofence?.tag)),
    );
    const groups: Event[][] = [];
    for (const event of wanted) {
      const last = groups.at(-1);
      const isSame = last?.[0]?.locationId === event.locationId && event.locationId !== null;
      if (webhook.delivery === 'grouped' && last && isSame && last.length < 5) last.push(event);
      else groups.push([event]);
    }
    return groups.map((group) => `${webhook._id}: ${group.map(({ id }) => id)}`);
  });
}

describe('deliveries', () => {
  test('match a naive filter and grouping, per webhook in the order of the events', async () => {
    await fc.assert(
      fc.asyncProperty(webhooks, partition, async (list, events) => {
        fc.pre(events.length > 0);
        const { bad, chunks } = await fanOutTo(list)(recordsOf(events), noDuplicates, null);
        const made = [...chunks].flatMap((chunk) => chunk.made.map(({ delivery }) => delivery));
        const ofWebhooks = list.flatMap(({ _id }) => made.filter(({ webhook }) => webhook === _id));
        expect(ofWebhooks.map(({ webhook, events: ids }) => `${webhook}: ${ids}`)).toEqual(plainly(list, events));
        expect(bad).toEqual([]);
      }),
    );
  });

  test('have the same bytes when a batch is read again with other batch boundaries', async () => {
    await fc.assert(
      fc.asyncProperty(webhooks, partition, fc.nat(100), async (list, events, cut) => {
        const records = recordsOf(events);
        const isBoundary = ({ locationId }: Event, index: number) =>
          index === 0 || events[index - 1]?.locationId !== locationId;
        const boundaries = events.flatMap((event, index) => (isBoundary(event, index) ? [index] : []));
        const at = boundaries[cut % Math.max(1, boundaries.length)] ?? 0;
        fc.pre(at > 0);
        const run = async (part: readonly LogRecord[]) =>
          [...(await fanOutTo(list)(part, noDuplicates, null)).chunks].flatMap(({ made }) =>
            made.map(({ value }) => value.toString('hex')),
          );
        expect([...(await run(records.slice(0, at))), ...(await run(records.slice(at)))]).toEqual(await run(records));
      }),
    );
  });
});

describe('chunks', () => {
  test('are bounded, never split a location, and end where the batch ends', async () => {
    const list = Array.from({ length: 300 }, (_, number) =>
      webhookRecord({ _id: webhookId(number), delivery: 'grouped' }),
    );
    const events = Array.from({ length: 30 }, (_, number) => eventRecord(1, number >> 1, number & 1));
    const { chunks } = await fanOutTo(list)(recordsOf(events), noDuplicates, null);
    const all = [...chunks];
    expect(all.length).toBeGreaterThan(1);
    expect(all.at(-1)?.nextOffset).toBe(30);
    for (const { nextOffset, made } of all) {
      expect(nextOffset % 2).toBe(0);
      expect(made.length).toBeLessThanOrEqual(2_000 + 300);
    }
    expect(all.flatMap(({ made }) => made)).toHaveLength(15 * 300);
  });

  // 500 deliveries of users in many geofences had 100 MB, which a store wrote at once while all others waited.
  test('regression: are bounded in bytes as well', async () => {
    const list = Array.from({ length: 10 }, (_, number) => webhookRecord({ _id: webhookId(number) }));
    const profile = JSON.stringify({ metadata: { note: 'x'.repeat(100_000) } });
    const events = Array.from({ length: 40 }, (_, number) =>
      eventRecord(1, number, 0, { user: { id: null, userId: null, deviceId: 'device 1', profile } }),
    );
    const { chunks } = await fanOutTo(list)(recordsOf(events), noDuplicates, null);
    let deliveries = 0;
    for (const { made } of chunks) {
      deliveries += made.length;
      expect(made.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(8 * 2 ** 20 + 10 * 250_000);
    }
    expect(deliveries).toBe(400);
  });

  // A thousand events for ten webhooks with a user of 100 kB were made at once, a gigabyte.
  describe('regression: a large location is split', () => {
    // Five such events and their user fit into one payload.
    const profile = JSON.stringify({ metadata: { note: 'x'.repeat(50_000) } });
    const user = { id: null, userId: null, deviceId: 'device 1', profile };
    const events = Array.from({ length: 200 }, (_, number) =>
      eventRecord(1, 1, number, { user, type: types[number % 2] as string }),
    );
    const chunksTo = async (list: readonly WebhookRecord[]) =>
      (await fanOutTo(list)(recordsOf(events), noDuplicates, null)).chunks;
    const sizeOf = (made: readonly { readonly value: Buffer }[]) =>
      made.reduce((sum, { value }) => sum + value.length, 0);

    test('so that a chunk is bounded', async () => {
      const list = Array.from({ length: 10 }, (_, number) => webhookRecord({ _id: webhookId(number) }));
      const made: string[] = [];
      for (const chunk of await chunksTo(list)) {
        expect(sizeOf(chunk.made)).toBeLessThan(2 * 8 * 2 ** 20 + 10 * 125_000);
        made.push(...chunk.made.map(({ delivery }) => `${delivery.webhook}: ${delivery.events}`));
      }
      expect(made.sort()).toEqual(plainly(list, events).sort());
    });

    test('behind full groups, and no event is lost or sent twice after a restart in between', async () => {
      const grouped = (number: number, wanted: string[] | null) =>
        webhookRecord({ _id: webhookId(number), delivery: 'grouped', types: wanted });
      const list = [grouped(0, null), grouped(1, null), grouped(2, types.slice(0, 1))];
      const records = recordsOf(events);
      const groups = new Map<string, string[]>();
      let restarts = 0;
      for (let start = 0; start < records.length; restarts++) {
        const [first] = (await fanOutTo(list)(records.slice(start), noDuplicates, null)).chunks;
        const { made, nextOffset } = first as Chunk;
        for (const { delivery } of made) addTo(groups, delivery.webhook, String(delivery.events));
        start = nextOffset;
      }
      expect(restarts).toBeGreaterThan(2);
      const ofAll = list.slice(0, 2).flatMap(({ _id }) => groups.get(_id)?.map((group) => `${_id}: ${group}`));
      expect(ofAll).toEqual(plainly(list.slice(0, 2), events));
      const wanted = events.filter(({ type }) => type === types[0]).map(({ id }) => id);
      expect(groups.get(webhookId(2))?.join()).toBe(wanted.join());
    });
  });

  // One event for a thousand webhooks, with a user of 450 kB, was made at once: 450 MB, twice.
  describe('regression: an event that many webhooks want is queued in pieces', () => {
    const profile = JSON.stringify({ metadata: { note: 'x'.repeat(50_000) } });
    const user = { id: null, userId: null, deviceId: 'device 1', profile };
    const events = Array.from({ length: 7 }, (_, number) => eventRecord(1, number >> 2, number, { user }));
    const records = recordsOf(events);
    const list = Array.from({ length: 150 }, (_, number) =>
      webhookRecord({ _id: webhookId((number * 7) % 150), delivery: number % 2 === 0 ? 'grouped' : 'single' }),
    );

    test('so that a chunk is bounded', async () => {
      const made: string[] = [];
      for (const chunk of (await fanOutTo(list)(records, noDuplicates, null)).chunks) {
        expect(chunk.made.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(18 * 2 ** 20);
        made.push(...chunk.made.map(({ delivery }) => `${delivery.webhook}: ${delivery.events}`));
      }
      expect(made.sort()).toEqual(plainly(list, events).sort());
    });

    test('and none is lost or queued twice after a restart between any of them', async () => {
      const made: string[] = [];
      let partial = 0;
      for (let [start, queued] = [0, null] as [number, Chunk['queued']]; start < records.length; ) {
        const [first] = (await fanOutTo(list)(records.slice(start), noDuplicates, queued)).chunks;
        const chunk = first as Chunk;
        made.push(...chunk.made.map(({ delivery }) => `${delivery.webhook}: ${delivery.events}`));
        if (chunk.queued !== null) partial += 1;
        [start, queued] = [chunk.nextOffset, chunk.queued];
      }
      expect(partial).toBeGreaterThan(5);
      expect(made.sort()).toEqual(plainly(list, events).sort());
    });

    test('also when the user has become small and a webhook was deleted meanwhile', async () => {
      const [first] = (await fanOutTo(list)(records, noDuplicates, null)).chunks;
      const { made, nextOffset, queued } = first as Chunk;
      expect([nextOffset, queued?.untilOffset]).toEqual([0, 4]);
      const small = events.map((event) => ({ ...event, user: { ...user, profile: null } }));
      const left = list.filter(({ _id }) => _id !== queued?.webhook);
      const rest = (await fanOutTo(left)(recordsOf(small), noDuplicates, queued)).chunks;
      const all = [...made, ...[...rest].flatMap((chunk) => chunk.made)]
        .map(({ delivery }) => delivery)
        .filter(({ webhook }) => webhook !== queued?.webhook)
        .map(({ webhook, events: ids }) => `${webhook}: ${ids}`);
      expect(all.sort()).toEqual(plainly(left, events).sort());
    });
  });

  test('advance the position over events that no webhook wants', async () => {
    const { chunks } = await fanOutTo([])(recordsOf([eventRecord(1, 1), eventRecord(1, 2)]), noDuplicates, null);
    expect([...chunks]).toEqual([{ nextOffset: 2, queued: null, made: [] }]);
  });
});
