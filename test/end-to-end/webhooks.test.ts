/** Webhooks end to end: a real receiver, and signatures checked by an independent implementation. */
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answering, acknowledging, type ReceivedRequest, Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { type Client, type Json, ok } from '../support/client.js';
import { at, circle, standing } from '../support/places.js';
import { TestServer } from '../support/server.js';
import { SharedServer } from '../support/shared-server.js';

let server: TestServer;
let receiver: Receiver;
let device: Client;
let backend: Client;
let names = 0;

beforeAll(async () => {
  server = await TestServer.start({
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
    // In seconds. One test waits for the first retry.
    FENCELINE_WEBHOOKS_RETRY_SCHEDULE: '0.5,300,1800',
  });
  receiver = await Receiver.start();
  device = server.as('test_publishable');
  backend = server.as('test_secret');
});
afterAll(async () => {
  await server?.dispose();
  await receiver?.close();
});
beforeEach(() => {
  receiver.answering = acknowledging;
});

const newName = (): string => `name-${++names}`;

interface Subject {
  readonly tag: string;
  readonly path: string;
  readonly webhook: Json;
  readonly secret: string;
}

/** Creates a fence with a new tag, and a webhook for that tag alone at a new path. */
async function subject(fields: object = {}, place = names * 1_000): Promise<Subject & { readonly eastM: number }> {
  const tag = newName();
  const path = `/${tag}`;
  await backend.putGeofence('fence', circle(place, 0, 100), tag);
  const { webhook } = ok(await backend.post('/v1/webhooks', { url: receiver.url(path), tags: [tag], ...fields }));
  return { tag, path, webhook, secret: webhook.secrets[0].secret, eastM: place };
}

const arrived = (path: string, count: number): Promise<ReceivedRequest[]> =>
  until(() => receiver.at(path).length >= count && receiver.at(path), {
    describe: () => `${receiver.at(path).length} requests`,
  });

const bodyOf = ({ body }: ReceivedRequest): Json => JSON.parse(body.toString());

/** Throws unless the signature is valid. */
function verify({ body, headers }: ReceivedRequest, secret: string): void {
  new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
}

const attemptsOf = async (id: string, count: number): Promise<Json[]> =>
  until(async () => {
    const { attempts } = ok(await backend.get(`/v1/webhooks/${id}/attempts`));
    return attempts.length >= count && attempts;
  });

