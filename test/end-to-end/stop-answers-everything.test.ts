/**
 * After SIGTERM every request on an open connection is answered. A new connection is refused, or closed before it sends
 * anything. Once, 9 of 16 requests got ECONNRESET, because idle connections were closed while their clients wrote.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
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
  /** Whether the request was written on an accepted connection: it must not be lost then. */
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

/**
 * Sends requests on one kept connection, with a pause between them, until one is refused. Calls `onAnswer` after each.
 * Returns all outcomes.
 */
async function keepSending(name: string, pauseMs: number, onAnswer: () => void): Promise<Fate[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { address, keys } = server as TestServer;
  const fates: Fate[] = [];
  for (;;) {
    const fate = await send(agent, address, keys.test_publishable, '/v1/track', {
      deviceId: name,
      ...trackDefaults,
      ...standing(0, 0),
    });
    fates.push(fate);
    onAnswer();
    if (typeof fate.what === 'string') break;
    await delay(pauseMs);
    // First handles the end of a connection that was closed meanwhile: this process may be late.
    await nextTurn();
  }
  agent.destroy();
  return fates;
}

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
    it('every request on an open connection is answered', async () => {
      server = await TestServer.start({
        FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
        // Long enough that no connection is cut off because the machine is busy.
        FENCELINE_HTTP_DRAIN_TIMEOUT_MS: '60000',
        ...(readinessDelayMs > 0 && { FENCELINE_HTTP_READINESS_DELAY_MS: String(readinessDelayMs) }),
      });
      // The pauses reach from none to nearly the time after which an idle connection is closed.
      let answers = 0;
      const pauses = Array.from({ length: 60 }, (_, index) => (index % 20) * 45);
      const traffic = pauses.map((pauseMs, index) => keepSending(`client-${index}`, pauseMs, () => (answers += 1)));
      const { address, keys } = server;
      const probe = new Agent({ keepAlive: false });
      // Every client has had an answer, and fast clients have had many.
      await until(() => answers > 4 * pauses.length);

      const stopped = server.stop();
      if (readinessDelayMs > 0) {
        const probed = () =>
          Promise.all(['/health/ready', '/health/live'].map((path) => send(probe, address, keys.test_secret, path)));
        await until(async () => (await probed()).map(({ what }) => what).join() === '503,200');
      }
      expect(await stopped).toEqual({ code: 0, signal: null });
      const fates = (await Promise.all(traffic)).flat();
      const lost = fates.filter(({ what, isSent }) => isSent && typeof what === 'string');
      expect(lost).toEqual([]);
      expect(new Set(fates.map(({ what }) => what))).toEqual(new Set([200, 'ECONNREFUSED']));
    });
  },
);

describe('SIGTERM', () => {
  it('answers a request whose first half came before, and closes a connection that never spoke', async () => {
    server = await TestServer.start();
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
  });

  it('ends a live stream in order, with the id at which to resume', async () => {
    server = await TestServer.start({ FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0' });
    const response = await fetch(`${server.address}/v1/events/stream`, {
      headers: { authorization: server.keys.test_secret },
    });
    const text = response.text();
    const stopped = server.stop();
    expect(await text).toMatch(/^id: /m);
    expect(await stopped).toEqual({ code: 0, signal: null });
  });

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
