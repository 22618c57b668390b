/**
 * After SIGTERM every request on an open connection is answered. A new connection is refused, or closed before it sends
 * anything. Once, 9 of 16 requests got ECONNRESET, because idle connections were closed while their clients wrote: now
 * only after a second, and then without an effect (`http/connections`).
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { trackDefaults } from '../support/client.js';
import { standing } from '../support/places.js';
import { TestServer } from '../support/server.js';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.dispose();
  server = undefined;
});

interface Fate {
  /** Status, or the code of the error. */
  readonly what: number | string;
  /** Whether the request was written on an open connection: it must not be lost then. */
  readonly isSent: boolean;
}

/** Sends one request and returns its outcome. */
function send(agent: Agent, address: string, key: string, path: string, body?: object): Promise<Fate> {
  return new Promise((resolve) => {
    const headers = { authorization: key, 'content-type': 'application/json' };
    const sent = request(`${address}${path}`, { agent, method: body ? 'POST' : 'GET', headers });
    let isSent = false;
    sent.on('socket', (socket) => {
      const note = () => {
        isSent = true;
      };
      if (socket.connecting) socket.once('connect', note);
      else note();
    });
    sent.on('response', (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => resolve({ what: error.code ?? error.message, isSent }));
      response.on('end', () => resolve({ what: response.statusCode ?? 0, isSent }));
      response.resume();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ what: error.code ?? error.message, isSent }));
    sent.end(body && JSON.stringify(body));
  });
}

interface Traffic {
  readonly device: string;
  readonly fates: readonly Fate[];
  /** Time of the latest location that was answered. */
  readonly answeredAt: string;
}

/**
 * Sends locations on one kept connection, with a pause between them, until one is refused. Calls `onAnswer` after each
 * answer.
 *
 * The server may close an idle connection at the moment when a late client writes on it. Like every client of HTTP,
 * this one then sends again on a new connection.
 */
async function keepSending(device: string, pauseMs: number, onAnswer: () => void): Promise<Traffic> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { address, keys } = server as TestServer;
  const startMs = Date.now() - 3_600_000;
  const fates: Fate[] = [];
  let answeredAt = '';
  for (let index = 0; ; index += 1) {
    const updatedAt = new Date(startMs + index).toISOString();
    const location = { deviceId: device, ...trackDefaults, ...standing(0, 0), updatedAt };
    let fate = await send(agent, address, keys.test_publishable, '/v1/track', location);
    if (closed.has(fate.what) && index > 0) {
      fates.push({ ...fate, isSent: false });
      fate = await send(agent, address, keys.test_publishable, '/v1/track', location);
    }
    fates.push(fate);
    if (typeof fate.what === 'string') break;
    answeredAt = updatedAt;
    onAnswer();
    await delay(pauseMs);
  }
  agent.destroy();
  return { device, fates, answeredAt };
}

/** Blocks all clients for longer than an idle connection stays open: then they write before they hear of its end. */
const becomeLate = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);

/** Errors of a request on a connection that the other side has closed. */
const closed: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Resolves when the server has read what was written before: it has answered a request on a connection that was opened
 * later.
 */
async function hasReadEarlierConnections({ address, keys }: TestServer): Promise<void> {
  const agent = new Agent({ keepAlive: false });
  expect((await send(agent, address, keys.test_secret, '/health/live')).what).toBe(200);
}

