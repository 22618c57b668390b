import { expect, onTestFinished, test, vi } from 'vitest';
import { useApi } from '../api/testing/fixtures.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import { until } from '../testing/until.js';
import { demoRoutes } from './routes.js';
import { demoBounds } from './run.js';

/** Time passes only when a test lets it. */
let nowMs = 1_700_000_000_000;
let ticks: (() => void)[] = [];
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const next = () => {
      nowMs += ms;
      resolve();
    };
    if (signal.aborted) return resolve();
    ticks.push(next);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
const problems: unknown[] = [];

const api = await useApi({
  clock: () => nowMs,
  addRoutes: (dependencies) =>
    demoRoutes({
      ...dependencies,
      leases: createHeldLeases(dependencies.values),
      isEnabled: true,
      pause,
      onProblem: (problem) => problems.push(problem),
    }),
});
const call = (method: 'GET' | 'POST' | 'DELETE', path = '/v1/demo', key = api.secret) =>
  api.call(method, path, { key });

/** Lets the run of the one project go on by a tick. */
async function tick(): Promise<void> {
  await until(() => ticks.length > 0);
  const due = ticks;
  ticks = [];
  for (const next of due) next();
}

async function locations() {
  const found = [];
  for (let partition = 0; partition < api.log.partitions(topics.locations); partition++) {
    const { first, end } = await api.log.bounds(topics.locations, partition);
    if (end > first) found.push(...(await api.log.read(topics.locations, partition, first, 100_000)).records);
  }
  return found.map(({ value }) => codecs.location.decode(value!));
}

test('a run loads its geofences, sends locations of all its devices, refuses a second run, and stops', async () => {
  const started = await call('POST');
  expect(started).toMatchObject({ status: 200, body: { demo: { available: true, running: true } } });
  expect(started.body.demo.geofences).toBeGreaterThan(300);
  expect(await call('POST')).toMatchObject({ status: 409, body: { meta: { type: 'conflict' } } });
  for (let count = 0; count < 5; count++) await tick();
  await until(() => ticks.length > 0);
  const sent = await locations();
  expect(new Set(sent.map(({ deviceId }) => deviceId)).size).toBe(demoBounds.devices);
  expect(sent.every(({ project, environment }) => project === api.project.record._id && environment === 'test')).toBe(
    true,
  );
  expect((await call('GET')).body.demo.locations).toBeGreaterThan(0);
  expect((await call('POST', '/v1/demo/stop')).body.demo).toMatchObject({ running: false });
  ticks = [];
  expect((await locations()).length).toBe(sent.length);
});

test('of many concurrent starts one runs; the others conflict, and take no place from other projects', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => call('POST')));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
  expect((await call('POST', '/v1/demo/stop')).body.demo).toMatchObject({ running: false });
  ticks = [];
});

test('a run ends by itself, and another one uses the geofences that are there', async () => {
  const before = (await call('GET')).body.demo.geofences;
  expect((await call('POST')).body.demo).toMatchObject({ running: true, geofences: before });
  await until(() => ticks.length > 0);
  nowMs += demoBounds.durationMs;
  await tick();
  await until(async () => !(await call('GET')).body.demo.running);
});

test('removing it deletes its geofences and no others', async () => {
  const body = { description: 'Mine', type: 'circle', coordinates: [1, 2], radius: 100 };
  await api.call('PUT', '/v1/geofences/demo/mine', { body });
  await call('POST');
  expect((await call('DELETE')).body.demo).toMatchObject({ running: false, geofences: 1 });
  expect((await api.call('GET', '/v1/geofences/demo/mine')).status).toBe(200);
});

test('the demo is refused in Live and for publishable keys', async () => {
  const live = api.project.key('live', 'secret');
  expect((await call('GET', '/v1/demo', live)).body.demo.available).toBe(false);
  expect((await call('POST', '/v1/demo', live)).status).toBe(403);
  expect((await call('POST', '/v1/demo', api.project.key('test', 'publishable'))).status).toBe(403);
  expect(problems).toEqual([]);
});

test('a run ends with its project', async () => {
  const { record, key } = await api.newProject('Of a demo');
  expect((await call('POST', '/v1/demo', key('test', 'secret'))).status).toBe(200);
  await tick();
  await api.writer.write([{ kind: 'project', id: record._id, record: null }]);
  await until(async () => {
    for (const next of ticks.splice(0)) next();
    return (await api.values.get(`demo/${record._id}`)) === undefined;
  });
});

test('a run whose lease another one has ends, and leaves the lease to it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { record, key } = await api.newProject('Of a demo on two nodes');
  expect((await call('POST', '/v1/demo', key('test', 'secret'))).status).toBe(200);
  const lease = `demo/${record._id}`;
  const state = `demo-state/${await api.values.get(lease)}`;
  await tick();
  await api.values.put(lease, 'another', 3_600_000);
  vi.advanceTimersToNextTimer();
  await until(async () => {
    for (const next of ticks.splice(0)) next();
    return (await api.values.get(state)) === undefined;
  });
  expect(await api.values.get(lease)).toBe('another');
});
