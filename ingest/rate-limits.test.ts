/**
 * Rate limits of locations. Regressions: `{"deviceId": 42}` and `replays` sent as text counted for no device, and
 * nothing limited a key or a project.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { topics } from '../pipeline/ports.js';
import { readAll } from '../pipeline/stages/testing/node.js';
import { type DeviceApi, type DeviceApiOptions, north, startDeviceApi } from '../testing/device-api.js';

let ingest: DeviceApi;
afterEach(() => ingest.close());

/**
 * Starts the API without evaluation: a call is answered as pending at once. Time stands still by default, so that no
 * bucket refills between two calls.
 */
async function start(
  rateLimits: Exclude<DeviceApiOptions['rateLimits'], undefined>,
  rateClock: DeviceApiOptions['rateClock'] = () => 0,
): Promise<void> {
  ingest = await startDeviceApi({ stage: false, bounds: { replyTimeoutMs: 1 }, rateLimits, rateClock });
}

type Payload = object | string;

function post(url: string, payload: Payload, type = 'application/json', key = ingest.publishable) {
  return ingest.app.inject({ method: 'POST', url, payload, headers: { authorization: key, 'content-type': type } });
}
const form = 'application/x-www-form-urlencoded';
const point = 'latitude=50&longitude=10&accuracy=5';

/** Sends the same call several times, one after the other, and returns the statuses. */
async function statusesOf(times: number, send: (index: number) => ReturnType<typeof post>): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index++) statuses.push((await send(index)).statusCode);
  return statuses;
}

describe('a device', () => {
  const bodies: [string, string, Payload, string][] = [
    ['whose id is text', '/v1/track', { deviceId: '42', ...north(0) }, 'application/json'],
    ['whose id is a number', '/v1/track', { deviceId: 42, ...north(0) }, 'application/json'],
    ['in a form', '/v1/track', `deviceId=42&${point}`, form],
    ['in a replay', '/v1/track/replay', { replays: [{ deviceId: 42, ...north(0) }] }, 'application/json'],
    [
      'in a replay as text',
      '/v1/track/replay',
      { replays: JSON.stringify([{ deviceId: 42, ...north(0) }]) },
      'application/json',
    ],
    ['in a replay in a form', '/v1/track/replay', `replays=${JSON.stringify([{ deviceId: '42', ...north(0) }])}`, form],
    [
      'that is not the first of a replay',
      '/v1/track/replay',
      { replays: [null, { deviceId: 'x' }, { deviceId: '42', ...north(0) }] },
      'application/json',
    ],
  ];

  it.each(bodies)('%s is counted (fault: other spellings passed by the limit)', async (_, url, payload, type) => {
    await start({ trackPerDevicePerSecond: 2 });
    expect(await statusesOf(3, () => post(url, payload, type))).toEqual([200, 200, 429]);
  });

  it('is the same, however its id is written', async () => {
    await start({ trackPerDevicePerSecond: bodies.length });
    for (const [, url, payload, type] of bodies) expect((await post(url, payload, type)).statusCode).toBe(200);
    for (const [, url, payload, type] of bodies) expect((await post(url, payload, type)).statusCode).toBe(429);
    expect((await post('/v1/track', { deviceId: '43', ...north(0) })).statusCode).toBe(200);
  });

  it('gets the rest of its limit and the time to retry; a refused location is not stored', async () => {
    await start({ trackPerDevicePerSecond: 1 });
    const first = await post('/v1/track', { deviceId: 'd', ...north(0) });
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
    const second = await post('/v1/track', { deviceId: 'd', ...north(0) });
    expect(second.json().meta).toMatchObject({
      code: 429,
      type: 'rate_limited',
      message: 'more than 1 track calls a second from this device',
    });
    expect(second.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
    });
    expect(await readAll(ingest.node.embedded, topics.locations)).toHaveLength(1);
  });
});

describe('a key (fault: track had no limit per key)', () => {
  it('is limited in calls, whatever devices it names; another key is not', async () => {
    await start({ trackPerKeyPerSecond: 3 });
    expect(await statusesOf(4, (index) => post('/v1/track', { deviceId: `d${index}`, ...north(0) }))).toEqual([
      200, 200, 200, 429,
    ]);
    expect(
      (await post('/v1/track', { deviceId: 'd', ...north(0) }, 'application/json', ingest.secret)).statusCode,
    ).toBe(200);
  });

  it('is limited before its body is read', async () => {
    await start({ trackPerKeyPerSecond: 1 });
    expect(await statusesOf(2, () => post('/v1/track', '{"broken', 'application/json'))).toEqual([400, 429]);
  });

  it('pays for every location of a replay', async () => {
    await start({ locationsPerKeyPerSecond: 10 });
    const replays = (count: number) => ({
      replays: Array.from({ length: count }, (_, index) => ({ deviceId: `d${index}`, ...north(0) })),
    });
    expect((await post('/v1/track/replay', replays(8))).statusCode).toBe(200);
    const refused = await post('/v1/track/replay', replays(8));
    expect(refused.statusCode).toBe(429);
    expect(refused.json().meta.message).toBe('more than 10 locations a second with this key');
    expect((await post('/v1/track', { deviceId: 'd', ...north(0) })).statusCode).toBe(200);
    expect(await readAll(ingest.node.embedded, topics.locations)).toHaveLength(9);
  });

  it('may send a replay of more locations than a second holds, and waits afterwards', async () => {
    await start({ locationsPerKeyPerSecond: 5 });
    const replays = Array.from({ length: 50 }, () => ({ deviceId: 'd', ...north(0) }));
    expect((await post('/v1/track/replay', { replays })).statusCode).toBe(200);
    const refused = await post('/v1/track', { deviceId: 'd', ...north(0) });
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(8);
  });

  it('that is refused for one limit has paid for none', async () => {
    await start({ locationsPerKeyPerSecond: 2, trackPerDevicePerSecond: 1 });
    const track = (deviceId: string) => post('/v1/track', { deviceId, ...north(0) });
    expect((await track('a')).statusCode).toBe(200);
    expect(await statusesOf(3, () => track('a'))).toEqual([429, 429, 429]);
    expect((await track('b')).statusCode).toBe(200);
  });
});

describe('a project', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => JSON.stringify({ deviceId: `d${index}`, ...north(0) })).join('\n');
  const upload = (count: number) => post('/v1/locations', lines(count), 'application/x-ndjson', ingest.secret);

  it('is limited in calls of all its keys together', async () => {
    await start({ trackPerProjectPerSecond: 2 });
    const keys = [ingest.publishable, ingest.secret, ingest.publishable];
    const send = (index: number) =>
      post('/v1/track', { deviceId: `d${index}`, ...north(0) }, 'application/json', keys[index]);
    expect(await statusesOf(3, send)).toEqual([200, 200, 429]);
  });

  it('pays for uploads, the small ones too', async () => {
    await start({ locationsPerProjectPerSecond: 10 });
    expect((await upload(10)).json()).toMatchObject({ accepted: 10 });
    const refused = await upload(1);
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-limit': '10' });
    expect((await post('/v1/track', { deviceId: 'd', ...north(0) })).statusCode).toBe(429);
  });

  it('has a large upload slowed down, not refused', async () => {
    await start({ locationsPerProjectPerSecond: 4_000 }, Date.now);
    const startMs = performance.now();
    expect((await upload(8_000)).json()).toMatchObject({ accepted: 8_000 });
    // The bucket has the first of two seconds' tokens.
    expect(performance.now() - startMs).toBeGreaterThan(900);
  });
});
