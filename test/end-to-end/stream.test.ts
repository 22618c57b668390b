/** The live stream over HTTP, through kills of the server, and `fenceline tail`, which prints it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type OpenStream, openStream } from '../../api/stream/testing/open-stream.js';
import { until } from '../../testing/until.js';
import { Client, type Json, ok, trackDefaults } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0' });
  await server.as('test_secret').putGeofence('gate', circle(0, 0, 100), 'harbour');
});
afterAll(() => server?.dispose());

async function open(query = '', lastEventId = ''): Promise<OpenStream> {
  const url = `${server.address}/v1/events/stream${query}`;
  const stream = await openStream(url, server.keys.test_secret, {
    ...(lastEventId && { 'last-event-id': lastEventId }),
  });
  onTestFinished(stream.close);
  expect(stream.response.status).toBe(200);
  return stream;
}

const trackIn = async (deviceId: string, device = server.as('test_publishable')): Promise<Json[]> =>
  (await device.track({ deviceId, ...standing(0, 0) })).events;

describe('the live stream', () => {
  it('sends the events of a track call as the call returned them', async () => {
    const [all, tagged, other] = [
      await open(),
      await open('?tag=harbour&type=user.entered_geofence'),
      await open('?tag=x'),
    ];
    const events = await trackIn('ship-1');
    expect(events).toHaveLength(1);
    for (const stream of [all, tagged]) {
      await until(() => stream.messages().length === 1);
      expect(stream.messages()[0]?.type).toBe('user.entered_geofence');
      expect(JSON.parse(stream.messages()[0]!.data)).toEqual(events[0]);
    }
    expect(other.messages()).toEqual([]);
  });

  it('misses nothing and repeats nothing through kills of the server', async () => {
    const patienceMs = 240_000;
    const startMs = Date.now() - 3_600_000;
    const reports = 60;
    const kills = process.env.TEST_CAMPAIGN === undefined ? 2 : 5;
    /** The next part of the reports is sent when the server is killed once more, however fast the machine is. */
    const part = reports / (kills + 1);
    let [killed, acknowledged] = [0, 0];
    const first = await open();
    await until(() => first.lastEventId() !== '');
    const got: Json[] = [];
    let isSent = false;

    /** Enters and leaves the fence, and repeats each report until it is acknowledged. */
    async function send(deviceId: string): Promise<void> {
      for (let report = 0; report < reports; report++) {
        await until(() => report < part * (killed + 1), { timeoutMs: patienceMs });
        const updatedAt = new Date(startMs + report * 1_000).toISOString();
        const fields = { deviceId, ...trackDefaults, ...standing(report % 2 === 0 ? 0 : 900, 0), updatedAt };
        const attempt = () => server.as('test_publishable').post('/v1/track', fields);
        await until(async () => (await attempt().catch(() => undefined))?.status === 200, { timeoutMs: patienceMs });
        acknowledged += 1;
      }
    }
    /** Reconnects with the last id until everything was sent and received. */
    async function read(): Promise<void> {
      let stream = first;
      let lastEventId = '';
      const isThrough = () => isSent && got.length + stream.messages().length >= names.length * reports;
      for (;;) {
        await until(() => stream.isClosed || isThrough(), {
          timeoutMs: patienceMs,
          describe: () => `${got.length} came`,
        });
        lastEventId = stream.lastEventId() || lastEventId;
        got.push(...stream.messages().map(({ data }) => JSON.parse(data)));
        if (!stream.isClosed) return;
        stream = await until(() => open('', lastEventId).catch(() => undefined), { timeoutMs: patienceMs });
      }
    }
    async function kill(): Promise<void> {
      while (killed < kills) {
        const due = names.length * part * (killed + 0.5);
        await until(() => acknowledged >= due, { timeoutMs: patienceMs });
        killed += 1;
        await server.kill();
        await server.restart();
      }
    }

    const names = Array.from({ length: 8 }, (_, index) => `barge-${index}`);
    const reading = read();
    await Promise.all([...names.map(send), kill()]);
    isSent = true;
    await reading;

    for (const name of names) {
      const own = got.filter((event) => event.user.deviceId === name);
      expect(own).toHaveLength(reports);
      expect(new Set(own.map(({ _id }) => _id)).size).toBe(reports);
      const times = own.map(({ createdAt }) => createdAt);
      expect(times).toEqual(times.toSorted());
    }
    expect(got).toHaveLength(names.length * reports);
    const listed = await until(async () => {
      const { events } = ok(
        await server.as('test_secret').get(`/v1/events?limit=1000&createdAfter=${new Date(startMs - 1).toISOString()}`),
      );
      const barges = events.filter((event: Json) => event.user.deviceId.startsWith('barge-'));
      return barges.length === got.length && barges;
    });
    expect(got.map(({ _id }) => _id).toSorted()).toEqual(listed.map((event: Json) => event._id).toSorted());
  });
});

