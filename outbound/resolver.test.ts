/** Tests the resolver's cache and local names, and connections that use them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { get, networks, openClient, openReceiver, outcome, urlOf, whole } from './testing/clients.js';
import { type Answering, success, zone } from './testing/name-server.js';
import { answer } from './testing/receiver.js';
import { impatient, neverAgain, openResolver } from './testing/resolvers.js';

function hostsFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'hosts');
  writeFileSync(path, text);
  return path;
}

describe('the cache', () => {
  /** Resolves a name at these times; returns how often the server was queried by then. */
  async function asksAt(answering: Answering, timesMs: readonly number[], limit = neverAgain): Promise<number[]> {
    let nowMs = 0;
    const { resolve, asked } = await openResolver(answering, { ...limit, nowMs: () => nowMs });
    const counts: number[] = [];
    for (const timeMs of timesMs) {
      nowMs = timeMs;
      await resolve('receiver.test');
      counts.push(asked.filter((question) => question === 'A receiver.test').length);
    }
    return counts;
  }
  const address = (ttlSeconds: number) => zone({ 'receiver.test': ['192.0.2.1'] }, ttlSeconds);

  test.each([
    ['for as long as the record says', address(10), [0, 9_999, 10_000, 19_999], [1, 1, 2, 2]],
    ['for half a minute at most', address(86_400), [0, 29_999, 30_000], [1, 1, 2]],
    ['not at all', address(0), [0, 0, 1], [1, 2, 3]],
    ['that there is no such name, for 3 s', zone({}), [0, 2_999, 3_000], [1, 1, 2]],
    ['that no address is there, for 3 s', zone({ 'receiver.test': [] }), [0, 2_999, 3_000], [1, 1, 2]],
  ])('%s', async (_, answering, timesMs, counts) => expect(await asksAt(answering, timesMs)).toEqual(counts));

  test('keeps addresses for the shortest time to live', async () => {
    const answering: Answering = (question) =>
      success(question, ['192.0.2.1', '2001:db8::1'], question.type === 'A' ? 20 : 10);
    expect(await asksAt(answering, [0, 9_999, 10_000])).toEqual([1, 1, 2]);
  });

  test('keeps a failure for 3 s', async () => {
    const [first, ...later] = await asksAt(() => undefined, [0, 2_999, 3_000], impatient);
    expect(later).toEqual([first, first! * 2]);
  });

  test('does not mix up names', async () => {
    const { resolve } = await openResolver(zone({ 'a.test': ['192.0.2.1'], 'b.test': ['192.0.2.2'] }));
    for (let index = 0; index < 2; index++) {
      expect(await resolve('a.test')).toEqual(['192.0.2.1']);
      expect(await resolve('b.test.')).toEqual(['192.0.2.2']);
    }
  });

  test('is not affected by changes to a returned list', async () => {
    const { resolver, resolve } = await openResolver(zone({ 'receiver.test': ['192.0.2.1'] }));
    await new Promise<void>((settle) => {
      resolver.lookup('receiver.test', { all: true }, (_, addresses) => {
        addresses.length = 0;
        settle();
      });
    });
    expect(await resolve('receiver.test')).toEqual(['192.0.2.1']);
  });
});

describe('without DNS', () => {
  test.each(['localhost', 'LOCALHOST.', 'hooks.localhost'])(
    '%s is loopback, whatever hosts file and servers say',
    async (name) => {
      const { resolve, asked } = await openResolver(zone({ [name]: ['192.0.2.1'] }), {
        hostsPath: hostsFile(`192.0.2.2 ${name}`),
      });
      expect(await resolve(name)).toEqual(['127.0.0.1', '::1']);
      expect(asked).toEqual([]);
    },
  );

  test.each(['invalid', 'receiver.invalid.'])('%s does not resolve', async (name) => {
    const { resolve, asked } = await openResolver(zone({ [name]: ['192.0.2.1'] }));
    expect(await resolve(name)).toBe('ENOTFOUND');
    expect(asked).toEqual([]);
  });

  test('the hosts file precedes DNS and the cache', async () => {
    const hostsPath = hostsFile('192.0.2.1 a.test');
    const { resolve, asked } = await openResolver(zone({ 'a.test': ['192.0.2.9'], 'b.test': ['192.0.2.9'] }), {
      hostsPath,
    });
    expect(await resolve('A.test.')).toEqual(['192.0.2.1']);
    expect(asked).toEqual([]);
    expect(await resolve('b.test')).toEqual(['192.0.2.9']);
    writeFileSync(hostsPath, '192.0.2.1 a.test\n2001:db8::2 b.test\n192.0.2.2 b.test');
    expect(await resolve('b.test')).toEqual(['2001:db8::2', '192.0.2.2']);
  });
});

describe('connections', () => {
  const ok = answer('200 OK', ['connection: close'], 'ok');
  const reservedName = 'the host name resolves to private, loopback or otherwise reserved addresses only';

  /** DNS rebinding: a cached address doesn't help an attacker either, because each connection checks addresses. */
  test('are not made to a refused address that a name resolves to later', async () => {
    const receiver = await openReceiver((socket) => void socket.end(ok));
    const rebound = await openReceiver((socket) => void socket.end(ok), { host: '127.0.0.2', port: receiver.port });
    let isRebound = false;
    const { resolver } = await openResolver((question) =>
      success(question, [isRebound ? '127.0.0.2' : '127.0.0.1'], 0),
    );
    const client = openClient({ lookup: resolver.lookup });
    const send = () => outcome(client.send(get(urlOf(receiver, 'receiver.test'))));
    expect(await send()).toEqual(whole(200, 'ok'));
    isRebound = true;
    expect(await send()).toEqual({ failure: 'address_refused', message: reservedName });
    expect(rebound.sockets).toHaveLength(0);
  });

  test('are checked against the networks of their client, even for a cached name', async () => {
    const receiver = await openReceiver((socket) => void socket.end(ok));
    const { resolver, asked } = await openResolver(zone({ 'receiver.test': ['127.0.0.1'] }));
    const send = (allowed: string[]) => {
      const client = openClient({ lookup: resolver.lookup, allowedNetworks: networks(...allowed) });
      return outcome(client.send(get(urlOf(receiver, 'receiver.test'))));
    };
    expect(await send(['127.0.0.1'])).toEqual(whole(200, 'ok'));
    expect(await send([])).toEqual({ failure: 'address_refused', message: reservedName });
    expect(asked).toHaveLength(2);
  });

  test('use IPv4 where IPv6 is unreachable', async () => {
    const receiver = await openReceiver((socket) => void socket.end(ok));
    const { resolver } = await openResolver(zone({ 'receiver.test': ['2001:db8::1', '2001:db8::2', '127.0.0.1'] }));
    const client = openClient({ lookup: resolver.lookup, allowedNetworks: networks('127.0.0.1', '2001:db8::/32') });
    expect(await outcome(client.send(get(urlOf(receiver, 'receiver.test'))))).toEqual(whole(200, 'ok'));
  });

  test('to localhost are made with the default resolver', async () => {
    const receiver = await openReceiver((socket) => void socket.end(ok));
    expect(await outcome(openClient().send(get(urlOf(receiver, 'hooks.localhost'))))).toEqual(whole(200, 'ok'));
  });
});
