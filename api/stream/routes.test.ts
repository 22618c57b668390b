import { connect, type Socket } from 'node:net';
import { Agent, EventSource } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PortError } from '../../pipeline/errors.js';
import type { Event } from '../../schemas/records.js';
import { eventJson } from '../../schemas/wire/user.js';
import { until } from '../../testing/until.js';
import { Browser, invited, password, signedUp } from '../accounts/testing/browser.js';
import { adminApiKey } from '../testing/fixtures.js';
import { encodePosition, parsePosition } from './position.js';
import { openStream } from './testing/open-stream.js';
import { type Subscribers, startSubscribers } from './testing/server.js';
import { eventOf, publish } from './testing/topic.js';

let server: Subscribers;
beforeAll(async () => {
  server = await startSubscribers();
});
afterAll(() => server.close());

const projectId = () => server.api.project.record._id;
const newEvents = (count: number, like: Parameters<typeof eventOf>[1] = {}) =>
  Array.from({ length: count }, () => eventOf(projectId(), like));
const publishHere = (...events: Event[]) => publish(server.api.log, events);

/** Opens a stream; closed when the test ends. */
async function open(query = '', headers: Record<string, string> = {}, key = server.api.secret, { address } = server) {
  const stream = await openStream(`${address}/v1/events/stream${query}`, key, headers);
  onTestFinished(stream.close);
  return stream;
}

describe('a stream', () => {
  test('sends its content type, its start, and each event in wire form', async () => {
    const stream = await open();
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream(;|$)/);
    expect(stream.response.headers.get('cache-control')).toBe('no-store');
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
    expect(stream.response.headers.get('x-radar-request-id')).toBeTruthy();
    await until(() => stream.lastEventId() !== '');
    const [event] = newEvents(1);
    await publishHere(event!);
    await until(() => stream.messages().length === 1);
    expect(stream.messages()[0]!.type).toBe('a');
    expect(JSON.parse(stream.messages()[0]!.data)).toEqual(eventJson(event!));
  });

  test('sends matching events of its own project and environment only', async () => {
    const [all, filtered] = [await open(), await open('?type=b&deviceId=fleet%2Fdevice%2F1')];
    const other = await server.api.newProject('Other');
    const wanted = eventOf(projectId(), { device: 1, type: 'b' });
    const alike = { ...wanted, id: 'a'.repeat(24) };
    await publishHere({ ...alike, project: other.record._id }, { ...alike, environment: 'live' });
    await publishHere(eventOf(projectId(), { device: 1 }), eventOf(projectId(), { device: 2, type: 'b' }), wanted);
    await until(() => all.ids().length === 3);
    expect(all.ids()).toContain(wanted.id);
    await until(() => filtered.ids().length === 1);
    expect(filtered.ids()).toEqual([wanted.id]);
  });

  test.each([
    ['header', (id: string) => open('?from=earliest', { 'last-event-id': id })],
    ['parameter', (id: string) => open(`?from=earliest&lastEventId=${id}`)],
  ])('resumes after the id in its %s', async (_, reopen) => {
    const first = await open();
    await until(() => first.lastEventId() !== '');
    const [seen, missed, later] = [newEvents(1), newEvents(300), newEvents(1)];
    await publishHere(...seen);
    await until(() => first.ids().length === 1);
    first.close();
    await publishHere(...missed);
    const second = await reopen(first.lastEventId());
    await until(() => second.ids().length === 300);
    await publishHere(...later);
    await until(() => second.ids().length === 301);
    expect(second.ids()).toEqual([...missed, ...later].map(({ id }) => id));
  });

  test('starts with the oldest held event on request', async () => {
    const own = await server.api.newProject('From the start');
    const events = Array.from({ length: 20 }, (_, device) => eventOf(own.record._id, { device }));
    await publishHere(...events);
    const stream = await open('?from=earliest', {}, own.key('test', 'secret'));
    await until(() => stream.ids().length === 20);
    expect(stream.ids().toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });

  test.each([
    ['?lastEventId=nonsense', {}, 'lastEventId'],
    [`?lastEventId=${encodePosition([1])}`, {}, 'lastEventId'],
    ['', { 'last-event-id': '12' }, 'Last-Event-ID'],
    ['?from=yesterday', {}, 'from'],
    ['?type=user.entered_geofense', {}, 'type'],
    [`?tag=${'x'.repeat(300)}`, {}, 'tag'],
  ])('%s %j is refused', async (query, headers, param) => {
    const { response } = await open(query, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ meta: { type: 'invalid_parameter', param } });
  });

  test('requires a secret key', async () => {
    for (const [key, status] of [
      ['', 401],
      ['prj_test_sk_wrong', 401],
      [server.api.project.key('test', 'publishable'), 403],
      [adminApiKey, 403],
    ] as const) {
      expect((await open('', {}, key)).response.status).toBe(status);
    }
  });

  // It answered 405 here, and 404 beside the routes of one event.
  test('has a HEAD that answers like GET, and opens no stream', async () => {
    const head = (query: string) =>
      fetch(`${server.address}/v1/events/stream${query}`, {
        method: 'HEAD',
        headers: { authorization: server.api.secret },
      });
    const { status, headers } = await head('');
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([
      200,
      'text/event-stream',
      null,
    ]);
    expect((await head('?from=nowhere')).status).toBe(400);
  });
});

