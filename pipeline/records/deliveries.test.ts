import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import { webhookRecord } from '../stages/webhooks/testing/webhooks.js';
import { deliveriesOf, maxEventCharacters, maxUserCharacters, type PayloadEvent } from './deliveries.js';

const facts = { reason: 'event', createdAt: 1 } as const;
const single = webhookRecord();
const grouped = webhookRecord({ delivery: 'grouped' });

const event = (number: number, locationId: string | null, orderKey = 'device'): PayloadEvent => ({
  id: `event ${number}`,
  locationId,
  orderKey,
  text: `{"_id":"event ${number}"}`,
});

const bodies = (webhook: WebhookRecord, events: readonly PayloadEvent[], user: string | undefined = '{"_id":"ann"}') =>
  deliveriesOf(webhook, events, user, facts).map(({ body }) => JSON.parse(body.toString()));

const eventsOfLocations = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', null), fc.constantFrom('device', 'other')), { maxLength: 40 })
  .map((drawn) => drawn.map(([locationId, orderKey], number) => event(number, locationId, orderKey)));

describe('bodies', () => {
  test('hold one event each with the user', () => {
    expect(bodies(single, [event(1, 'a'), event(2, 'a')])).toEqual([
      { event: { _id: 'event 1' }, user: { _id: 'ann' } },
      { event: { _id: 'event 2' }, user: { _id: 'ann' } },
    ]);
  });

  test('group the events of a location, at most five', () => {
    const all = Array.from({ length: 7 }, (_, number) => event(number, 'a'));
    expect(bodies(grouped, all).map(({ events, user }) => [events.length, user])).toEqual([
      [5, { _id: 'ann' }],
      [2, { _id: 'ann' }],
    ]);
  });

  // A receiver that reads `user.userId`, as the one of the guide, failed and got the delivery eight times.
  test('regression: have an empty user when none is known', () => {
    expect(deliveriesOf(single, [event(1, null)], undefined, facts).map(({ body }) => body.toString())).toEqual([
      '{"event":{"_id":"event 1"},"user":{}}',
    ]);
    expect(deliveriesOf(grouped, [event(1, null)], undefined, facts).map(({ body }) => body.toString())).toEqual([
      '{"events":[{"_id":"event 1"}],"user":{}}',
    ]);
  });

  test('fit into the queue, whatever characters they contain', () => {
    const text = '\u20ac'.repeat(maxEventCharacters);
    const events = Array.from({ length: 5 }, (_, number) => ({ ...event(number, 'a'), text }));
    for (const webhook of [single, grouped]) {
      const deliveries = deliveriesOf(webhook, events, '\u20ac'.repeat(maxUserCharacters), facts);
      expect(deliveries).toHaveLength(events.length);
      for (const { body } of deliveries) expect(body.length).toBeLessThan(2 ** 20 - 4_096);
    }
  });
});

describe('grouping', () => {
  test('keeps every event once and in order', () => {
    fc.assert(
      fc.property(fc.constantFrom(single, grouped), eventsOfLocations, (webhook, events) => {
        expect(deliveriesOf(webhook, events, '{}', facts).flatMap((delivery) => delivery.events)).toEqual(
          events.map(({ id }) => id),
        );
      }),
    );
  });

  test('joins adjacent events of one location and device, as a naive loop does', () => {
    const plain = (events: readonly PayloadEvent[]): string[][] => {
      const groups: PayloadEvent[][] = [];
      events.forEach((one, index) => {
        const before = events[index - 1];
        const isNeighbour = before && one.locationId !== null;
        const isSame = isNeighbour && before.locationId === one.locationId && before.orderKey === one.orderKey;
        const last = groups.at(-1);
        if (isSame && last && last.length < 5) last.push(one);
        else groups.push([one]);
      });
      return groups.map((group) => group.map(({ id }) => id));
    };
    fc.assert(
      fc.property(eventsOfLocations, (events) => {
        expect(deliveriesOf(grouped, events, '{}', facts).map((delivery) => delivery.events)).toEqual(plain(events));
      }),
    );
  });
});

describe('ids', () => {
  const idsOf = (webhook: WebhookRecord, events: readonly PayloadEvent[]) =>
    deliveriesOf(webhook, events, '{}', facts).map(({ id }) => id);

  test('are the same whenever a delivery is made again', () => {
    const again = deliveriesOf(single, [event(1, 'a')], undefined, { reason: 'redelivery', createdAt: 2 });
    expect(again.map(({ id }) => id)).toEqual(idsOf(single, [event(1, 'a')]));
  });

  test('differ by webhook and by events', () => {
    const other = webhookRecord({ _id: 'f'.repeat(24) });
    const ids = [...idsOf(single, [event(1, 'a'), event(2, 'a')]), ...idsOf(other, [event(1, 'a')])];
    expect(new Set(ids).size).toBe(3);
  });
});