describe('fenceline tail', () => {
  /** Starts `fenceline tail` and collects its output. */
  function tail(address: string, key: string, ...options: string[]) {
    const child: ChildProcess = spawn(process.execPath, [program, 'tail', '--address', address, ...options], {
      env: { ...process.env, FENCELINE_KEY: key },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    let errors = '';
    child.stdout?.on('data', (bytes: Buffer) => {
      output += bytes;
    });
    child.stderr?.on('data', (bytes: Buffer) => {
      errors += bytes;
    });
    const exited = new Promise<number | NodeJS.Signals | null>((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? signal));
    });
    return { child, exited, lines: () => output.split('\n').slice(0, -1), errors: () => errors };
  }

  /** Resolves when `tail` follows the stream: it has printed an event that was sent for this purpose. */
  async function isFollowing({ lines }: { lines(): string[] }, device: Client): Promise<void> {
    const before = lines().length;
    await until(async () => {
      ok(await device.post('/v1/events', { name: 'ping', deviceId: 'pinger' }));
      return lines().length > before;
    });
  }

  it('prints an event per line, without colours in a pipe, and ends on SIGINT', async () => {
    const { child, exited, lines } = tail(server.address, server.keys.test_secret, '--device', 'tailed');
    const device = server.as('test_publishable');
    await until(async () => {
      await device.track({ deviceId: 'tailed', userId: 'ann', ...standing(0, 0) });
      await device.track({ deviceId: 'tailed', userId: 'ann', ...standing(900, 0) });
      return lines().length >= 2;
    });
    expect(lines()[0]).toMatch(/^\d\d:\d\d:\d\d user\.\w+_geofence +ann +harbour\/gate +confidence \d/);
    expect(lines().every((line) => line.indexOf('confidence') === lines()[0]?.indexOf('confidence'))).toBe(true);
    child.kill('SIGINT');
    expect(await exited).toBe(0);
  });

  it('ends when its output is closed', async () => {
    const { child, exited, lines } = tail(server.address, server.keys.test_secret, '--json', '--from', 'earliest');
    await until(() => lines().length > 0);
    child.stdout?.destroy();
    await until(async () => {
      await server.as('test_publishable').post('/v1/events', { name: 'ping', deviceId: 'pinger' });
      return Promise.race([exited.then(() => true), delay(10, false)]);
    });
    expect(await exited).toBe(0);
  });

  it('reports a wrong or missing key', async () => {
    const wrong = tail(server.address, 'prj_test_sk_wrong');
    expect(await wrong.exited).toBe(1);
    expect(wrong.errors()).toContain('unknown or revoked');
    const keyless = tail(server.address, '');
    expect(await keyless.exited).toBe(2);
    expect(keyless.errors()).toContain('FENCELINE_KEY');
  });

  it('continues at the same event after the server was killed, as JSON lines', async () => {
    const { address, keys } = server;
    const device = new Client(() => address, keys.test_publishable);
    const { lines, errors } = tail(address, keys.test_secret, '--json', '--type', 'user.entered_geofence');
    const seen = tail(address, keys.test_secret, '--json', '--type', 'ping');
    await isFollowing(seen, device);
    const before = await until(async () => {
      const [event] = await trackIn(`yacht-${Math.random()}`, device);
      return lines().length > 0 && event;
    });
    await until(() => lines().some((line) => JSON.parse(line)._id === before._id));
    await server.kill();
    await server.restart(Number(new URL(address).port));
    const after = await Promise.all(Array.from({ length: 5 }, (_, index) => trackIn(`cutter-${index}`, device)));
    const ids = after.flat().map(({ _id }) => _id);
    const shown = () => lines().map((line) => JSON.parse(line)._id);
    await until(() => ids.every((id) => shown().includes(id)), { describe: () => errors() });
    expect(new Set(shown()).size).toBe(shown().length);
    expect(errors()).toContain('retrying in');
  });
});

/** The last test, because a start of the server takes seconds. */
it('a live stream does not delay a stop, and ends in order with the id at which to resume', async () => {
  const response = await fetch(`${server.address}/v1/events/stream`, {
    headers: { authorization: server.keys.test_secret },
  });
  // Rejects if the connection is cut.
  const text = response.text();
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  // A stream that the stop had waited for would have been cut when the drain timeout passed.
  expect(server.process.log().join('\n')).not.toContain('cut off connections');
  expect(await text).toMatch(/^id: /m);
});