test('a browser reconnects by itself and gets each event once', async () => {
  const { address, api, app } = server;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    const headers = { ...(options.headers as Record<string, string>), authorization: api.secret };
    return dispatch({ ...options, headers }, handler);
  });
  const source = new EventSource(`${address}/v1/events/stream`, { node: { dispatcher, reconnectionTime: 100 } });
  onTestFinished(() => source.close());
  const ids: string[] = [];
  source.addEventListener('a', (message) => ids.push(JSON.parse((message as MessageEvent).data)._id));
  let opened = 0;
  source.addEventListener('open', () => {
    opened += 1;
  });
  await until(() => opened === 1);
  const events = newEvents(30);
  await publishHere(...events.slice(0, 10));
  await until(() => ids.length === 10);
  app.server.closeAllConnections();
  await publishHere(...events.slice(10, 20));
  await until(() => opened >= 2 && ids.length === 20);
  await publishHere(...events.slice(20));
  await until(() => ids.length === 30);
  expect(ids).toEqual(events.map(({ id }) => id));
});

describe('heartbeats and checks', () => {
  test('update the position of a stream without events', async () => {
    const quick = await startSubscribers({ heartbeatMs: 20 });
    onTestFinished(quick.close);
    const { log, secret, project } = quick.api;
    const stream = await open('?type=none', {}, secret, quick);
    await publish(
      log,
      Array.from({ length: 25 }, (_, device) => eventOf(project.record._id, { device })),
    );
    const total = () =>
      parsePosition(stream.lastEventId(), log.partitions('events'))?.reduce((sum, offset) => sum + offset, 0);
    await until(() => total() === 25);
    expect(stream.messages()).toEqual([]);
    expect(stream.text()).toMatch(/^:/m);
  });

  test('end the streams of a replaced API key, and no others', async () => {
    const quick = await startSubscribers({ heartbeatMs: 20, authorityCheckMs: 20 });
    onTestFinished(quick.close);
    const { call, project, secret } = quick.api;
    const [revoked, other] = [
      await open('', {}, secret, quick),
      await open('', {}, project.key('live', 'secret'), quick),
    ];
    const body = { environment: 'test', kind: 'secret' };
    const { status } = await call('POST', `/v1/projects/${project.record._id}/keys/rotate`, {
      key: adminApiKey,
      body,
    });
    expect(status).toBe(200);
    await until(() => revoked.isClosed);
    const position = other.text().length;
    await until(() => other.text().length > position);
    expect(other.isClosed).toBe(false);
  });

  test('end the streams of a session that is signed out and of a member who is removed, and no others', async () => {
    const quick = await startSubscribers({ heartbeatMs: 20, authorityCheckMs: 20 });
    onTestFinished(quick.close);
    const { browser: owner, email } = await signedUp(quick.api);
    const viewer = await invited(quick.api, owner, 'viewer');
    const elsewhere = new Browser(quick.api);
    await elsewhere.send('POST', '/v1/signin', { body: { email, password } });
    const streamOf = ({ cookie }: Browser) => open('', { cookie, 'sec-fetch-site': 'same-origin' }, '', quick);
    const [signedOut, removed, other] = [
      await streamOf(owner),
      await streamOf(viewer.browser),
      await streamOf(elsewhere),
    ];
    const beats = async (stream: typeof other, count: number) => {
      const wanted = stream.text().length + count;
      await until(() => stream.text().length > wanted);
    };
    for (const stream of [signedOut, removed, other]) await beats(stream, 20);
    expect((await owner.send('POST', '/v1/signout', { body: {} })).status).toBe(200);
    await until(() => signedOut.isClosed);
    const { status } = await elsewhere.send('DELETE', `/v1/members/${viewer.account._id}`);
    expect(status).toBe(200);
    await until(() => removed.isClosed);
    await beats(other, 20);
    expect(other.isClosed).toBe(false);
  });
});

