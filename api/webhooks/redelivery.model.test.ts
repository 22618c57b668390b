/** Redelivery of a time range, compared with plain lists. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deliveriesOf } from '../../pipeline/records/deliveries.js';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { webhookRecord } from '../../pipeline/stages/webhooks/testing/webhooks.js';
import { deriveId, freshId } from '../../schemas/ids.js';
import { maxGroupedEvents } from '../../schemas/json/constants.js';
import type { AttemptState } from '../../schemas/json/webhook.js';
import type { Attempt, DeviceState, Event } from '../../schemas/records.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { attemptRows, eventRows } from '../../schemas/testing/rows.js';
import { eventText } from '../../schemas/wire/event-text.js';
import { eventJson } from '../../schemas/wire/user.js';
import { useAnalytics, useApi } from '../testing/fixtures.js';
import { redeliverRange } from './redelivery.js';
import { attemptRecord, deliveriesTo, deliveryRecord, eventRecord, startMs } from './testing/fixtures.js';

/** The current state of device 0 is known; those of the others are not. */
const known = deriveId('user', '0');
const state: DeviceState = {
  users: [
    {
      id: known,
      userId: 'somebody',
      createdAt: startMs,
      profile: null,
      last: {
        occurredAt: startMs,
        receivedAt: startMs,
        latitude: 2,
        longitude: 1,
        accuracy_m: 5,
        deviceTimed: true,
        foreground: true,
        stopped: true,
        beacons: null,
        ip: null,
        source: null,
      },
      geofences: [],
      beacons: [],
    },
  ],
  locationMs: null,
};
const states = async (_: unknown, deviceId: string) => (deviceId === 'device 0' ? state : undefined);

const analytics = await useAnalytics();
const api = await useApi({ analytics });

const storeEvents = (events: readonly Event[]) => analytics.insert('events', eventRows(events));
const storeAttempts = (attempts: readonly Attempt[]) => analytics.insert('webhook_attempts', attemptRows(attempts));

const types = ['user.exited_geofence', 'user.entered_geofence', 'user.dwelled_in_geofence', 'opened_app'];
const tags = ['store', 'park'];
const drawnEvent = fc.record({
  location: fc.nat(2),
  /** 2: like a conversion, which no location causes. */
  kind: fc.constantFrom(0, 0, 0, 1, 2),
  type: fc.nat(2),
  tag: fc.nat(tags.length - 1),
});
/** Indexes of the events of one location, in one delivery that was attempted. */
const drawnAttempt = fc.record({
  location: fc.nat(2),
  members: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: maxGroupedEvents, size: 'max' }),
  state: fc.constantFrom<AttemptState>('delivered', 'retrying', 'given_up'),
});
const drawnWebhook = fc.record({
  delivery: fc.constantFrom('single' as const, 'grouped' as const),
  types: fc.constantFrom(null, null, types.slice(1, 3), ['opened_app']),
  tags: fc.constantFrom<string[] | null>(null, null, ['store']),
});
const drawnRange = fc.record({
  from: fc.constantFrom(0, 0, 0, 1),
  to: fc.constantFrom(null, null, 2, 3),
  failedOnly: fc.constantFrom(false, false, true),
});
const bound = fc.integer({ min: 1, max: 6 });

const inOrder = (a: Event, b: Event): number => {
  const place = ({ createdAt, locationId, id, type, geofence }: Event) =>
    `${createdAt} ${locationId ?? id} ${types.indexOf(type)} ${geofence!.id}`;
  return place(a) < place(b) ? -1 : 1;
};

