/**
 * `fenceline migrate` against a server that lists as Radar's API does, and the tables of docs/migrating-from-radar.md.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { run } from '../../cli/commands/migrate.js';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { at, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-radar-'));
const startMs = Date.parse('2026-01-01T00:00:00.000Z');
const isoTime = (ms: number): string => new Date(ms).toISOString();

const circles = Array.from({ length: 1_100 }, (_, index) => ({
  _id: (0x100000 + index).toString(16).padStart(24, '0'),
  createdAt: isoTime(startMs),
  // Records about the end of the first page share their time.
  updatedAt: isoTime(startMs + Math.floor(index / 7)),
  live: false,
  type: 'circle',
  description: `Store ${index}`,
  tag: 'store',
  externalId: `${index}`,
  geometry: { type: 'Polygon', coordinates: [] },
  geometryCenter: { type: 'Point', coordinates: at(0, 1_000 * index) },
  geometryRadius: 100,
  enabled: true,
}));
const ring = [at(0, -5_000), at(300, -5_000), at(300, -4_700), at(0, -5_000)];
const others = [
  {
    type: 'polygon',
    geometry: { type: 'Polygon', coordinates: [ring] },
    metadata: { city: 'Wien' },
    userIds: 'ada,bob',
  },
  { type: 'circle', tag: undefined, externalId: undefined, operatingHours: { Mon: [['09:00', '17:30']] } },
  { type: 'polygon', geometry: { type: 'Polygon', coordinates: [ring, ring] } },
].map((fields, index) => ({
  ...circles[0],
  _id: (0x200000 + index).toString(16).padStart(24, '0'),
  updatedAt: isoTime(startMs + 10_000 + index),
  tag: 'other',
  externalId: `${index}`,
  ...fields,
}));
const beacons = [
  {
    _id: '3'.repeat(24),
    createdAt: isoTime(startMs),
    type: 'ibeacon',
    description: 'Door',
    tag: 'door',
    externalId: '1',
    uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
    major: '1',
    minor: '2',
    enabled: true,
    geometry: { type: 'Point', coordinates: at(0, 0) },
  },
];
const lists: Record<string, { _id: string }[]> = { geofences: [...circles, ...others], beacons, events: [] };

let fenceline: SharedServer;
let radar: Server;
/** Requests in order. The next is answered with this status and not repeated, if there is one. */
const requests: string[] = [];
const failures: number[] = [];

function answer(path: string, query: URLSearchParams): Json {
  const sdkConfiguration = {
    bufferGeofenceEntries: true,
    bufferGeofenceExits: false,
    defaultGeofenceDwellThreshold: 7,
  };
  if (path === '/v1/config') return { meta: { code: 200, sdkConfiguration } };
  if (path === '/v1/search/beacons')
    return {
      meta: { code: 200, settings: { beacons: { uuids: ['B9407F30-F5F8-466E-AFF9-25556B57FE6D'] } } },
      beacons: [],
    };
  const name = path.slice('/v1/'.length);
  const time = name === 'geofences' ? 'updated' : 'created';
  const [before, after] = ['Before', 'After'].map((end) => Date.parse(query.get(time + end) ?? ''));
  const all = (lists[name] as Json[])
    .map((record) => ({ record, ms: Date.parse(record[`${time}At`]) }))
    .filter(({ ms }) => !(ms >= (before as number)) && !(ms <= (after as number)))
    .sort((a, b) => b.ms - a.ms)
    .map(({ record }) => record);
  const limit = Number(query.get('limit'));
  return { meta: { code: 200, hasMore: all.length > limit }, [name]: all.slice(0, limit) };
}

