/** The client against a server that fails as the test says. Against Fenceline: test/end-to-end/client.test.ts. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Client, createClient, FencelineError, NoAnswerError } from './client.js';

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Reaction = (response: ServerResponse) => void;

let server: Server;
let client: Client;
let address: string;
const received: Received[] = [];
/** What the server does with the next requests, in order. It answers all later ones like the last. */
let reactions: readonly Reaction[] = [];

beforeEach(async () => {
  received.length = 0;
  server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: await text(request) });
    reactions[Math.min(received.length, reactions.length) - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ address: `${address}/`, key: 'prj_test_sk_1' });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const answer =
  (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Reaction =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refuse = (status: number, type: string, headers = {}): Reaction =>
  answer(status, { meta: { code: status, type, message: type, param: 'radius', requestId: 'r1' } }, headers);
const breakOff: Reaction = (response) => void response.destroy();
const done = answer(200, { meta: { code: 200 }, webhook: { _id: 'w1' } });

const createWebhook = () => client.call('POST /v1/webhooks', { body: { url: 'https://example.com' } });
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a call', () => {
  it('sends method, path, query, key and body, and returns the answer', async () => {
    reactions = [answer(200, { meta: { code: 200 }, geofence: { _id: 'g1' } })];
    const { geofence } = await client.call('PUT /v1/geofences/{tag}/{externalId}', {
      path: { tag: 'a/b', externalId: 'x y' },
      body: { description: 'Shop', type: 'circle', coordinates: [13.4, 52.5], radius: 100 },
      ifMatch: '"7"',
    });
    expect(geofence._id).toBe('g1');
    const [request] = received;
    expect(request).toMatchObject({ method: 'PUT', url: '/v1/geofences/a%2Fb/x%20y' });
    expect(request?.headers).toMatchObject({ authorization: 'prj_test_sk_1', 'if-match': '"7"' });
    expect(JSON.parse(request!.body)).toMatchObject({ coordinates: [13.4, 52.5], radius: 100 });
    await client.call('GET /v1/geofences', { query: { tag: 'a&b', metadata: { floor: '2' }, limit: 5 } });
    expect(received[1]?.url).toBe('/v1/geofences?tag=a%26b&metadata%5Bfloor%5D=2&limit=5');
  });

  it('sends no part of a path that a URL drops (fault: the tag "." deleted the geofence with that id)', async () => {
    reactions = [done];
    for (const tag of ['.', '..']) {
      const path = { tag, externalId: '6b0b8de128cf173fcc0266c7' };
      const failure = await failureOf(client.call('DELETE /v1/geofences/{tag}/{externalId}', { path }));
      expect(failure).toBeInstanceOf(TypeError);
      expect(String(failure)).toContain('tag: ');
    }
    expect(received).toEqual([]);
    await client.call('DELETE /v1/geofences/{tag}/{externalId}', { path: { tag: '...', externalId: '.a' } });
    expect(received[0]?.url).toBe('/v1/geofences/.../.a');
  });

  it('repeats a POST with the same idempotency key until it is answered', async () => {
    reactions = [breakOff, refuse(503, 'unavailable'), refuse(429, 'rate_limited', { 'retry-after': '0' }), done];
    expect((await createWebhook()).webhook._id).toBe('w1');
    expect(received).toHaveLength(4);
    const keys = new Set(received.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    await createWebhook();
    expect(keys).not.toContain(received[4]?.headers['idempotency-key']);
  });

  it('does not repeat what the server refuses for good, and names the field', async () => {
    reactions = [refuse(400, 'invalid_parameter')];
    const error = await failureOf(createWebhook());
    expect(error).toBeInstanceOf(FencelineError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_parameter', param: 'radius', requestId: 'r1' });
    expect(received).toHaveLength(1);
  });

  it('repeats a conflict that passes, and no other', async () => {
    reactions = [refuse(409, 'edit_conflict'), done];
    await createWebhook();
    reactions = [refuse(409, 'conflict')];
    expect(await failureOf(createWebhook())).toMatchObject({ type: 'conflict' });
    expect(received).toHaveLength(3);
  });

  it('sends the demand that there is no record yet, and does not repeat it when it may have created one', async () => {
    reactions = [breakOff, done];
    const creation = client.call('PUT /v1/geofences/{tag}/{externalId}', {
      path: { tag: 'a', externalId: 'b' },
      body: { description: 'Shop', type: 'circle', coordinates: [13.4, 52.5], radius: 100 },
      ifNoneMatch: '*',
    });
    expect(await failureOf(creation)).toBeInstanceOf(NoAnswerError);
    expect(received.map(({ headers }) => headers['if-none-match'])).toEqual(['*']);
  });

  it('repeats an edit of a known revision only if it certainly took no effect', async () => {
    const edit = () =>
      client.call('PATCH /v1/settings', { body: { dwellEvents: true }, ifMatch: '"3"' } satisfies object);
    reactions = [refuse(429, 'rate_limited'), done];
    await edit();
    for (const unknown of [breakOff, refuse(503, 'unavailable')]) {
      received.length = 0;
      reactions = [unknown, done];
      expect(await failureOf(edit())).toBeInstanceOf(Error);
      expect(received).toHaveLength(1);
    }
  });

  // Lines of JSON were parsed as one value, so the export failed five times. Pictures and Parquet were read as text.
  it.each([
    ['application/x-ndjson; charset=utf-8', '{"tag":"a"}\n{"tag":"b"}\n', '{"tag":"a"}\n{"tag":"b"}\n'],
    ['text/csv; charset=utf-8; header=present', 'tag\r\na\r\n', 'tag\r\na\r\n'],
    ['application/geo+json; charset=utf-8', '{"features":[]}', { features: [] }],
    ['image/png', Buffer.of(0x89, 0x50, 0xff, 0), Uint8Array.of(0x89, 0x50, 0xff, 0)],
    ['application/vnd.apache.parquet', Buffer.of(0xfe, 0xff), Uint8Array.of(0xfe, 0xff)],
  ])('returns an answer of type %s as it is', async (type, sent, returned) => {
    reactions = [(response) => void response.writeHead(200, { 'content-type': type }).end(sent)];
    expect(await client.call('GET /v1/geofences/export', {})).toEqual(returned);
    expect(received).toHaveLength(1);
  });

  it('gives up after the number of retries, or at once if the server asks for more than a minute', async () => {
    const hasty = createClient({ address, key: 'k', maxRetries: 1 });
    reactions = [breakOff];
    expect(await failureOf(hasty.call('GET /v1/settings', {}))).toBeInstanceOf(NoAnswerError);
    expect(received).toHaveLength(2);
    reactions = [refuse(429, 'rate_limited', { 'retry-after': '61' })];
    expect(await failureOf(hasty.call('GET /v1/settings', {}))).toMatchObject({ type: 'rate_limited' });
    expect(received).toHaveLength(3);
  });

  // The default limit is the longest wait, so a quiet topic ended every call with an error.
  it('gives an attempt its limit beyond the time that the server is to wait', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => limits.mockRestore());
    const hasty = createClient({ address, key: 'k', maxRetries: 0, timeoutMs: 200 });
    reactions = [done, () => {}];
    await hasty.call('GET /v1/topics/events', { query: { from: 'latest', waitMs: 30_000 } });
    const error = await failureOf(hasty.call('GET /v1/topics/events', { query: { waitMs: 10 } }));
    expect(error).toMatchObject({ message: expect.stringContaining('no answer within 210 ms') });
    // What other tests left in this process may set limits as well.
    expect(limits.mock.calls).toEqual(expect.arrayContaining([[30_200], [210]]));
  });

  it('ends with the reason of its signal, also while it waits for the next attempt', async () => {
    const stop = new AbortController();
    reactions = [
      (response) => {
        refuse(503, 'overloaded', { 'retry-after': '30' })(response);
        response.on('close', () => stop.abort(new Error('no longer needed')));
      },
    ];
    const error = await failureOf(client.call('GET /v1/settings', { signal: stop.signal }));
    expect(error).toMatchObject({ message: 'no longer needed' });
    expect(received).toHaveLength(1);
  });
});

