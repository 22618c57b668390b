import { describe, expect, test } from 'vitest';
import { useAnalytics, useApi } from '../testing/fixtures.js';
import { queries } from './routes.js';
import { eventOf, places, storeEvents, users } from './testing/world.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

const bounds = 'must be 1 to 20 numbers of minutes, each greater than the one before, above 0 and up to 100000';

test.each([
  [
    'visits?from=yesterday',
    'from',
    'must be a date or an ISO 8601 date and time, such as 2029-01-01 or 2029-01-01T09:30:00Z',
  ],
  [
    'visits?to=2026-02-30',
    'to',
    'must be a date or an ISO 8601 date and time, such as 2029-01-01 or 2029-01-01T09:30:00Z',
  ],
  ['visits?to=1960-01-01', 'to', 'must lie between 1970 and 2200'],
  ['visits?to=9999-01-01&from=9998-12-31', 'to', 'must lie between 1970 and 2200'],
  ['visits?from=2026-03-01&to=2026-03-01', 'from', 'must be before `to`'],
  ['visits?from=2026-01-01&to=2026-04-03T01:00:00.001Z', 'from', 'must be at most 92 days before `to`'],
  ['visits?kind=fence', 'kind', 'must be one of geofence, beacon'],
  [`visits?tag=${'x'.repeat(257)}`, 'tag', 'must have at most 256 characters'],
  ['visits?limit=0', 'limit', 'must be a whole number from 1 to 1000000'],
  ['visits?limit=10001', 'limit', 'must be at most 10000 in JSON; a file may have 1000000, see `format`'],
  ['visits?limit=1000001&format=parquet', 'limit', 'must be a whole number from 1 to 1000000'],
  ['visits?format=xls', 'format', 'must be one of json, csv, parquet'],
  ['entries?interval=week', 'interval', 'must be one of hour, day'],
  ['entries?timeZone=Middle/Earth', 'timeZone', 'must be an IANA time zone, such as Europe/Rome'],
  ['entries?timeZone=%2B02:00', 'timeZone', 'must be an IANA time zone, such as Europe/Rome'],
  ["entries?timeZone=UTC')%20--", 'timeZone', 'must be an IANA time zone, such as Europe/Rome'],
  ['entries?groupBy=user', 'groupBy', 'must be one of place, tag, none'],
  ['flows?within=0', 'within', 'must be a whole number from 1 to 1440'],
  ['flows?within=1.5', 'within', 'must be a whole number from 1 to 1440'],
  ['dwell-times?bounds=5,5', 'bounds', bounds],
  ['dwell-times?bounds=0,5', 'bounds', bounds],
  ['dwell-times?bounds=a', 'bounds', bounds],
  ['dwell-times?bounds=100001', 'bounds', bounds],
  [`dwell-times?bounds=${Array.from({ length: 21 }, (_, index) => index + 1)}`, 'bounds', bounds],
])('%s is refused', async (url, param, rule) => {
  const { status, body } = await api.call('GET', `/v1/analytics/${url}`);
  expect({ status, ...body.meta }).toEqual({
    status: 400,
    code: 400,
    type: 'invalid_parameter',
    param,
    message: `${param}: ${rule}`,
    requestId: expect.stringMatching(/^[0-9a-f]{24}$/),
  });
});

describe.each(queries.map(({ name, parameters }) => [name, parameters] as const))('%s', (name, parameters) => {
  test('requires a secret key', async () => {
    const url = `/v1/analytics/${name}`;
    expect((await api.call('GET', url, { key: api.project.key('test', 'publishable') })).status).toBe(403);
    expect((await api.call('GET', url, { key: '' })).status).toBe(401);
  });

  test('binds parameters as values, whatever they contain', async () => {
    const nasty = encodeURIComponent(`x' OR 1 = 1) -- \\ {a:String} "`);
    const texts = ['geofence', 'beacon', 'tag', 'externalId', 'userId'].map((field) => [field, nasty]);
    const given = [...texts, ['timeZone', 'europe/rome']].filter(([field]) => Object.hasOwn(parameters, field!));
    const query = given.map(([field, text]) => `${field}=${text}`).join('&');
    expect(await api.call('GET', `/v1/analytics/${name}?${query}`)).toMatchObject({ status: 200 });
  });
});