beforeAll(async () => {
  fenceline = await SharedServer.newProject();
  radar = createServer(({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://radar');
    requests.push(url);
    const status = headers.authorization === 'radar-secret' ? (failures.shift() ?? 200) : 401;
    const body = status === 200 ? answer(pathname, searchParams) : { meta: { code: status, error: 'REFUSED' } };
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => radar.listen(0, '127.0.0.1', listening));
});
afterAll(() => {
  radar.close();
  rmSync(folder, { recursive: true });
});

/** Runs the command. Returns what it printed, and why it failed. */
async function migrate(words: string[], values: object = {}) {
  const output: string[] = [];
  const spies = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')];
  for (const spy of spies) spy.mockImplementation((line: string) => void output.push(line));
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const radarAddress = `http://127.0.0.1:${(radar.address() as AddressInfo).port}`;
  const access = { 'radar-key': 'radar-secret', 'radar-address': radarAddress, key: fenceline.keys.test_secret };
  const options = { ...access, address: fenceline.address, ...values };
  const failure = await run(options, words).then(
    () => '',
    (error: Error) => error.message,
  );
  return { output, failure };
}

const count = async (): Promise<number> => ok(await fenceline.as('test_secret').get('/v1/geofences/count')).count;

it('copies geofences, beacons and settings once, also after an interruption', async () => {
  const target = join(folder, 'copy');
  // A busy service is asked again. The second page is then refused for good.
  failures.push(429, 200, 403);
  expect((await migrate(['radar', target])).failure).toMatch(/\/v1\/geofences: the server answered 403 REFUSED/);
  const before = requests.length;
  const dry = await migrate(['radar', target], { 'dry-run': true });
  expect(requests[before]).toContain('updatedBefore');
  expect(dry.failure).toMatch(/1,102 would be created, .* 1 rejected/);
  expect(await count()).toBe(0);

  expect((await migrate(['radar', target])).failure).toMatch(/1,102 created, 0 updated, 0 unchanged, 1 rejected/);
  expect((await migrate(['radar', target])).failure).toMatch(/0 created, 0 updated, 1,102 unchanged, 1 rejected/);
  expect(readFileSync(join(target, 'geofences-refused.csv'), 'utf8').split('\n')[1]).toContain('other,2');
  const api = fenceline.as('test_secret');
  const { geofence: polygon } = ok(await api.get('/v1/geofences/other/0'));
  expect(polygon).toMatchObject({ type: 'polygon', metadata: { city: 'Wien' }, userIds: 'ada,bob' });
  const { geofence: untagged } = ok(await api.get(`/v1/geofences/radar/${others[1]?._id}`));
  expect(untagged).toMatchObject({ geometryRadius: 100, operatingHours: { Mon: [['09:00', '17:30']] } });
  expect(ok(await api.get('/v1/beacons/door/1')).beacon).toMatchObject({ major: '1', minor: '2' });
  expect(ok(await api.get('/v1/settings')).settings).toMatchObject({
    bufferEntries: true,
    bufferExits: false,
    dwellEvents: true,
    defaultDwellThreshold: 7,
    beaconUuids: ['b9407f30-f5f8-466e-aff9-25556b57fe6d'],
  });
});

it('compares the events of both services for the same users', async () => {
  const api = fenceline.as('test_secret');
  await api.putGeofence('gate', { type: 'circle', coordinates: at(50_000, 0), radius: 200 });
  const device = fenceline.as('test_publishable');
  const entered = [];
  for (const userId of ['ada', 'bob', 'eve'])
    entered.push(...(await device.track({ deviceId: `phone-of-${userId}`, userId, ...standing(50_000, 0) })).events);
  await until(async () => ok(await api.get('/v1/events')).events.length === entered.length);
  const [ada, bob] = entered;
  const later = (event: Json, ms: number): Json => ({
    ...event,
    _id: `radar-${event._id}`,
    createdAt: isoTime(Date.parse(event.createdAt) + ms),
  });
  const theirs = [
    later(ada, 5_000),
    later(bob, 90_000),
    { ...later(bob, 0), _id: 'place', type: 'user.entered_place' },
  ];
  lists.events = theirs;

  const whole = { from: '-1h', to: '2100-01-01' };
  const listed = await migrate(['compare'], whole);
  expect(listed.failure).toBe('3 events are in one service only');
  expect(listed.output[1]).toMatch(/^user.entered_geofence +1 +1 +2$/);
  expect(
    listed.output.filter((line) => /^(missing|extra)/.test(line)).map((line) => line.replace(/ \S+Z /, ' ')),
  ).toEqual([
    expect.stringMatching(/^extra .*user.entered_geofence {2}bob {2}test\/gate$/),
    expect.stringMatching(/^extra .*user.entered_geofence {2}eve {2}test\/gate$/),
    expect.stringMatching(/^missing .*user.entered_geofence {2}bob {2}test\/gate$/),
  ]);
  expect(listed.output.at(-1)).toBe('1 events of Radar have types that Fenceline does not have');

  const file = join(folder, 'webhooks.ndjson');
  const bodies = [{ event: { ...theirs[0], user: undefined }, user: theirs[0].user }, { events: theirs.slice(1) }];
  writeFileSync(file, bodies.map((body) => `${JSON.stringify(body)}\n`).join(''));
  const widened = await migrate(['compare', file], { ...whole, tolerance: '2m', json: true });
  expect(widened.output.map((line) => JSON.parse(line).event.user.userId)).toEqual(['eve']);
});

it('has a table of calls that agrees with what the server answers', async () => {
  const guide = readFileSync(new URL('../../docs/migrating-from-radar.md', import.meta.url), 'utf8');
  const { paths } = ok(await fenceline.withKey(undefined).get('/openapi.json'));
  const rows = [...guide.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) (\S+)` \| (works|differs|not available) \|/gm)];
  expect(rows.length).toBeGreaterThan(40);
  const exists = (method = '', path = ''): boolean =>
    paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] !== undefined;
  const wrong = rows.filter(([, method, path, how]) => exists(method, path) !== (how !== 'not available'));
  expect(wrong.map(([row]) => row)).toEqual([]);
});
