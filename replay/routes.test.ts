/** Replays over the API: on the real log of a data folder, in this process. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Body, startApi, type TestApi } from '../api/testing/fixtures.js';
import { PortError } from '../pipeline/errors.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import { deriveId } from '../schemas/ids.js';
import { exampleLocation } from '../schemas/testing/examples.js';
import { until } from '../testing/until.js';
import type { RunReplay } from './child.js';
import { nothingErased } from './erased.js';
import { defaultJobBounds, type ReplayJob, runJob } from './job.js';
import { createReplays, type ReplaysParts } from './replays.js';
import { replayRoutes } from './routes.js';

/** The log stamps records with the time of the append. */
const nowMs = Date.now();
let api: TestApi;
/** Holds replays until the test lets them go on. */
let gate: Promise<void> = Promise.resolve();

const runHere: RunReplay = async (job, bounds, hear, signal) => {
  await Promise.race([gate, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
  for await (const message of runJob(api.log, job, bounds)) {
    if (signal.aborted) return;
    hear(message);
  }
};

beforeAll(async () => {
  api = await startApi({
    clock: () => nowMs,
    addRoutes: ({ configuration, writer, values, clock, webhooks: { secretCipher } }) =>
      replayRoutes({
        configuration,
        writer,
        secretCipher,
        clock,
        replays: createReplays({
          configuration,
          values,
          leases: createHeldLeases(values),
          clock,
          run: runHere,
          everyMs: 5,
          maxRunning: 2,
          bounds: { ...defaultJobBounds, maxEvents: 120 },
        }),
      }),
  });
  await api.call('PUT', '/v1/geofences/store/near', { body: circle });
  const { _id: project } = api.project.record;
  // Each device is outside, then inside of both circles, then in the larger one only, then outside.
  const records = Array.from({ length: 200 }, (_, index) => {
    const deviceId = `phone-${index % 50}`;
    const location = exampleLocation({
      id: deriveId('location', `${index}`),
      project,
      deviceId,
      longitude: 0,
      accuracy_m: 5,
      latitude: [0.02, 0.0001, 0.0015, 0.02][Math.floor(index / 50)]!,
      occurredAt: nowMs - 3_600_000 + index * 1_000,
      receivedAt: nowMs - 3_600_000 + index * 1_000,
    });
    return { key: `${project}/test/${deviceId}`, value: codecs.location.encode(location) };
  });
  await api.log.append(topics.locations, records);
});
afterAll(() => api.close());

const circle = { description: 'Near', type: 'circle', coordinates: [0, 0], radius: 100 };
const proposed = { ...circle, tag: 'store', externalId: 'wide', description: 'Wide', radius: 300 };
const hour = { from: new Date(nowMs - 7_200_000).toISOString() };

async function ended(id: string, key = api.secret): Promise<Body> {
  const read = async () => (await api.call('GET', `/v1/replays/${id}`, { key })).body.replay;
  await until(async () => (await read()).status !== 'running', { pollEveryMs: 5 });
  return read();
}
const start = (body: object, key = api.secret) => api.call('POST', '/v1/replays', { key, body: { ...hour, ...body } });

describe('a replay', () => {
  test('counts and lists what a proposed geofence adds, in pages that have each event once', async () => {
    const { status, body } = await start({ geofences: [proposed] });
    expect([status, body.replay.status]).toEqual([202, 'running']);
    const replay = await ended(body.replay._id);
    // No stage evaluated a location, so no event is recorded.
    const both = { both: 0, record: 0 };
    expect(replay).toMatchObject({
      status: 'completed',
      recordsRead: 200,
      recordsTotal: 200,
      summary: {
        locations: { applied: 200 },
        total: { entered: { ...both, replay: 100 }, left: { ...both, replay: 100 } },
      },
      // More are only counted.
      kept: { replay: 120, record: 0, both: 0 },
    });
    const names = replay.summary.places.map(({ name }: Body) => name);
    expect(names.sort()).toEqual(['store/near', 'store/wide']);
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = (await api.call('GET', `/v1/replays/${replay._id}/events?limit=37${cursor}`)).body;
      ids.push(...page.events.map(({ event }: Body) => event._id));
      if (!page.meta.hasMore) break;
      cursor = `&cursor=${page.meta.cursor}`;
    }
    expect([ids.length, new Set(ids).size]).toEqual([120, 120]);
    expect((await api.call('GET', `/v1/replays/${replay._id}/events?foundIn=record`)).body.events).toEqual([]);
    const key = api.project.key('live', 'secret');
    expect((await api.call('GET', `/v1/replays/${replay._id}`, { key })).status).toBe(404);
  });

  test('replaces the current geofences unless they are kept, and uses changed settings', async () => {
    const alone = await start({ geofences: [proposed], keepGeofences: false, settings: { minimumConfidence: 3 } });
    const { summary } = await ended(alone.body.replay._id);
    expect(summary.places.map(({ name }: Body) => name)).toEqual(['store/wide']);
    expect(summary.total.entered.replay).toBe(50);
  });

  test('runs alone in its project, and ends when it is cancelled', async () => {
    let open = (): void => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const { body } = await start({ geofences: [] });
    expect(await start({ geofences: [] })).toMatchObject({ status: 409, body: { meta: { type: 'replay_running' } } });
    expect((await api.call('DELETE', `/v1/replays/${body.replay._id}`)).status).toBe(200);
    expect(await ended(body.replay._id)).toMatchObject({ status: 'cancelled' });
    open();
    gate = Promise.resolve();
    const next = await start({ geofences: [] });
    expect(await ended(next.body.replay._id)).toMatchObject({ status: 'completed' });
  });

  test.each([
    [{}, 'geofences'],
    [{ geofences: ['x'] }, 'geofences[0]'],
    [{ geofences: [{ ...proposed, radius: 1 }] }, 'geofences[0].radius'],
    // It was ignored: the replay ran with another geofence than the one that was meant.
    [{ geofences: [{ ...proposed, stopDetecton: true }] }, 'geofences[0].stopDetecton'],
    [{ geofences: [proposed, proposed] }, 'geofences[1].externalId'],
    [{ geofences: [], settings: { minimumConfidence: 4 } }, 'settings.minimumConfidence'],
    [{ geofences: [], from: new Date(nowMs + 1).toISOString() }, 'from'],
    [{ geofences: [], from: '2020-01-01T00:00:00Z' }, 'from'],
    [{ geofences: [], warmUpHours: 1_000 }, 'warmUpHours'],
    [{ geofence: [] }, 'geofence'],
  ])('of %j is refused', async (body, param) => {
    expect(await start(body)).toMatchObject({ status: 400, body: { meta: { param } } });
  });
});

// Topics keep what was erased until their retention ends. A replay listed it again, and went on to list what it had
// found before.
describe('what was erased', () => {
  const sentMs = nowMs - 3_600_000;
  let key = '';

  /** Sends locations that alternate between inside and outside, one a second. */
  async function send(project: string, deviceId: string, userIds: readonly (string | null)[]) {
    const records = userIds.map((userId, index) => {
      const atMs = sentMs + index * 1_000;
      const location = exampleLocation({
        id: deriveId('location', deviceId, `${atMs}`),
        project,
        deviceId,
        userId,
        longitude: 0,
        latitude: index % 2 === 0 ? 0 : 0.02,
        occurredAt: atMs,
        receivedAt: atMs,
      });
      return { key: `${project}/test/${deviceId}`, value: codecs.location.encode(location) };
    });
    await api.log.append(topics.locations, records);
  }
  const replayed = async (): Promise<Body> => ended((await start({ geofences: [proposed] }, key)).body.replay._id, key);
  const listed = async ({ _id }: Body): Promise<Body[]> =>
    (await api.call('GET', `/v1/replays/${_id}/events?limit=1000`, { key })).body.events.map(
      ({ event }: Body) => event,
    );
  const devicesOf = (events: readonly Body[]): string[] => events.map(({ user }) => user.deviceId).sort();
  const erase = async (path: string) => expect((await api.call('DELETE', path, { key })).status).toBe(202);

  beforeAll(async () => {
    const project = await api.newProject('Erasing');
    key = project.key('test', 'secret');
    const { _id } = project.record;
    await send(_id, 'named', ['ann', 'ann']);
    // A later location names the user of the first two.
    await send(_id, 'named-later', [null, null, 'ann']);
    await send(_id, 'nameless', [null, null]);
    await send(_id, 'other', ['bob', 'bob']);
  });

  test('is in no list and no count of a replay, with what a device sent before it named the user', async () => {
    const before = await replayed();
    const events = await listed(before);
    expect(devicesOf(events)).toEqual([
      ...['named', 'named', 'named-later', 'named-later', 'named-later'],
      ...['nameless', 'nameless', 'other', 'other'],
    ]);
    await erase('/v1/users/ann');
    // It found them before.
    expect(await ended(before._id, key)).toMatchObject({
      status: 'completed',
      kept: { replay: 0, record: 0, both: 0 },
    });
    expect(await listed(before)).toEqual([]);

    const after = await replayed();
    expect(devicesOf(await listed(after))).toEqual(['nameless', 'nameless', 'other', 'other']);
    expect(after).toMatchObject({
      kept: { replay: 4 },
      summary: { total: { entered: { replay: 2 }, left: { replay: 2 } } },
    });

    await erase('/v1/users/nameless');
    const [event] = (await listed(await replayed())).filter(({ type }) => type === 'user.entered_geofence');
    await erase(`/v1/events/${event._id}`);
    const [left, ...more] = await listed(await replayed());
    expect(left).toMatchObject({ type: 'user.exited_geofence', user: { deviceId: 'other' } });
    expect(more).toEqual([]);
  });
});

describe('replays that start at once', () => {
  /** Runs until it is stopped. */
  const held: RunReplay = (_job, _bounds, _hear, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  const node = ({ values = api.values, ...parts }: Partial<ReplaysParts> = {}) =>
    createReplays({
      configuration: api.readModel,
      values,
      leases: createHeldLeases(values),
      clock: () => nowMs,
      run: held,
      everyMs: 5,
      bounds: defaultJobBounds,
      maxRunning: 2,
      ...parts,
    });
  const jobOf = (project: string): ReplayJob => ({
    project: { ...api.project.record, _id: project },
    scope: { project, environment: 'test' },
    range: { fromMs: 0, toMs: nowMs },
    warmUpMs: 0,
    proposed: {},
    erased: nothingErased,
  });
  const outcomesOf = async (starts: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(starts)).map((start) => (start.status === 'rejected' ? start.reason.code : 'started'));
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => make(at));

  // It ran on after the end of the node.
  test('regression: one whose lease is taken while the server stops is refused', async () => {
    let isTaking = false;
    let go = () => {};
    const closed = new Promise<void>((resolve) => {
      go = resolve;
    });
    const values: ReplaysParts['values'] = Object.assign(Object.create(api.values), {
      async put(...given: Parameters<typeof api.values.put>) {
        isTaking = true;
        await closed;
        return api.values.put(...given);
      },
    });
    let hasRun = false;
    const stopping = node({
      values,
      async run() {
        hasRun = true;
      },
    });
    const started = stopping.start(jobOf('closing'));
    await until(() => isTaking);
    await stopping.close();
    go();
    await expect(started).rejects.toMatchObject({ code: 'unavailable' });
    expect(hasRun).toBe(false);
    const next = node();
    await next.start(jobOf('closing'));
    await next.close();
  });

  // It failed as one whose events could not be stored.
  test('regression: one goes on while its progress cannot be stored', async () => {
    let failures = 0;
    const values: ReplaysParts['values'] = Object.assign(Object.create(api.values), {
      async get(key: string) {
        if (key.startsWith('replay-cancel/') && failures++ < 3) throw new PortError('unavailable', 'an outage');
        return api.values.get(key);
      },
    });
    const replays = node({
      values,
      async run(_job, _bounds, hear, signal) {
        await until(() => failures > 3 || signal.aborted);
        if (!signal.aborted) hear({ kind: 'end', summary: [] as never });
      },
    });
    const { _id, ...scope } = await replays.start(jobOf('outage'));
    await until(async () => (await replays.find(scope, _id))?.status !== 'running');
    expect(await replays.find(scope, _id)).toMatchObject({ status: 'completed', message: null });
    await replays.close();
  });

  test('of one project only one runs, on one node and on two', async () => {
    for (const nodes of [[node()], [node(), node()]]) {
      const job = jobOf(deriveId('project', `${nodes.length}`));
      const outcomes = await outcomesOf(times(10, (at) => nodes[at % nodes.length]!.start(job)));
      expect(outcomes.sort()).toEqual([...times(9, () => 'replay_running'), 'started']);
      await Promise.all(nodes.map((each) => each.close()));
      // The place is free again.
      const next = node();
      expect(await outcomesOf([next.start(job)])).toEqual(['started']);
      await next.close();
    }
  });

  test('of several projects run and wait up to the limits of a node, and others may start elsewhere', async () => {
    const [full, other] = [node({ maxWaiting: 1 }), node()];
    const jobs = times(4, (at) => jobOf(deriveId('project', 'several', `${at}`)));
    const outcomes = await outcomesOf(jobs.map((job) => full.start(job)));
    expect([...outcomes].sort()).toEqual(['overloaded', 'started', 'started', 'started']);
    const refused = jobs.filter((_, at) => outcomes[at] === 'overloaded');
    expect(await outcomesOf(refused.map((job) => other.start(job)))).toEqual(['started']);
    await Promise.all([full.close(), other.close()]);
  });

  // A project that started its next replay as soon as the last one had ended left no place to others: they were
  // refused, and told to come back after ten seconds.
  test('wait for their turn, which a project that starts one after the other does not take', async () => {
    const begun: string[] = [];
    const finish = new Map<string, () => void>();
    const replays = node({
      maxRunning: 1,
      run: ({ scope }, _bounds, hear, signal) => {
        begun.push(scope.project);
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
          finish.set(scope.project, () => {
            hear({ kind: 'failed', reason: 'enough' });
            resolve();
          });
        });
      },
    });
    const [greedy, patient, leaving] = ['greedy', 'patient', 'leaving'].map((name) => jobOf(deriveId('project', name)));
    const endOf = (job: ReplayJob, { _id }: { readonly _id: string }) =>
      expect.poll(async () => (await replays.find(job.scope, _id))?.status);
    const first = await replays.start(greedy!);
    const left = await replays.start(leaving!);
    const waiting = await replays.start(patient!);
    expect(waiting).toMatchObject({ status: 'running', recordsTotal: 0 });
    await replays.cancel(left);
    await endOf(leaving!, left).toBe('cancelled');
    finish.get(greedy!.scope.project)!();
    await endOf(greedy!, first).toBe('failed');
    const again = await replays.start(greedy!);
    await expect.poll(() => begun).toEqual([greedy!.scope.project, patient!.scope.project]);
    finish.get(patient!.scope.project)!();
    await endOf(patient!, waiting).toBe('failed');
    await expect.poll(() => begun.length).toBe(3);
    expect(await replays.find(greedy!.scope, again._id)).toMatchObject({ status: 'running' });
    await replays.close();
  });

  test('have their time from their turn on', async () => {
    let elapsedMs = 0;
    const replays = node({ maxRunning: 1, maxMs: 1_000, clock: () => nowMs + elapsedMs });
    const [one, next] = ['one', 'next'].map((name) => jobOf(deriveId('project', name)));
    const first = await replays.start(one!);
    const second = await replays.start(next!);
    elapsedMs = 1_001;
    const statusOf = async (job: ReplayJob, id: string) => (await replays.find(job.scope, id))?.status;
    await expect.poll(() => statusOf(one!, first._id)).toBe('failed');
    expect(await statusOf(next!, second._id)).toBe('running');
    elapsedMs = 2_500;
    await expect.poll(() => statusOf(next!, second._id)).toBe('failed');
    await replays.close();
  });

  test('one that lost its place during an outage ends, and the next one continues', async () => {
    const replays = node();
    const job = jobOf(deriveId('project', 'replaced'));
    const lease = `replay-running/${job.scope.project}`;
    const { _id } = await replays.start(job);
    expect(await api.values.put(lease, 'the next', 30_000, { current: _id })).toBe(true);
    const found = () => replays.find(job.scope, _id);
    await expect.poll(async () => (await found())?.status).toBe('failed');
    expect(await found()).toMatchObject({
      message: 'after a long outage another replay of the project may have started',
    });
    expect(await api.values.get(lease)).toBe('the next');
    await replays.close();
  });

  // The next one was refused, and this one counted as running, until its lease had expired.
  test('regression: one whose only node was killed has failed, and the next one starts', async () => {
    const job = jobOf(deriveId('project', 'killed'));
    const killed = node();
    const { _id } = await killed.start(job);
    const restarted = node({ leases: createHeldLeases(api.values, { isOnlyNode: true }) });
    expect(await restarted.find(job.scope, _id)).toMatchObject({
      status: 'failed',
      message: 'the server that ran it has ended',
    });
    await restarted.start(job);
    await Promise.all([killed.close(), restarted.close()]);
  });

  test('on a slow store, one that lost its place runs until its end is stored', async () => {
    const seen: unknown[] = [];
    const job = jobOf(deriveId('project', 'slow store'));
    const values: ReplaysParts['values'] = {
      get: (key) => api.values.get(key),
      increment: (key, ttlMs) => api.values.increment(key, ttlMs),
      delete: (key, condition) => api.values.delete(key, condition),
      async put(key, value, ttlMs, condition) {
        if (value.includes('"status":"failed"')) seen.push(await replays.find(job.scope, _id));
        return api.values.put(key, value, ttlMs, condition);
      },
    };
    const replays = node({ values });
    const { _id } = await replays.start(job);
    await api.values.put(`replay-running/${job.scope.project}`, 'the next', 30_000, { current: _id });
    await expect.poll(() => seen).toMatchObject([{ status: 'running', message: null }]);
    await replays.close();
  });

  test('one ends when its project is deleted', async () => {
    const replays = node();
    const { record } = await api.newProject('Of a replay');
    const job = jobOf(record._id);
    const { _id } = await replays.start(job);
    await api.writer.write([{ kind: 'project', id: record._id, record: null }]);
    await expect
      .poll(() => replays.find(job.scope, _id))
      .toMatchObject({ status: 'failed', message: 'the project was deleted' });
    await replays.close();
  });

  test('one whose place was free during an outage takes it again', async () => {
    const replays = node();
    const job = jobOf(deriveId('project', 'expired'));
    const lease = `replay-running/${job.scope.project}`;
    const { _id } = await replays.start(job);
    await api.values.delete(lease, { current: _id });
    await expect.poll(() => api.values.get(lease)).toBe(_id);
    expect(await replays.find(job.scope, _id)).toMatchObject({ status: 'running' });
    await replays.close();
  });
});