/** Returns the expected result, from plain lists. */
function model(
  webhook: ReturnType<typeof webhookRecord>,
  events: Event[],
  attempts: Attempt[],
  range: { from: number; to: number | null; failedOnly: boolean },
) {
  const lastOf = ({ id }: Event) => attempts.findLast(({ delivery }) => delivery.events.includes(id));
  const asked = events
    .filter(
      ({ createdAt }) => createdAt >= startMs + range.from && (range.to === null || createdAt < startMs + range.to),
    )
    .filter(
      ({ type, geofence }) =>
        (webhook.types?.includes(type) ?? true) && (webhook.tags?.includes(geofence!.tag!) ?? true),
    )
    .filter((event) => !range.failedOnly || (lastOf(event)?.state ?? 'delivered') !== 'delivered')
    .sort(inOrder);
  const causes = [...new Set(asked.map(({ locationId, id }) => locationId ?? id))];
  return causes.flatMap((cause) => {
    const ofCause = asked.filter(({ locationId, id }) => (locationId ?? id) === cause);
    const { deviceId, id: user } = ofCause[0]!.user!;
    const orderKey = deviceKey({ ...webhook, deviceId: deviceId! });
    const before = [...new Set(ofCause.flatMap((event) => lastOf(event)?.delivery ?? []))];
    const payload = ofCause
      .filter((event) => !lastOf(event))
      .map((event) => ({ id: event.id, locationId: event.locationId, orderKey, text: eventText(event) }));
    const isKnown = deviceId === 'device 0' && user === known;
    const userText = isKnown ? knownText : JSON.stringify(eventJson(ofCause[0]!).user);
    const anew = deliveriesOf(webhook, payload, userText, { reason: 'redelivery', createdAt: startMs });
    return [...before.map((delivery) => ({ ...delivery, orderKey })), ...anew].map(
      ({ id, events, orderKey, body }) => ({
        id,
        events,
        orderKey,
        body: body.toString(),
      }),
    );
  });
}
const knownText = JSON.stringify({
  _id: known,
  live: false,
  deviceId: 'device 0',
  userId: 'somebody',
  location: { type: 'Point', coordinates: [1, 2] },
  locationAccuracy: 5,
  foreground: true,
  stopped: true,
  createdAt: new Date(startMs).toISOString(),
  updatedAt: new Date(startMs).toISOString(),
  actualUpdatedAt: new Date(startMs).toISOString(),
  geofences: [],
  beacons: [],
});

test('each event is sent once, in order: in its earlier delivery, byte for byte, or in a new one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawnEvent, { minLength: 1, maxLength: 24, size: 'max' }),
      fc.array(drawnAttempt, { maxLength: 8, size: 'max' }),
      drawnWebhook,
      drawnRange,
      bound,
      async (events, drawnAttempts, fields, range, bound) => {
        const project = freshId();
        const webhook = webhookRecord({ _id: freshId(), project, ...fields });
        const stored = events.map(({ location, kind, type, tag }, index) =>
          eventRecord({
            id: freshId(),
            project,
            type: kind === 2 ? 'opened_app' : types[type]!,
            createdAt: startMs + location,
            actualCreatedAt: startMs + 5,
            locationId: kind === 2 ? null : deriveId('location', project, `${location} ${kind}`),
            user: {
              id: deriveId('user', `${kind % 2}`),
              userId: null,
              deviceId: `device ${location % 2}`,
              profile: null,
            },
            geofence: { id: deriveId('geofence', `${index}`), tag: tags[tag]! },
          }),
        );
        const attempts = drawnAttempts.flatMap(({ location, members, state }, index): Attempt[] => {
          const ofOne = stored.filter(
            ({ locationId }) => locationId === deriveId('location', project, `${location} 0`),
          );
          const ids = members.flatMap((member) => ofOne[member]?.id ?? []);
          if (ids.length === 0) return [];
          const body = Buffer.from(`{"events":"${ids}, as sent \\u20ac €\\n"}`);
          const delivery = deliveryRecord({ id: deriveId(...ids), webhook: webhook._id, project, events: ids, body });
          return [attemptRecord({ id: freshId(), at: startMs + index, delivery, state })];
        });
        await storeEvents([...stored, ...stored.slice(0, 3)]);
        await storeAttempts([...attempts, ...attempts.slice(0, 3)]);

        const dependencies = { analytics, log: api.log, configuration: api.readModel, states, clock: () => startMs };
        let cursor: Parameters<typeof redeliverRange>[2]['cursor'] = null;
        let count = 0;
        do {
          const asked = { fromMs: startMs + range.from, toMs: range.to === null ? null : startMs + range.to };
          const answer = await redeliverRange(
            dependencies,
            webhook,
            { ...asked, failedOnly: range.failedOnly, cursor },
            {
              maxEvents: 2 * bound,
              maxStepEvents: bound,
              maxPartEvents: Math.ceil(bound / 2),
            },
          );
          count += answer.deliveries;
          cursor = answer.next;
        } while (cursor !== null);

        const deliveries = await deliveriesTo(api.log, webhook._id);
        const shown = deliveries.map(({ id, events, orderKey, body }) => ({
          id,
          events,
          orderKey,
          body: body.toString(),
        }));
        expect(shown).toEqual(model(webhook, stored, attempts, range));
        expect(count).toBe(deliveries.length);
        expect(deliveries.every(({ reason, createdAt }) => reason === 'redelivery' && createdAt === startMs)).toBe(
          true,
        );
      },
    ),
    { numRuns: propertyRuns(30) },
  );
});