describe('a list', () => {
  const pages = [
    answer(200, { meta: { code: 200, hasMore: true, cursor: 'c1' }, geofences: [{ _id: '1' }, { _id: '2' }] }),
    answer(200, { meta: { code: 200, hasMore: false }, geofences: [{ _id: '3' }] }),
  ];

  it('yields the records of all pages, with the parameters of the first', async () => {
    reactions = pages;
    const ids: string[] = [];
    for await (const { _id } of client.all('GET /v1/geofences', { query: { tag: 'x' } })) ids.push(_id);
    expect(ids).toEqual(['1', '2', '3']);
    expect(received.map(({ url }) => url)).toEqual(['/v1/geofences?tag=x', '/v1/geofences?tag=x&cursor=c1']);
  });

  // The list of imports has a number beside its records, and the client tried to iterate it.
  it('yields only records where a page has other values as well', async () => {
    reactions = [answer(200, { meta: { code: 200, hasMore: false }, maxFileBytes: 5, imports: [{ _id: 'i1' }] })];
    const ids: string[] = [];
    for await (const { _id } of client.all('GET /v1/imports', { query: { resource: 'geofences' } })) ids.push(_id);
    expect(ids).toEqual(['i1']);
  });

  it('requests no page that is not read', async () => {
    reactions = pages;
    for await (const { _id } of client.all('GET /v1/geofences', {})) if (_id === '2') break;
    expect(received).toHaveLength(1);
  });
});