describe('bounds', () => {
  test('limit the streams per key and per node; closed streams free their slots', async () => {
    const small = await startSubscribers({ maxFollowers: 3, maxFollowersPerKey: 2 });
    onTestFinished(small.close);
    const { secret, project } = small.api;
    const live = project.key('live', 'secret');
    const statusOf = async (key: string) => {
      const { response } = await open('', {}, key, small);
      return [response.status, response.headers.has('retry-after')];
    };
    const first = await open('', {}, secret, small);
    expect(await statusOf(secret)).toEqual([200, false]);
    expect(await statusOf(secret)).toEqual([429, true]);
    expect(await statusOf(live)).toEqual([200, false]);
    expect(await statusOf(live)).toEqual([503, true]);
    first.close();
    await until(async () => (await statusOf(live))[0] === 200);
  });

  // A project with ten keys or sessions took all streams of a node.
  test('leave other projects their streams', async () => {
    const small = await startSubscribers({ maxFollowers: 3, maxFollowersPerProject: 2 });
    onTestFinished(small.close);
    const { secret, project, newProject } = small.api;
    const statusOf = async (key: string) => (await open('', {}, key, small)).response.status;
    expect(await statusOf(secret)).toBe(200);
    expect(await statusOf(project.key('live', 'secret'))).toBe(200);
    expect(await statusOf(project.key('live', 'secret'))).toBe(429);
    expect(await statusOf((await newProject('Other')).key('test', 'secret'))).toBe(200);
  });

  test('disconnect a client that does not read, while another gets everything', async () => {
    const { port, api, app } = server;
    const largeEvent = () => ({ ...eventOf(projectId()), metadata: JSON.stringify({ filler: 'x'.repeat(50_000) }) });
    const reader = await open();
    /** The server sides of new connections, by the ports of the clients. */
    const accepted = new Map<number, Socket>();
    const accept = (socket: Socket) => void accepted.set(socket.remotePort!, socket);
    app.server.on('connection', accept);
    onTestFinished(() => void app.server.off('connection', accept));
    const slow: Socket = connect(port, '127.0.0.1').pause();
    slow.on('error', () => {});
    onTestFinished(() => void slow.destroy());
    slow.write(`GET /v1/events/stream HTTP/1.1\r\nHost: here\r\nAuthorization: ${api.secret}\r\n\r\n`);
    const served = await until(() => accepted.get(slow.localPort!));

    const sent: string[] = [];
    // The sockets' buffers hold some megabytes first.
    await until(async () => {
      const events = Array.from({ length: 10 }, largeEvent);
      await publishHere(...events);
      sent.push(...events.map(({ id }) => id));
      await until(() => reader.text().includes(sent.at(-1)!));
      return served.destroyed;
    });
    expect(reader.ids()).toEqual(sent);
    const dropped = server.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => /too slowly/.test(msg));
    expect(dropped).toEqual([expect.objectContaining({ address: '127.0.0.1', key: expect.any(String) })]);
  });
});

// The rejection was unhandled: an outage of Kafka ended the node, where a stream was catching up.
test('a stream ends when the log is out of reach while it catches up', async () => {
  const read = async () => {
    throw new PortError('unavailable', 'Kafka does not answer');
  };
  const cutOff = await startSubscribers({ read });
  onTestFinished(cutOff.close);
  await publish(cutOff.api.log, [eventOf(cutOff.api.project.record._id)]);
  const stream = await open('?from=earliest', {}, cutOff.api.secret, cutOff);
  await until(() => stream.isClosed);
  expect(stream.lastEventId()).not.toBe('');
});

test('a stopping server ends its streams and waiting polls', async () => {
  const stopping = await startSubscribers({ maxFollowersPerKey: 3 });
  const { secret } = stopping.api;
  const streams = [await open('', {}, secret, stopping), await open('?from=earliest', {}, secret, stopping)];
  const poll = fetch(`${stopping.address}/v1/topics/events?waitMs=30000`, { headers: { authorization: secret } });
  await until(async () => {
    const another = await open('', {}, secret, stopping);
    another.close();
    return another.response.status === 429;
  });
  const closing = stopping.app.close();
  await until(() => streams.every(({ isClosed }) => isClosed));
  expect(await (await poll).json()).toMatchObject({ records: [] });
  stopping.app.server.closeAllConnections();
  await closing;
  await stopping.api.close();
});
