import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PortError } from '../pipeline/errors.js';
import { type DeviceApi, north, startDeviceApi } from '../testing/device-api.js';
import { until } from '../testing/until.js';

const post = (ingest: DeviceApi, url: string, payload: object | string, key = ingest.publishable) =>
  ingest.app.inject({
    method: 'POST',
    url,
    payload,
    headers: {
      authorization: key,
      'content-type': typeof payload === 'string' ? 'application/x-www-form-urlencoded' : 'application/json',
    },
  });

describe('with the location stage running', () => {
  let ingest: DeviceApi;
  beforeAll(async () => {
    ingest = await startDeviceApi();
  });
  afterAll(() => ingest.close());

  it('answers a location with its events', async () => {
    const first = await post(ingest, '/v1/track', { deviceId: 'a', ...north(0) });
    expect(first.statusCode).toBe(200);
    const { meta, events, user } = first.json();
    expect(meta).toEqual({ code: 200 });
    expect(events).toMatchObject([{ type: 'user.entered_geofence', geofence: { tag: 'shop' } }]);
    expect(user).toMatchObject({ deviceId: 'a', live: false, geofences: [{ tag: 'shop' }] });
    const second = (await post(ingest, '/api/v1/track', { deviceId: 'a', ...north(500) })).json();
    expect(second.events).toMatchObject([{ type: 'user.exited_geofence' }]);
    expect(second.user.geofences).toEqual([]);
  });

  it('reads a form, with JSON text where fields are structured', async () => {
    const answer = await post(
      ingest,
      '/v1/track',
      'deviceId=form&latitude=50&longitude=10&accuracy=65&metadata={"a":1}&beacons=[]',
    );
    expect(answer.json()).toMatchObject({ events: [{}], user: { metadata: { a: 1 }, locationAccuracy: 65 } });
  });

  it('accepts the body of a web SDK, with nulls and unknown keys', async () => {
    const answer = await post(ingest, '/v1/track', {
      deviceId: 'web',
      installId: 'web',
      sessionId: '1763700000',
      deviceType: 'Web',
      sdkVersion: '5.2.0',
      latitude: 50,
      longitude: 10,
      foreground: true,
      stopped: true,
      userId: null,
      description: null,
      metadata: null,
      tripOptions: null,
      desiredAccuracy: 'high',
      locationAuthorization: 'GRANTED_FOREGROUND',
    });
    expect(answer.json()).toMatchObject({ events: [{}], user: { deviceType: 'Web', locationAccuracy: 0 } });
  });

  it('replays in order of device time, and leaves broken ones out', async () => {
    const at = (minutesAgo: number) => ({ deviceId: 'r', replayed: true, updatedAtMsDiff: minutesAgo * 60_000 });
    const replays = [
      { ...at(1), ...north(0) },
      { ...at(3), ...north(0) },
      { ...at(2), ...north(500), latitude: 91 },
      { ...at(2), ...north(500) },
      null,
    ];
    const { events, user, rejections } = (await post(ingest, '/v1/track/replay', { replays })).json();
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'user.entered_geofence',
      'user.exited_geofence',
      'user.entered_geofence',
    ]);
    expect(events.every(({ replayed }: { replayed: boolean }) => replayed)).toBe(true);
    expect(user.geofences).toHaveLength(1);
    expect(rejections).toEqual([
      { index: 2, param: 'latitude', message: 'latitude: must be a number from -90 to 90' },
      { index: 4, param: 'deviceId', message: 'deviceId: is required' },
    ]);
    expect(ingest.counted).toMatchObject({
      'locations_accepted_total/replay': 3,
      'locations_rejected_total/replay': 2,
    });
  });

  it.each([
    ['/v1/track', {}, 'deviceId', 'invalid_parameter'],
    ['/v1/track', { deviceId: 'x', ...north(0), latitude: 91 }, 'latitude', 'invalid_parameter'],
    ['/v1/track', { deviceId: 'anonymous', anonymous: true, ...north(0) }, 'anonymous', 'not_available'],
    ['/v1/track/replay', {}, 'replays', 'invalid_parameter'],
    ['/v1/track/replay', { replays: [] }, 'replays', 'invalid_parameter'],
    ['/v1/track/replay', { replays: Array(1_001).fill({}) }, 'replays', 'invalid_parameter'],
    ['/v1/track/replay', { replays: [{ deviceId: 'x' }] }, 'latitude', 'invalid_parameter'],
  ])('%s %j is refused for its %s', async (url, body, param, type) => {
    const answer = await post(ingest, url, body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().meta).toMatchObject({ code: 400, param, type });
  });

  it('accepts a replay of several megabytes and no track of that size', async () => {
    const padded = { deviceId: 'big', ...north(0), padding: 'x'.repeat(2_000_000) };
    expect((await post(ingest, '/v1/track', padded)).statusCode).toBe(413);
    expect((await post(ingest, '/v1/track/replay', { replays: [padded] })).statusCode).toBe(200);
    expect((await post(ingest, '/v1/logs', { logs: [{}, {}], padding: padded.padding })).statusCode).toBe(200);
    expect(ingest.counted.client_log_lines_total).toBe(2);
  });
});

