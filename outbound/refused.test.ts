/** Tests that requests don't reach real listeners on refused addresses, nor names that resolve to them. */
import { once } from 'node:events';
import { connect as netConnect } from 'node:net';
import { createSecureContext } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../testing/until.js';
import { connect } from './connector.js';
import type { Lookup } from './lookup.js';
import { get, networks, openClient, openReceiver, outcome, urlOf, whole } from './testing/clients.js';
import { type Answering, answer, type RawReceiver } from './testing/receiver.js';

const ok: Answering = (socket) => void socket.write(answer('200 OK', [], 'ok'));

/** Resolves to each of the lists in turn, and to the last from then on. */
function resolving(...answers: (readonly string[])[]): Lookup {
  let asked = 0;
  return (_name, _options, callback) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)]!;
    setImmediate(
      callback,
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

/** Connections are accepted in order: once our own is accepted, all earlier ones are. */
async function connectionsTo(receiver: RawReceiver, host = '127.0.0.1'): Promise<number> {
  const probe = netConnect(receiver.port, host);
  onTestFinished(() => void probe.destroy());
  await once(probe, 'connect');
  await until(() => receiver.sockets.some((socket) => socket.remotePort === probe.localPort));
  return receiver.sockets.length - 1;
}

const reservedUrl = {
  failure: 'address_refused',
  message: 'the URL must not lead to a private, loopback or otherwise reserved address',
};
const reservedName = {
  failure: 'address_refused',
  message: 'the host name resolves to private, loopback or otherwise reserved addresses only',
};

describe('addresses', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    'localhost',
    'hook.localhost.',
  ])('%s', async (host) => {
    const receiver = await openReceiver(ok);
    const client = openClient({ allowedNetworks: networks(), lookup: resolving(['127.0.0.1']) });
    expect(await outcome(client.send(get(urlOf(receiver, host))))).toEqual(reservedUrl);
    expect(await connectionsTo(receiver)).toBe(0);
  });

  test.each(['ftp://example.com/', 'not a URL', 'http://user:password@example.com/'])('%s', async (url) => {
    expect(await outcome(openClient().send({ method: 'GET', url, headers: {} }))).toMatchObject({
      failure: 'address_refused',
    });
  });

  /** Even if a connection is made, nothing is sent once the address is known. */
  test.each([false, true])('a connection that was made nevertheless carries no byte; TLS: %s', async (secure) => {
    const receiver = await openReceiver(ok);
    const parts = { allowed: networks(), lookup: vi.fn(), secureContext: createSecureContext() };
    const error = await new Promise((resolve) => {
      connect({ secure, hostname: '127.0.0.1', port: receiver.port }, parts, (...[failure]) => resolve(failure));
    });
    expect(error).toMatchObject({ failure: 'address_refused' });
    await until(() => receiver.sockets.length === 1 && receiver.sockets[0]!.destroyed);
    expect(receiver.sockets[0]!.bytesRead).toBe(0);
  });
});

describe('names', () => {
  test('that resolve to refused addresses only fail', async () => {
    const receiver = await openReceiver(ok);
    const client = openClient({ allowedNetworks: networks(), lookup: resolving(['127.0.0.1', '::1', '10.0.0.1']) });
    expect(await outcome(client.send(get(urlOf(receiver, 'receiver.test'))))).toEqual(reservedName);
    expect(await connectionsTo(receiver)).toBe(0);
  });

  test.each([
    ['refused first', ['127.0.0.2', '127.0.0.1']],
    ['refused last', ['127.0.0.1', '127.0.0.2']],
  ])('that resolve to other addresses too are connected to those: %s', async (_, addresses) => {
    const receiver = await openReceiver(ok);
    const refused = await openReceiver(ok, { host: '127.0.0.2', port: receiver.port });
    const client = openClient({ lookup: resolving(addresses) });
    expect(await outcome(client.send(get(urlOf(receiver, 'receiver.test'))))).toEqual(whole(200, 'ok'));
    expect(await connectionsTo(refused, '127.0.0.2')).toBe(0);
  });

  /** DNS rebinding. */
  test('that resolve to an allowed address first and to a refused one later fail', async () => {
    const receiver = await openReceiver((socket) => void socket.end(answer('200 OK', ['connection: close'], 'ok')));
    const refused = await openReceiver(ok, { host: '127.0.0.2', port: receiver.port });
    const client = openClient({ lookup: resolving(['127.0.0.1'], ['127.0.0.2']) });
    const url = urlOf(receiver, 'receiver.test');
    expect(await outcome(client.send(get(url)))).toEqual(whole(200, 'ok'));
    for (let index = 0; index < 3; index++) expect(await outcome(client.send(get(url)))).toEqual(reservedName);
    expect(await connectionsTo(refused, '127.0.0.2')).toBe(0);
    expect(receiver.requests).toHaveLength(1);
  });

  test('that do not resolve fail', async () => {
    expect(await outcome(openClient().send(get('http://fenceline.invalid/')))).toEqual({
      failure: 'name_not_found',
      message: expect.stringMatching(/^the host name could not be resolved \(E[A-Z_]+\)$/),
    });
  });

  test('that take too long to resolve time out', async () => {
    const client = openClient({ lookup: () => undefined, timeoutMs: 100 });
    expect(await outcome(client.send(get('http://receiver.test/')))).toEqual({
      failure: 'timed_out',
      message: 'no connection was established in time',
    });
  });

  test('are resolved by one lookup at a time, however many connections wait', async () => {
    const receiver = await openReceiver(ok);
    const lookup = vi.fn(resolving(['127.0.0.1']));
    const client = openClient({ lookup });
    const sent = Array.from({ length: 10 }, () => outcome(client.send(get(urlOf(receiver, 'receiver.test')))));
    expect(await Promise.all(sent)).toEqual(sent.map(() => whole(200, 'ok')));
    expect(receiver.sockets).toHaveLength(10);
    expect(lookup).toHaveBeenCalledOnce();
  });
});
