/** Tests the path from accepted locations to a real receiver, through the real stages and outbound client. */
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openClient } from '../../../outbound/testing/clients.js';
import { Receiver } from '../../../testing/receiver.js';
import { until } from '../../../testing/until.js';
import { systemTimers } from '../background.js';
import { geofenceRecord, location } from '../testing/node.js';
import { idOf, WebhookNode, webhookRecord } from './testing/stage.js';
import { secretText } from './testing/webhooks.js';

let node: WebhookNode;
let receiver: Receiver;

beforeEach(async () => {
  node = await WebhookNode.open(2);
  receiver = await Receiver.start();
});
afterEach(async () => {
  await node.dispose();
  await receiver.close();
});

const inside = { longitude: 10, latitude: 50 };
const real = { clock: Date.now, timers: systemTimers };
const nowMs = Date.now();

/** Returns the n-th location of a device: inside the geofences for even numbers, outside for odd ones. */
const step = (device: number, number: number) =>
  location({
    id: idOf(`location of ${device}`, number),
    deviceId: `device ${device}`,
    userId: 'ann',
    ...(number % 2 === 0 ? inside : { longitude: 11, latitude: 50 }),
    occurredAt: nowMs + number,
    receivedAt: nowMs + number,
  });

test('a location that enters seven geofences makes two signed requests with the stored user', async () => {
  const fences = Array.from({ length: 7 }, (_, number) =>
    geofenceRecord({ externalId: `${number}`, center: [10, 50] }),
  );
  const hook = webhookRecord({ url: receiver.url('/hook'), delivery: 'grouped', tags: ['shop'] });
  await node.node.configure(...fences.map((record) => ({ kind: 'geofence' as const, record })));
  await node.configure(hook);
  node.node.start();
  node.start({ ...real, client: openClient() });
  await node.node.append(step(1, 0));
  await until(() => receiver.requests.length === 2);

  const bodies = receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  expect(bodies.map(({ events }) => events.length)).toEqual([5, 2]);
  for (const { user, events } of bodies) {
    expect(user).toMatchObject({ userId: 'ann', deviceId: 'device 1', location: { coordinates: [10, 50] } });
    expect(user.geofences).toHaveLength(7);
    expect(events[0]).toMatchObject({
      type: 'user.entered_geofence',
      geofence: { tag: 'shop' },
      user: { _id: user._id },
    });
  }
  for (const { body, headers } of receiver.requests) {
    new Webhook(secretText(1)).verify(body, headers as Record<string, string>);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-radar-signing-id': JSON.parse(body.toString()).events[0]._id,
    });
  }
});

test('every event arrives across restarts', async () => {
  const [steps, devices] = [10, 20];
  const hooks = ['/a', '/b'].map((path) =>
    webhookRecord({ _id: idOf('hook', path.charCodeAt(1)), url: receiver.url(path) }),
  );
  await node.node.configure({ kind: 'geofence', record: geofenceRecord({ center: [10, 50] }) });
  await node.configure(...hooks);
  // The receiver doesn't respond until the first restart, which therefore interrupts attempts.
  const loaded: (() => void)[] = [];
  receiver.answering = (_, response) => void loaded.push(() => response.writeHead(204).end());
  const start = () => {
    node.node.start();
    node.start({ ...real, client: openClient() });
  };
  start();
  for (let number = 0; number < steps; number++) {
    await node.node.append(...Array.from({ length: devices }, (_, device) => step(device, number)));
    if (number % 4 !== 2) continue;
    await until(() => receiver.requests.length > 0);
    const closed = node.reopen();
    receiver.answering = (_, response) => void response.writeHead(204).end();
    for (const answer of loaded.splice(0)) answer();
    await closed;
    start();
  }
  const arrived = (path: string) => new Set(receiver.at(path).map(({ body }) => JSON.parse(body.toString()).event._id));
  await until(() => arrived('/a').size === steps * devices && arrived('/b').size === steps * devices);
  await node.node.drained();
  const events = (await node.node.events()).map(({ id }) => id);
  expect([...arrived('/a')].sort()).toEqual([...events].sort());
  expect([...arrived('/b')].sort()).toEqual([...events].sort());
});
