/**
 * Locations with the results of the real evaluation, stored as the analytics stage stores them. Each explanation must
 * reproduce the events of the location from the stored row of the previous location.
 */
import { beforeAll, expect, test } from 'vitest';
import { createCatalog } from '../../pipeline/catalog/index/catalog.js';
import { createSpatialQueries } from '../../pipeline/catalog/queries/queries.js';
import type { SpatialQueries } from '../../pipeline/catalog/types.js';
import { evaluate } from '../../pipeline/evaluation/evaluate.js';
import { deriveId } from '../../schemas/ids.js';
import type { DeviceState, Event, Outcome } from '../../schemas/records.js';
import { exampleEvent, exampleEventGeofence, exampleLocation, exampleOutcome } from '../../schemas/testing/examples.js';
import { eventRows, locationRows, userRows } from '../../schemas/testing/rows.js';
import { type Body, useAnalytics, useApi } from '../testing/fixtures.js';

/** Locations of more than a week ago would be removed. Whole minutes, so that intervals begin with the test. */
const startMs = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;
const timeAt = (ms: number): string => new Date(startMs + ms).toISOString();
const unasked = async () => [];
let spatial: Pick<SpatialQueries, 'explain'>;
const analytics = await useAnalytics();
const api = await useApi({
  analytics,
  clock: () => startMs + 120_000,
  spatial: {
    context: unasked,
    searchGeofences: unasked,
    searchBeacons: unasked,
    explain: (query) => spatial.explain(query),
  },
});

/** Offsets in degrees from the centre of both geofences. A thousandth is about 111 m. */
const path = [0.01, 0.0002, 0.0001, 0.0001, 0.0008, 0.0002, 0.02, 0.0003];
const stored: Outcome[] = [];
const base = `/v1/users/${encodeURIComponent('phone/1')}/locations`;

beforeAll(async () => {
  const circle = { type: 'circle', coordinates: [0, 0] };
  for (const [name, radius] of [
    ['small', 50],
    ['large', 150],
  ] as const)
    await api.call('PUT', `/v1/geofences/store/${name}`, { body: { ...circle, description: name, radius } });
  await api.call('PUT', '/v1/settings', { body: { dwellEvents: true, defaultDwellThreshold: 1 } });
  const catalog = createCatalog(api.readModel);
  const scope = { project: api.project.record._id, environment: 'test' } as const;
  spatial = createSpatialQueries(catalog, () => startMs);
  let state: DeviceState | undefined;
  const events: Event[] = [];
  // The third location comes again, and an old one is late.
  const times = path.map((_, index) => (index === 3 ? 2 * 45_000 : index === 5 ? 10 : index * 45_000));
  path.forEach((latitude, index) => {
    const location = exampleLocation({
      ...scope,
      id: deriveId('location', `${index}`),
      deviceId: 'phone/1',
      longitude: 0,
      latitude,
      accuracy_m: 5,
      occurredAt: startMs + times[index]!,
      receivedAt: startMs + index * 45_000 + 7,
    });
    const evaluation = evaluate(location, state, catalog.context(scope)!);
    if (evaluation.result === 'applied') state = evaluation.state;
    const { id: user, createdAt, geofences } = evaluation.user;
    const caused = evaluation.transitions.map(({ type, id }) =>
      exampleEvent({
        ...scope,
        id: deriveId('event', location.id, id, type),
        type,
        locationId: location.id,
        createdAt: location.occurredAt,
        actualCreatedAt: location.receivedAt,
        user: { id: user, userId: null, deviceId: location.deviceId, profile: null },
        geofence: exampleEventGeofence({ id }),
      }),
    );
    events.push(...caused);
    stored.push({
      location,
      result: evaluation.result,
      user,
      userCreatedAt: createdAt,
      profile: null,
      beacons: [],
      geofences: geofences.map(({ id }) => id),
      events: caused.map(({ id }) => id),
    });
  });
  await analytics.insert('locations', locationRows(stored));
  // Rows may be stored twice after a crash.
  await analytics.insert('locations', locationRows(stored.slice(2, 4)));
  await analytics.insert('events', eventRows(events));
  const applied = stored.filter(({ result }) => result === 'applied');
  await analytics.insert('users', userRows(applied));
});

test('the locations of a user are listed once each, newest first, in pages and within bounds', async () => {
  const listed: Body[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await api.call('GET', `${base}?limit=3${cursor}`);
    listed.push(...body.locations);
    if (!body.meta.hasMore) break;
    cursor = `&cursor=${body.meta.cursor}`;
  }
  const expected = [...stored].sort(
    (one, other) =>
      other.location.occurredAt - one.location.occurredAt || (one.location.id < other.location.id ? 1 : -1),
  );
  expect(listed).toMatchObject(
    expected.map(({ location, result, geofences, events }) => ({
      _id: location.id,
      result,
      geofences,
      events,
      location: { coordinates: [0, location.latitude] },
    })),
  );
  const bounds = `after=${timeAt(10)}&before=${timeAt(180_000)}`;
  expect((await api.call('GET', `${base}?${bounds}`)).body.locations).toHaveLength(3);
  expect(await api.call('GET', `${base}?before=then`)).toMatchObject({
    status: 400,
    body: { meta: { param: 'before' } },
  });
  expect((await api.call('GET', '/v1/users/nobody/locations')).status).toBe(404);
});