describe('a webhook', () => {
  it('receives an event with its user, signed', async () => {
    const { eastM, path, secret, tag } = await subject();
    const deviceId = newName();
    const { events } = await device.track({ deviceId, userId: 'somebody', ...standing(eastM, 0) });
    const [request] = await arrived(path, 1);
    expect(request?.headers).toMatchObject({ 'content-type': expect.stringContaining('application/json') });
    verify(request!, secret);
    const { event, user } = bodyOf(request!);
    expect(event).toEqual(events[0]);
    expect(user).toMatchObject({ deviceId, userId: 'somebody', geofences: [{ tag, externalId: 'fence' }] });
    expect(() => verify(request!, `whsec_${Buffer.alloc(32).toString('base64')}`)).toThrow();
  });

  it('receives the position of a beacon with its events', async () => {
    const { path, tag } = await subject();
    const ranged = { type: 'ibeacon', uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d', major: '1', minor: '2' };
    const { geometry } = await backend.putBeacon('door', { ...ranged, coordinates: at(5, 0) }, tag);
    const { events } = await device.track({ deviceId: newName(), ...standing(0, 50_000), beacons: [ranged] });
    const [request] = await arrived(path, 1);
    expect(bodyOf(request!).event).toEqual(events[0]);
    expect(events[0].beacon.geometry).toEqual(geometry);
  });

  it('receives the events of one location together when its delivery is grouped', async () => {
    const { eastM, path, tag } = await subject({ delivery: 'grouped' });
    for (let index = 0; index < 6; index++)
      await backend.putGeofence(`more-${index}`, circle(eastM, 0, 50 + index), tag);
    const { events } = await device.track({ deviceId: newName(), ...standing(eastM, 0) });
    expect(events).toHaveLength(7);
    const bodies = (await arrived(path, 2)).map(bodyOf);
    expect(bodies.map((body) => body.events.length)).toEqual([5, 2]);
    expect(bodies.flatMap((body) => body.events)).toEqual(events);
  });

  it('receives only events of its types and tags', async () => {
    const { eastM, path } = await subject({ types: ['user.exited_geofence'] });
    const deviceId = newName();
    await device.track({ deviceId, ...standing(eastM, 0) });
    await device.track({ deviceId, ...standing(eastM, 500) });
    const requests = await arrived(path, 1);
    expect(requests.map((request) => bodyOf(request).event.type)).toEqual(['user.exited_geofence']);
  });

  it('is signed with both secrets during a rotation', async () => {
    const { eastM, path, secret, webhook } = await subject();
    const rotated = ok(await backend.post(`/v1/webhooks/${webhook._id}/secrets`, { overlapHours: 1 }));
    const fresh = rotated.webhook.secrets[0].secret;
    await device.track({ deviceId: newName(), ...standing(eastM, 0) });
    const [request] = await arrived(path, 1);
    verify(request!, secret);
    verify(request!, fresh);
  });

  it('is retried after a failure with the same id and bytes, and every attempt is recorded', async () => {
    const { eastM, path, webhook } = await subject();
    const failingOnce: Answering = (request, response) => {
      const first = receiver.at(path)[0] === request;
      response.writeHead(first ? 500 : 200, { 'x-answer': 'yes' }).end(first ? 'no luck' : 'thanks');
    };
    receiver.answering = failingOnce;
    await device.track({ deviceId: newName(), ...standing(eastM, 0) });
    const [first, second] = await arrived(path, 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body.equals(first!.body)).toBe(true);
    const [latest, earliest] = await attemptsOf(webhook._id, 2);
    expect(earliest).toMatchObject({
      attempt: 1,
      result: 'refused',
      state: 'retrying',
      response: { status: 500, body: 'no luck' },
    });
    expect(latest).toMatchObject({
      attempt: 2,
      result: 'delivered',
      state: 'delivered',
      response: { headers: { 'x-answer': 'yes' } },
    });
    expect(latest.request.body).toBe(second?.body.toString());
  });

  it('is disabled with a reason when its endpoint answers 410', async () => {
    const { eastM, path, webhook } = await subject();
    receiver.answering = (_, response) => void response.writeHead(410).end();
    await device.track({ deviceId: newName(), ...standing(eastM, 0) });
    await arrived(path, 1);
    const disabled = await until(async () => {
      const answer = ok(await backend.get(`/v1/webhooks/${webhook._id}`)).webhook;
      return !answer.enabled && answer;
    });
    expect(disabled.disabled.reason).toBe('gone');
  });

  it('lists a pending retry, and drops it once the webhook is deleted', async () => {
    const { eastM, path, webhook } = await subject();
    receiver.answering = (_, response) => void response.writeHead(503, { 'retry-after': '600' }).end();
    const { events } = await device.track({ deviceId: newName(), ...standing(eastM, 0) });
    await arrived(path, 1);
    const [retry] = await until(async () => {
      const { deliveries } = ok(await backend.get(`/v1/webhooks/${webhook._id}/deliveries`));
      return deliveries[0]?.attempts === 1 && deliveries;
    });
    expect(retry).toMatchObject({ events: [events[0]._id], reason: 'event' });
    expect(Date.parse(retry.nextAttemptAt)).toBeGreaterThan(Date.now());
    ok(await backend.delete(`/v1/webhooks/${webhook._id}`));
    // The delivery of the webhook that answered 410 remains.
    await until(async () => (await waitingDeliveries()) === 1);
    expect((await backend.get(`/v1/webhooks/${webhook._id}/deliveries`)).status).toBe(404);
  });

  async function waitingDeliveries(): Promise<number> {
    const { body: text } = await server.withKey(undefined).get('/metrics');
    return Number(/^fenceline_webhook_deliveries_pending (\d+)$/m.exec(text)?.[1]);
  }

  it('redelivers an event with the same id and bytes', async () => {
    const { eastM, path, webhook } = await subject();
    const { events } = await device.track({ deviceId: newName(), ...standing(eastM, 0) });
    const [first] = await arrived(path, 1);
    await attemptsOf(webhook._id, 1);
    const redelivery = await until(async () => {
      const answer = await backend.post(`/v1/webhooks/${webhook._id}/redeliver`, { event: events[0]._id });
      return answer.status === 200 && answer.body;
    });
    expect(redelivery.deliveries).toBe(1);
    const [, again] = await arrived(path, 2);
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(again?.body.equals(first!.body)).toBe(true);
  });

  it('answers a test request with the attempt', async () => {
    const { path, webhook, secret } = await subject();
    receiver.answering = (_, response) => void response.writeHead(202).end('ok');
    const { attempt } = ok(await backend.post(`/v1/webhooks/${webhook._id}/test`, {}));
    expect(attempt).toMatchObject({ reason: 'test', result: 'delivered', response: { status: 202, body: 'ok' } });
    verify(receiver.at(path)[0]!, secret);
  });
});

/**
 * Returns a name outside of `localhost` that the hosts file maps to a loopback address. The API cannot refuse it by its
 * text. Debian and Docker write such names.
 */
function loopbackName(): string | undefined {
  const lines = readFileSync('/etc/hosts', 'utf8').split('\n');
  const names = lines
    .filter((line) => /^(127\.|::1\s)/.test(line))
    .flatMap((line) => line.trim().split(/\s+/).slice(1));
  return names.find((name) => /^[a-z][a-z0-9.-]*$/.test(name) && !/(^|\.)localhost$/.test(name));
}

describe('without allowed networks', () => {
  it('webhooks never reach private addresses, however they are written', async ({ skip }) => {
    const name = loopbackName();
    skip(name === undefined && !process.env.CI, 'the hosts file gives no name but localhost a loopback address');
    // The server that files share allows no networks for webhooks.
    const owner = (await SharedServer.newProject()).as('test_secret');
    const port = new URL(receiver.url()).port;
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost']) {
      const answer = await owner.post('/v1/webhooks', { url: `http://${host}:${port}/strict` });
      expect([host, answer.status, answer.body.meta.param]).toEqual([host, 400, 'url']);
    }
    // Only the connection reveals that a name resolves to a private address.
    const { webhook } = ok(await owner.post('/v1/webhooks', { url: `http://${name}:${port}/strict` }));
    const { attempt } = ok(await owner.post(`/v1/webhooks/${webhook._id}/test`, {}));
    expect(attempt.result).toBe('address_refused');
    expect(receiver.at('/strict')).toEqual([]);
  });
});