test('a range includes its start, excludes its end, and is seven days without `from`', async () => {
  const project = await api.newProject('Ranges');
  const key = project.key('test', 'secret');
  const toMs = Date.parse('2026-06-08T12:00:00.500Z');
  const fromMs = toMs - 7 * 86_400_000;
  const circumstances = { project: project.record._id, user: users[0]!, receivedAt: Date.now() };
  const times = [fromMs - 1, fromMs, toMs - 1, toMs];
  const events = times.map((createdAt, index) =>
    eventOf(places[index]!, true, { ...circumstances, createdAt, locationId: `${index}` }),
  );
  await storeEvents(analytics, events, []);
  const { body } = await api.call('GET', '/v1/analytics/visits?to=2026-06-08T12:00:00.500Z', { key });
  expect(body.meta).toMatchObject({ from: '2026-06-01T12:00:00.500Z', to: '2026-06-08T12:00:00.500Z' });
  expect(body.rows.map(({ geofence }: { geofence: string }) => geofence)).toEqual([places[2]?.id, places[1]?.id]);
});

test('a range has 92 days also where clocks are set back in it (fault: October to December was refused)', async () => {
  const query = 'from=2026-10-01T00:00:00-04:00&to=2027-01-01T00:00:00-05:00&timeZone=America/New_York';
  expect(await api.call('GET', `/v1/analytics/entries?${query}`)).toMatchObject({ status: 200 });
});

test('a flow counts when its entry is exactly at the time limit, and not a millisecond later', async () => {
  const project = await api.newProject('Flows');
  const startMs = Date.parse('2026-06-01T00:00Z');
  const told = async (user: number, gapMs: number) => {
    const at = (place: number, isEntry: boolean, createdAt: number) =>
      eventOf(places[place]!, isEntry, {
        project: project.record._id,
        user: users[user]!,
        createdAt,
        receivedAt: Date.now(),
        locationId: `${createdAt}`,
      });
    await storeEvents(analytics, [at(0, false, startMs), at(1, true, startMs + gapMs)], []);
  };
  await told(0, 10 * 60_000);
  await told(2, 10 * 60_000 + 1);
  // The range ends right after the exits.
  const url = '/v1/analytics/flows?from=2026-05-31&to=2026-06-01T00:00:00.001Z&within=10';
  const { body } = await api.call('GET', url, { key: project.key('test', 'secret') });
  expect(body.rows).toMatchObject([
    { fromGeofence: places[0]?.id, toGeofence: places[1]?.id, flows: 1, users: 1, medianMinutes: 10 },
  ]);
});

test('a place whose definition changed is shown with its newest tag', async () => {
  const project = await api.newProject('Tags');
  const visit = (tag: string, createdAt: number) =>
    eventOf({ ...places[0]!, tag }, true, {
      project: project.record._id,
      user: users[0]!,
      createdAt,
      receivedAt: Date.now(),
      locationId: `${createdAt}`,
    });
  const startMs = Date.parse('2026-06-01T00:00Z');
  await storeEvents(analytics, [visit('old', startMs), visit('new', startMs + 1), visit('old', startMs - 1)], []);
  const { body } = await api.call('GET', '/v1/analytics/unique-users?from=2026-05-30&to=2026-06-02', {
    key: project.key('test', 'secret'),
  });
  expect(body.rows).toMatchObject([{ tag: 'new', entries: 3 }]);
});

test('a row has the present description of its place, and none once the place is deleted', async () => {
  const project = await api.newProject('Names');
  const key = project.key('test', 'secret');
  const put = async (externalId: string, body: object) =>
    (await api.call('PUT', `/v1/geofences/shop/${externalId}`, { key, body: { type: 'circle', radius: 100, ...body } }))
      .body.geofence._id as string;
  const hall = await put('hall', { description: 'Hall', coordinates: [11, 43] });
  const yard = await put('yard', { description: 'Yard', coordinates: [11, 44] });
  const startMs = Date.parse('2026-06-01T00:00Z');
  const at = (id: string, isEntry: boolean, createdAt: number) =>
    eventOf({ ...places[0]!, id }, isEntry, {
      project: project.record._id,
      user: users[0]!,
      createdAt,
      receivedAt: Date.now(),
      locationId: `${createdAt}`,
    });
  await storeEvents(
    analytics,
    [at(hall, true, startMs), at(hall, false, startMs + 60_000), at(yard, true, startMs + 120_000)],
    [],
  );
  const rowsOf = async (name: string) =>
    (await api.call('GET', `/v1/analytics/${name}?from=2026-05-31&to=2026-06-02`, { key })).body.rows;
  await put('hall', { description: 'Market hall', coordinates: [11, 43] });
  expect(await rowsOf('visits')).toMatchObject([{ description: 'Yard' }, { description: 'Market hall' }]);
  expect(await rowsOf('flows')).toMatchObject([{ fromDescription: 'Market hall', toDescription: 'Yard' }]);
  await api.call('DELETE', `/v1/geofences/${hall}`, { key });
  const [, deleted] = await rowsOf('visits');
  expect(deleted).toMatchObject({ geofence: hall });
  expect(deleted).not.toHaveProperty('description');
});
