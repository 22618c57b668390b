/**
 * What a publishable key learns about users whom it only names. Regression: `POST /v1/events` with a device id returned
 * that user's id and metadata, and track calls returned everything that was stored.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../pipeline/ports.js';
import { readAll } from '../pipeline/stages/testing/node.js';
import { codecs } from '../schemas/codecs.js';
import { hourMs } from '../schemas/durations.js';
import { type DeviceApi, north, startDeviceApi } from '../testing/device-api.js';

let ingest: DeviceApi;
beforeAll(async () => {
  ingest = await startDeviceApi();
});
afterAll(() => ingest.close());

async function post(url: string, payload: object, key = ingest.publishable) {
  const answer = await ingest.app.inject({ method: 'POST', url, payload, headers: { authorization: key } });
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

/** Everything about a user that an answer must not disclose. */
const secrets = {
  userId: 'ann@example.com',
  description: 'Ann, floor 3',
  metadata: { plan: 'gold-plan' },
  installId: 'install-of-ann',
  deviceModel: 'Pixel of Ann',
  source: 'BACKGROUND_LOCATION',
};
const giveaways = ['ann@example.com', 'Ann', 'gold-plan', 'install-of-ann', 'Pixel', 'BACKGROUND_LOCATION', '50.0004'];

/**
 * A user inside the shop, with all fields that an app can send. Reported an hour ago, so that later locations are
 * newer.
 */
async function known(deviceId: string, more: object = {}): Promise<void> {
  const report = { deviceId, ...secrets, ...more, ...north(50), latitude: 50.0004, updatedAtMsDiff: hourMs };
  expect((await post('/v1/track', report, ingest.secret)).user).toMatchObject({ metadata: secrets.metadata });
}

function expectNothingOf(answer: object): void {
  for (const giveaway of giveaways) expect(JSON.stringify(answer)).not.toContain(giveaway);
}

describe('a conversion', () => {
  it('that names only a device answers nothing of its user', async () => {
    await known('conversion');
    const { event } = await post('/v1/events', { name: 'bought', deviceId: 'conversion' });
    expectNothingOf(event);
    expect(event.user).toEqual({ deviceId: 'conversion' });
  });

  it('answers the same for a user that exists and for one that does not', async () => {
    await known('exists');
    const answers = await Promise.all(
      ['exists', 'missing'].map((deviceId) => post('/v1/events', { name: 'bought', deviceId, userId: secrets.userId })),
    );
    expect(answers[0].event.user).toEqual({ userId: secrets.userId, deviceId: 'exists' });
    expect(answers[1].event.user).toEqual({ userId: secrets.userId, deviceId: 'missing' });
  });

  it('is stored with its user, and shows the user to a secret key', async () => {
    await known('kept');
    const { event } = await post('/v1/events', { name: 'bought', deviceId: 'kept' });
    const stored = (await readAll(ingest.node.embedded, topics.events)).map(({ value }) =>
      codecs.event.decode(value as Buffer),
    );
    expect(stored.find(({ id }) => id === event._id)?.user).toMatchObject({ userId: secrets.userId, deviceId: 'kept' });
    const told = await post('/v1/events', { name: 'bought', deviceId: 'kept' }, ingest.secret);
    expect(told.event.user).toMatchObject({ userId: secrets.userId, metadata: secrets.metadata });
  });
});

describe('a location', () => {
  it('of a device whose user is not named answers nothing of that user', async () => {
    await known('unnamed');
    expectNothingOf(await post('/v1/track', { deviceId: 'unnamed', ...north(500) }));
  });

  it('answers its own fields, and the geofences and beacons of the device', async () => {
    await known('named', { userId: 'bob' });
    const report = {
      deviceId: 'named',
      userId: 'bob',
      ...north(0),
      metadata: { theme: 'dark' },
      deviceModel: 'Fairphone',
    };
    const { user, events } = await post('/v1/track', report);
    expectNothingOf({ user, events });
    expect(user).toMatchObject({
      userId: 'bob',
      metadata: { theme: 'dark' },
      deviceModel: 'Fairphone',
      geofences: [{ tag: 'shop' }],
    });
    const left = await post('/v1/track', { deviceId: 'named', userId: 'bob', ...north(500) });
    expectNothingOf(left);
    expect(left.events[0].user).toEqual({ _id: user._id, userId: 'bob', deviceId: 'named' });
  });

  it('that is older than the newest tells neither where the user went nor what it is inside of', async () => {
    await known('late', { userId: 'bob' });
    const { user, events } = await post('/v1/track', {
      deviceId: 'late',
      userId: 'bob',
      ...north(5_000),
      updatedAtMsDiff: 2 * hourMs,
    });
    expectNothingOf({ user, events });
    expect(user.location.coordinates).toEqual([north(5_000).longitude, north(5_000).latitude]);
    // The geofences at the point that was sent, as /v1/context answers them.
    expect(ingest.asked.context).toMatchObject({ latitude: north(5_000).latitude });
    expect(user.geofences).toEqual([{ _id: '0' }]);
    expect(user.beacons).toEqual([]);
  });

  it('of a replay shows each user as its own item names it', async () => {
    await known('shared', { userId: 'bob' });
    const replays = [
      { deviceId: 'shared', userId: 'bob', ...north(500), updatedAtMsDiff: 2_000 },
      { deviceId: 'shared', userId: 'eve', ...north(0), metadata: { of: 'eve' }, updatedAtMsDiff: 1_000 },
    ];
    const { user, events } = await post('/v1/track/replay', { replays });
    expectNothingOf({ user, events });
    expect(events.map(({ user }: { user: object }) => user)).toMatchObject([{ userId: 'bob' }, { userId: 'eve' }]);
    expect(events[0].user).not.toHaveProperty('metadata');
    expect(user).toMatchObject({ userId: 'eve', metadata: { of: 'eve' } });
  });

  it('shows everything to a secret key', async () => {
    await known('open', { userId: 'bob' });
    const { user, events } = await post('/v1/track', { deviceId: 'open', userId: 'bob', ...north(500) }, ingest.secret);
    expect(user).toMatchObject({ description: secrets.description, metadata: secrets.metadata });
    expect(events[0].user).toMatchObject({ metadata: secrets.metadata });
  });
});

it('a location whose outcome is late answers nothing of the last known user', async () => {
  const slow = await startDeviceApi({ bounds: { replyTimeoutMs: 300 } });
  const inject = (payload: object, key: string) =>
    slow.app.inject({ method: 'POST', url: '/v1/track', payload, headers: { authorization: key } });
  try {
    await inject({ deviceId: 'd', ...secrets, ...north(50), latitude: 50.0004 }, slow.secret);
    await slow.node.drained();
    await slow.node.stop();
    const report = { deviceId: 'd', userId: secrets.userId, ...north(500) };
    const answer = (await inject(report, slow.publishable)).json();
    expect(answer.meta.pending).toBe(true);
    for (const giveaway of giveaways.slice(1)) expect(JSON.stringify(answer)).not.toContain(giveaway);
    expect(answer.user).toMatchObject({ userId: secrets.userId, locationAccuracy: 5, geofences: [{ tag: 'shop' }] });
    const told = (await inject(report, slow.secret)).json();
    expect(told.user).toMatchObject({ metadata: secrets.metadata, location: { coordinates: [10, 50.0004] } });
  } finally {
    await slow.close();
  }
});