test('the explanation of each location has the result and the events that were recorded', async () => {
  const results = new Set<string>();
  const kinds = new Set<string>();
  for (const [index, { location, result, events }] of stored.entries()) {
    const { body } = await api.call('GET', `${base}/${location.id}/explanation`);
    results.add(result);
    expect([index, body.explanation.evaluation.result]).toEqual([index, result]);
    const explained = body.explanation.evaluation.transitions.map(({ type, _id }: Body) =>
      deriveId('event', location.id, _id, type),
    );
    expect([index, explained]).toEqual([index, events]);
    expect(body.events.map(({ _id }: Body) => _id)).toEqual(events);
    for (const { type } of body.events) kinds.add(type);
    expect(body.before === undefined).toBe(index === 0);
    if (result === 'applied') expect(body.explanation.fences.length).toBeGreaterThan(0);
  }
  expect([...results].sort()).toEqual(['applied', 'repeat', 'stale']);
  expect([...kinds].sort()).toEqual(['user.dwelled_in_geofence', 'user.entered_geofence', 'user.exited_geofence']);
  expect((await api.call('GET', `${base}/${'f'.repeat(24)}/explanation`)).status).toBe(404);
  const key = api.project.key('live', 'secret');
  expect((await api.call('GET', `${base}/${stored[0]!.location.id}/explanation`, { key })).status).toBe(404);
});

test('the last positions are listed in the order of receipt, after a time', async () => {
  const { body } = await api.call('GET', '/v1/positions');
  const last = stored.findLast(({ result }) => result === 'applied')!.location;
  expect(body).toMatchObject({
    meta: { hasMore: false },
    positions: [{ deviceId: 'phone/1', coordinates: [0, last.latitude], accuracy: 5, geofences: 2 }],
  });
  const [{ receivedAt }] = body.positions;
  expect((await api.call('GET', `/v1/positions?after=${receivedAt}`)).body.positions).toEqual([]);
  const rule = { status: 400, body: { meta: { param: 'limit' } } };
  expect(await api.call('GET', '/v1/positions?limit=5001')).toMatchObject(rule);
});

test('users are found by a part of an id', async () => {
  const found = async (text: string) => (await api.call('GET', `/v1/users?search=${text}`)).body.users.length;
  expect(await Promise.all(['PHONE', 'one%2F1', stored[0]!.user, 'tablet'].map(found))).toEqual([1, 1, 1, 0]);
});

test('the status counts locations and events by the interval of their receipt', async () => {
  const { body } = await api.call('GET', '/v1/status');
  const { locations, events, intervalMs } = body.status;
  // Receipts of the last 5 minutes: three locations within two minutes, then one every 45 seconds.
  expect([locations.length, events.length, intervalMs]).toEqual([60, 60, 5_000]);
  const fromMs = startMs + 120_000 - 300_000;
  const expected = Array.from({ length: 60 }, () => 0);
  for (const { location } of [...stored, ...stored.slice(2, 4)]) {
    const slot = Math.ceil((location.receivedAt - fromMs) / 5_000) - 1;
    if (slot < 60) expected[slot] = expected[slot]! + 1;
  }
  expect(locations).toEqual(expected);
});

test('regression: a location from before the login was explained with the userId of today', async () => {
  const restricted = { description: 'For Ada', type: 'circle', coordinates: [30, 0], radius: 100, userIds: 'ada' };
  await api.call('PUT', '/v1/geofences/store/restricted', { body: restricted });
  const outcomes = [null, 'ada'].map((userId, index) => {
    const location = exampleLocation({
      project: api.project.record._id,
      environment: 'test',
      id: deriveId('location', 'login', `${index}`),
      deviceId: 'phone/2',
      userId,
      longitude: 30,
      latitude: 0,
      accuracy_m: 5,
      occurredAt: startMs + 1_000 * index,
      receivedAt: startMs + 1_000 * index,
    });
    return exampleOutcome({ location, user: deriveId('user', 'ada'), userCreatedAt: startMs });
  });
  await analytics.insert('locations', locationRows(outcomes));
  await analytics.insert('users', userRows(outcomes));
  const codes = outcomes.map(async ({ location }) => {
    const { body } = await api.call('GET', `/v1/users/ada/locations/${location.id}/explanation`);
    return body.explanation.fences[0].rule.code;
  });
  expect(await Promise.all(codes)).toEqual(['not_for_this_user', 'entered']);
});