// Long enough that a loaded machine sees the node as not ready before its listener closes.
describe.each([0, 4_000])(
  'SIGTERM while many clients send, with %i ms before the listener closes',
  (readinessDelayMs) => {
    it('every request is answered, or came too late and has no effect; so are requests sent in halves', async () => {
      server = await TestServer.start({
        FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
        // Long enough that no connection is cut off because the machine is busy.
        FENCELINE_HTTP_DRAIN_TIMEOUT_MS: '60000',
        ...(readinessDelayMs > 0 && { FENCELINE_HTTP_READINESS_DELAY_MS: String(readinessDelayMs) }),
      });
      // The pauses reach from none to beyond the time after which an idle connection is closed.
      let answers = 0;
      const heard = new Set<string>();
      const pauses = Array.from({ length: 60 }, (_, index) => (index % 20) * 60);
      const traffic = pauses.map((pauseMs, index) =>
        keepSending(`client-${index}`, pauseMs, () => {
          answers += 1;
          heard.add(`client-${index}`);
        }),
      );
      const { address, keys } = server;
      const probe = new Agent({ keepAlive: false });
      // Every client has had an answer, and fast clients have had many.
      await until(() => heard.size === pauses.length && answers > 4 * pauses.length);

      const stopped = server.stop();
      if (readinessDelayMs > 0) {
        const probed = () =>
          Promise.all(['/health/ready', '/health/live'].map((path) => send(probe, address, keys.test_secret, path)));
        await until(async () => (await probed()).map(({ what }) => what).join() === '503,200');
      } else becomeLate();
      expect(await stopped).toEqual({ code: 0, signal: null });
      const clients = await Promise.all(traffic);
      const fates = clients.flatMap((client) => client.fates);
      const lost = fates.filter(({ what, isSent }) => isSent && typeof what === 'string');
      expect(lost).toEqual([]);
      expect(fates.map(({ what }) => what).filter((what) => what !== 200 && !closed.has(what))).toEqual(
        pauses.map(() => 'ECONNREFUSED'),
      );

      // A location that was applied without an answer would be later than the last one that was answered.
      await server.restart();
      const backend = server.as('test_secret');
      for (const { device, answeredAt } of clients) {
        const stored = async () => (await backend.get(`/v1/users/${device}`)).body.user?.updatedAt;
        await until(async () => (await stored()) >= answeredAt);
        expect(await stored(), device).toBe(answeredAt);
      }
      if (readinessDelayMs === 0) await expectHalvesAnswered(server);
    });
  },
);

/** A request whose first half came before SIGTERM is answered, and a connection that never spoke is closed. */
async function expectHalvesAnswered(server: TestServer): Promise<void> {
  const { hostname, port } = new URL(server.address);
  const open = async () => {
    const socket = connect({ host: hostname, port: Number(port) });
    const told = { text: '', error: undefined as Error | undefined, isClosed: false };
    socket.on('data', (data) => {
      told.text += data;
    });
    socket.on('error', (error) => {
      told.error = error;
    });
    socket.on('close', () => {
      told.isClosed = true;
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    return { socket, told };
  };
  const [half, body, silent] = [await open(), await open(), await open()];
  half.socket.write('GET /v1/events?limit=1 HTTP/1.1\r\nHost: x\r\n');
  const json = JSON.stringify({ deviceId: 'd', ...trackDefaults, ...standing(0, 0) });
  const head = `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: ${server.keys.test_publishable}\r\n`;
  body.socket.write(
    `${head}Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json.slice(0, 10)}`,
  );
  await hasReadEarlierConnections(server);

  const stopped = server.stop();
  await until(() => silent.told.isClosed);
  expect(silent.told).toEqual({ text: '', error: undefined, isClosed: true });
  half.socket.write(`Authorization: ${server.keys.test_secret}\r\n\r\n`);
  body.socket.write(json.slice(10));
  expect(await stopped).toEqual({ code: 0, signal: null });
  for (const { told } of [half, body]) {
    expect(told.error).toBeUndefined();
    expect(told.text).toMatch(/^HTTP\/1\.1 200 /);
    expect(told.text.toLowerCase()).toContain('connection: close');
  }
}

describe('SIGTERM', () => {
  it('disconnects connections that are still busy after the drain timeout', async () => {
    server = await TestServer.start({ FENCELINE_HTTP_DRAIN_TIMEOUT_MS: '1500' });
    const { hostname, port } = new URL(server.address);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    socket.write('GET /v1/events HTTP/1.1\r\nHost: x\r\n');
    await hasReadEarlierConnections(server);
    const startedMs = Date.now();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedMs).toBeGreaterThan(1_400);
    expect(server.process.log().join('\n')).toContain('cut off connections that were still busy');
  });
});