describe('without the location stage', () => {
  let ingest: DeviceApi;
  beforeAll(async () => {
    ingest = await startDeviceApi({ stage: false, bounds: { replyTimeoutMs: 1_000, maxWaitingRequests: 1 } });
  });
  afterAll(() => ingest.close());

  it('answers in time, and says that the outcome is pending', async () => {
    const { meta, events, user } = (
      await post(ingest, '/v1/track', { deviceId: 'new', userId: 'u', ...north(0), deviceMake: 'm' })
    ).json();
    expect(meta).toEqual({ code: 200, pending: true });
    expect(events).toEqual([]);
    expect(user).toMatchObject({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      deviceId: 'new',
      userId: 'u',
      deviceMake: 'm',
      geofences: [],
    });
    expect(ingest.counted.track_replies_timed_out_total).toBe(1);
  });

  it('refuses requests beyond the limit of waiting ones', async () => {
    const answers = await Promise.all(
      ['a', 'b'].map((deviceId) => post(ingest, '/v1/track', { deviceId, ...north(0) })),
    );
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 503]);
    const refused = answers.find(({ statusCode }) => statusCode === 503);
    expect(refused?.headers['retry-after']).toBe('1');
    expect(refused?.json().meta.type).toBe('overloaded');
  });
});

it('names, while the outcome is pending, the user record that will be stored', async () => {
  const ingest = await startDeviceApi({ stage: false, bounds: { replyTimeoutMs: 20 } });
  try {
    const startMs = Date.now() - 60_000;
    const replays = [2, 1, 3].map((second) => ({
      deviceId: 'd',
      ...north(second),
      updatedAtMs: startMs + second * 1_000,
      ...(second === 3 && { userId: 'ann' }),
    }));
    const pending = (await post(ingest, '/v1/track/replay', { replays }, ingest.secret)).json();
    expect(pending).toMatchObject({ meta: { pending: true }, user: { userId: 'ann' } });
    ingest.node.start();
    await ingest.node.drained();
    const held = (await ingest.node.outcomes()).map(({ user }) => user);
    expect(held).toEqual([pending.user._id, pending.user._id, pending.user._id]);

    await ingest.node.stop();
    const late = { deviceId: 'd', userId: 'bob', ...north(0), updatedAtMs: startMs };
    expect((await post(ingest, '/v1/track', late, ingest.secret)).json()).toMatchObject({
      meta: { pending: true },
      user: { _id: pending.user._id, userId: 'ann' },
    });
  } finally {
    await ingest.close();
  }
});

it('repeats the last known user when the stage has stopped', async () => {
  const ingest = await startDeviceApi({ bounds: { replyTimeoutMs: 2_000 } });
  try {
    // On a busy machine the first outcomes may be late.
    const before = await until(async () => {
      const answer = (await post(ingest, '/v1/track', { deviceId: 'd', ...north(0) }, ingest.secret)).json();
      return answer.meta.pending !== true && answer;
    });
    await ingest.node.stop();
    const after = (await post(ingest, '/v1/track', { deviceId: 'd', ...north(500) }, ingest.secret)).json();
    expect(after.meta.pending).toBe(true);
    expect(after.user).toEqual(before.user);
  } finally {
    await ingest.close();
  }
});

// Only full logs were counted. While Kafka was away, no location was accepted, and no alert told it.
it.each([
  ['full', 'overloaded', 1],
  ['away', 'unavailable', 5],
] as const)('answers 503 with Retry-After when the log is %s, and counts it', async (_, code, retryAfterS) => {
  const full = async () => {
    throw new PortError(code, 'the log is behind', { retryAfterS });
  };
  const ingest = await startDeviceApi({ stage: false, log: (log) => ({ partitionOf: log.partitionOf, append: full }) });
  try {
    const answer = await post(ingest, '/v1/track', { deviceId: 'd', ...north(0) });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe(`${retryAfterS}`);
    expect(ingest.counted['ingest_overloaded_total/track']).toBe(1);
  } finally {
    await ingest.close();
  }
});