describe('the stream of events', () => {
  const stream =
    (text: string, isOpen = false): Reaction =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text);
      if (!isOpen) response.end();
    };
  const eventOf = (id: string) => `id: ${id}\nevent: user.entered_geofence\ndata: {"_id":"${id}"}\n\n`;

  it('continues behind the last position, also one without an event, and reports gaps', async () => {
    reactions = [
      stream(`id: 1\n\n${eventOf('2')}:heartbeat\n\nid: 3\n\nid: 4\nevent: user.entered`),
      refuse(503, 'unavailable', { 'retry-after': '0' }),
      stream('id: 5\nevent: gap\ndata: {"partitions":[{"partition":0,"missing":2}]}\n\n'),
      stream(`id: 6\nevent: gap\ndata: {"_id":"conversion"}\n\n${eventOf('7')}`, true),
    ];
    const items: object[] = [];
    for await (const item of client.events({ tag: 'store', lastEventId: '0' })) {
      items.push(item);
      if (items.length === 4) break;
    }
    expect(items).toEqual([
      { kind: 'event', id: '2', event: { _id: '2' } },
      { kind: 'gap', id: '5', partitions: [{ partition: 0, missing: 2 }] },
      { kind: 'event', id: '6', event: { _id: 'conversion' } },
      { kind: 'event', id: '7', event: { _id: '7' } },
    ]);
    expect(received.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '3', '3', '5']);
    expect(new Set(received.map(({ url }) => url))).toEqual(new Set(['/v1/events/stream?tag=store']));
  });

  it('reads lines as the standard says, also through a proxy that rewrites their ends', async () => {
    // Of several lines of data the last one was kept, and events between CRLF never came.
    reactions = [stream('id: 1\r\nevent: x\r\ndata: {\r\ndata: "_id":"1"}\r\n\r\nid: 2\rdata: {"_id":"2"}\r\r', true)];
    const ids: string[] = [];
    for await (const item of client.events()) {
      ids.push(`${item.id} ${item.kind === 'event' && item.event._id}`);
      if (ids.length === 2) break;
    }
    expect(ids).toEqual(['1 1', '2 2']);
  });

  it('tries again when the server accepts a connection and does not answer', async () => {
    const hasty = createClient({ address, key: 'k', timeoutMs: 50 });
    reactions = [() => {}, stream(eventOf('1'), true)];
    expect((await hasty.events().next()).value).toMatchObject({ id: '1' });
  });

  it('reports when it is open and why it is lost, and tries again within four seconds', async () => {
    reactions = [
      refuse(429, 'rate_limited'),
      ...Array<Reaction>(2).fill(breakOff),
      stream('id: 1\n\n'),
      stream(eventOf('2')),
    ];
    const reports: string[] = [];
    const delaysMs: number[] = [];
    const items = client.events({
      onOpen: () => reports.push('open'),
      onLoss(error, retryAfterMs) {
        reports.push(error instanceof FencelineError ? error.type : 'lost');
        delaysMs.push(retryAfterMs);
      },
    });
    expect((await items.next()).value).toMatchObject({ id: '2' });
    expect(reports).toEqual(['rate_limited', 'lost', 'lost', 'open', 'lost', 'open']);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(4_000);
    // An answer ends the growth.
    expect(delaysMs[3]).toBeLessThanOrEqual(250);
    await items.return();
  });

  it('ends with what its listener throws, and gives up when it is refused later', async () => {
    reactions = [breakOff];
    const onLoss = () => {
      throw new Error('nobody waits');
    };
    expect(await failureOf(client.events({ onLoss }).next())).toEqual(new Error('nobody waits'));
    expect(received).toHaveLength(1);
    received.length = 0;
    reactions = [stream('id: 1\n\n'), refuse(401, 'unauthorized')];
    expect(await failureOf(client.events().next())).toMatchObject({ type: 'unauthorized' });
    expect(received).toHaveLength(2);
  });

  it('ends when its signal aborts, and when the server refuses it for good', async () => {
    const stop = new AbortController();
    reactions = [stream(eventOf('1'), true)];
    let count = 0;
    for await (const _ of client.events({ signal: stop.signal })) {
      count += 1;
      stop.abort();
    }
    expect(count).toBe(1);
    reactions = [refuse(401, 'unauthorized')];
    expect(await failureOf(client.events().next())).toMatchObject({ type: 'unauthorized' });
  });
});
