import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveId } from '../../schemas/ids.js';
import type { Event } from '../../schemas/records.js';
import { exampleEvent, exampleEventGeofence } from '../../schemas/testing/examples.js';
import { eventRows } from '../../schemas/testing/rows.js';
import { eventJson } from '../../schemas/wire/user.js';
import { type Body, type TestProject, useAnalytics, useApi } from '../testing/fixtures.js';
import { eventTypeRule } from './event-type.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

const startMs = Date.UTC(2026, 0, 1);
const geofenceIds = ['g0', 'g1'].map((name) => deriveId(name));

/** Returns the nth event of a project. There are few times and locations, so that many events share them. */
const eventOf = (project: TestProject, index: number, time: number, geofence: number): Event =>
  exampleEvent({
    id: deriveId('event', project.record._id, `${index}`),
    type: transitionTypes[index % transitionTypes.length]!,
    project: project.record._id,
    createdAt: startMs + time,
    actualCreatedAt: startMs + time + 5,
    locationId: deriveId('location', `${time}`, `${index % 2}`),
    user: {
      id: deriveId('user', `${index % 3}`),
      userId: `user ${index % 3}`,
      deviceId: `device ${index % 5}`,
      profile: null,
    },
    geofence: exampleEventGeofence({
      id: geofenceIds[geofence]!,
      tag: `tag ${geofence}`,
      externalId: "it's",
      metadata: '{"a":1}',
    }),
    duration_min: index % 2 === 0 ? null : 1.5,
  });

const transitionTypes = ['user.exited_geofence', 'user.entered_geofence', 'user.dwelled_in_geofence'];

const store = (events: readonly Event[]) => analytics.insert('events', eventRows(events));

/** The order that docs/events.md promises, as texts that sort. */
const placeOf = ({ createdAt, actualCreatedAt, locationId, type, geofence, id }: Event): string =>
  [createdAt, actualCreatedAt, locationId ?? id, transitionTypes.indexOf(type), geofence?.id, id].join();
const newestFirst = (one: Event, other: Event) => (placeOf(one) < placeOf(other) ? 1 : -1);

async function everyPage(
  key: string,
  query: string,
  continued = ({ meta }: Body) => `&cursor=${meta.cursor}`,
): Promise<object[]> {
  const events: object[] = [];
  let next = '';
  for (;;) {
    const { body } = await api.call('GET', `/v1/events?${query}${next}`, { key });
    events.push(...body.events);
    expect(body.meta.hasMore).toBe('cursor' in body.meta);
    if (!body.meta.hasMore) return events;
    next = continued(body);
  }
}

/** Continues as clients of Radar do, which know no cursor. */
const byTime = ({ events }: Body) => `&createdBefore=${events.at(-1).createdAt}`;

test('pages by cursor and by time match the filtered model, with ties in time and duplicate rows', async () => {
  const filters: [string, (event: Event) => boolean][] = [
    ['', () => true],
    ['type=user.entered_geofence', ({ type }) => type === 'user.entered_geofence'],
    ['userId=user 1', ({ user }) => user?.userId === 'user 1'],
    [
      `user=${deriveId('user', '2')}&deviceId=device 0`,
      ({ user }) => user?.id === deriveId('user', '2') && user.deviceId === 'device 0',
    ],
    [`geofence=${geofenceIds[1]}`, ({ geofence }) => geofence?.id === geofenceIds[1]],
    ["tag=tag 0&externalId=it's", ({ geofence }) => geofence?.tag === 'tag 0'],
    [
      `createdAfter=${new Date(startMs).toISOString()}&createdBefore=${new Date(startMs + 3).toISOString()}`,
      ({ createdAt }) => createdAt > startMs && createdAt < startMs + 3,
    ],
  ];
  const shape = fc.array(fc.tuple(fc.nat(4), fc.nat(1)), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      shape,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(...filters),
      async (shapes, limit, [query, keep]) => {
        const project = await api.newProject('Events');
        const events = shapes.map(([time, geofence], index) => eventOf(project, index, time, geofence));
        await store(events);
        await store(events.slice(0, 7));
        const expected = events.filter(keep).sort(newestFirst).map(eventJson);
        expect(await everyPage(project.key('test', 'secret'), `limit=${limit}&${query}`)).toEqual(expected);
        expect(await everyPage(project.key('live', 'secret'), `limit=${limit}&${query}`)).toEqual([]);
        // All events of a location have its time, and pages by time lost those of them that a page had cut off.
        const isBounded = query.includes('createdBefore');
        if (!isBounded)
          expect(await everyPage(project.key('test', 'secret'), `limit=${limit}&${query}`, byTime)).toEqual(expected);
      },
    ),
    { numRuns: 15 },
  );
});

describe('one event', () => {
  test('is returned in its own environment only', async () => {
    const event = eventOf(api.project, 0, 0, 0);
    await store([event, event]);
    expect((await api.call('GET', `/v1/events/${event.id}`)).body).toEqual({
      meta: { code: 200 },
      event: eventJson(event),
    });
    expect((await api.call('GET', `/v1/events/${event.id}`, { key: api.project.key('live', 'secret') })).status).toBe(
      404,
    );
    expect((await api.call('GET', `/v1/events/${deriveId('none')}`)).status).toBe(404);
  });
});

// A misspelt type was a filter that no event matched.
test.each([
  ['type=user.entered_geofense', 'type'],
  ['type=user.entered_geofence,user.exited_geofence', 'type'],
  ['cursor=x', 'cursor'],
  ['limit=2.5', 'limit'],
  ['createdBefore=0', 'createdBefore'],
  [`tag=${'x'.repeat(300)}`, 'tag'],
])('%s is refused', async (query, param) => {
  expect(await api.call('GET', `/v1/events?${query}`)).toMatchObject({ status: 400, body: { meta: { param } } });
});

test('a refused type is answered with the types that exist', async () => {
  const { body } = await api.call('GET', '/v1/events?type=user.enter');
  expect(body.meta.message).toBe(`type: must be ${eventTypeRule}`);
});

test('an event of a conversion is listed by its name', async () => {
  const conversion = { ...eventOf(api.project, 0, 0, 0), type: 'opened-app.2' };
  await store([conversion]);
  const { body } = await api.call('GET', '/v1/events?type=opened-app.2');
  expect(body.events).toEqual([eventJson(conversion)]);
});
