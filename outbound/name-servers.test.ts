/**
 * Tests names resolved by a real name server on loopback that responds well, badly or never, and the effect on other
 * names.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { until } from '../testing/until.js';
import { inOrder } from './name-servers.js';
import { get, openClient, outcome } from './testing/clients.js';
import { type Answering, failure, type Question, rcodes, success, zone } from './testing/name-server.js';
import { impatient, neverAgain, openResolver } from './testing/resolvers.js';

describe('by DNS', () => {
  test.each([
    ['version 4', ['192.0.2.1'], ['192.0.2.1']],
    ['version 6', ['2001:db8::1'], ['2001:db8::1']],
    ['both, version 6 first', ['192.0.2.1', '2001:db8::1'], ['2001:db8::1', '192.0.2.1']],
    ['no address', [], 'ENODATA'],
  ])('%s', async (_, addresses, expected) => {
    const { resolve } = await openResolver(zone({ 'receiver.test': addresses }));
    expect(await resolve('receiver.test')).toEqual(expected);
  });

  test('a name that does not exist', async () => {
    const { resolve } = await openResolver(zone({}));
    expect(await resolve('receiver.test')).toBe('ENOTFOUND');
  });

  test('uses the first few addresses of each version', async () => {
    const many = Array.from({ length: 20 }, (_, index) => [`192.0.2.${index}`, `2001:db8::${index + 1}`]).flat();
    const { resolve } = await openResolver(zone({ 'receiver.test': many }));
    expect(await resolve('receiver.test')).toHaveLength(16);
  });

  test.each(['receiver', 'receiver.namespace'])('%s is resolved unchanged, in lower case', async (name) => {
    const { resolve, asked } = await openResolver(zone({ [name]: ['192.0.2.1'] }));
    expect(await resolve(name.toUpperCase())).toEqual(['192.0.2.1']);
    expect([...asked].sort()).toEqual([`A ${name}`, `AAAA ${name}`]);
  });

  test.each(['a..b', 'x'.repeat(64), `${'x.'.repeat(130)}test`])('%s is not a name', async (name) => {
    const { resolve, asked } = await openResolver(zone({}));
    expect(await resolve(name)).toBe('EBADNAME');
    expect(asked).toEqual([]);
  });
});

describe('one version fails', () => {
  /** Responds like the zone for one version, and differently for the other. */
  const exceptFor =
    (type: Question['type'], otherwise: Answering, answering: Answering): Answering =>
    (question) =>
      (question.type === type ? otherwise : answering)(question);
  const both = zone({ 'receiver.test': ['192.0.2.1', '2001:db8::1'] });
  const servfail: Answering = (question) => failure(question, rcodes.SERVFAIL);
  const silence: Answering = () => undefined;
  /** The version that answers must do so before the limit. */
  const patient = { timeoutMs: 1_000 };

  test.each([
    ['AAAA fails', 'AAAA', servfail, ['192.0.2.1']],
    ['AAAA is never answered', 'AAAA', silence, ['192.0.2.1']],
    ['A fails', 'A', servfail, ['2001:db8::1']],
    ['A is never answered', 'A', silence, ['2001:db8::1']],
  ] as const)('%s', async (_, type, otherwise, expected) => {
    const { resolve } = await openResolver(exceptFor(type, otherwise, both), patient);
    expect(await resolve('receiver.test')).toEqual(expected);
  });

  test('does not wait for IPv6, nor query it again', async () => {
    const { resolve, asked } = await openResolver(exceptFor('AAAA', silence, both), neverAgain);
    await resolve('receiver.test');
    expect([...asked].sort()).toEqual(['A receiver.test', 'AAAA receiver.test']);
  });

  test('returns the failure when the other version has no addresses', async () => {
    const empty = zone({ 'receiver.test': [] });
    for (const type of ['A', 'AAAA'] as const) {
      const { resolve } = await openResolver(exceptFor(type, servfail, empty));
      expect(await resolve('receiver.test')).toBe('ESERVFAIL');
    }
  });
});

test('uses as many IPv6 as IPv4 addresses, and all if there are no IPv4 addresses', () => {
  const addresses = (...list: string[]) => list.map((address) => ({ address }));
  const tried = (version4: string[], version6: string[]) => inOrder(addresses(...version4), addresses(...version6));
  expect(tried(['192.0.2.1'], ['2001:db8::1', '2001:db8::2'])).toEqual([
    { address: '2001:db8::1', family: 6 },
    { address: '192.0.2.1', family: 4 },
  ]);
  expect(tried([], ['2001:db8::1', '2001:db8::2'])).toHaveLength(2);
});

describe('messages of failures', () => {
  const whole = (question: Question) => success(question, ['192.0.2.1', '2001:db8::1'], 60);
  /** Offset of the answer record, right after the question. */
  const recordAt = ({ message }: Question) => message.indexOf(0, 12) + 5;
  const changed = (change: (message: Buffer, question: Question) => void): Answering => {
    return (question) => {
      const message = whole(question);
      change(message, question);
      return message;
    };
  };
  const failing = (rcode: number): Answering => {
    return (question) => failure(question, rcode);
  };

  test.each<[string, Answering, RegExp]>([
    ['no such name', zone({}), /^the host name could not be resolved \(ENOTFOUND\)$/],
    ['SERVFAIL', failing(rcodes.SERVFAIL), /failed to resolve .* \(ESERVFAIL\)$/],
    ['REFUSED', failing(rcodes.REFUSED), /refused .* \(EREFUSED\)$/],
    ['FORMERR', failing(rcodes.FORMERR), /\(EFORMERR\)$/],
    ['NOTIMP', failing(rcodes.NOTIMP), /\(ENOTIMP\)$/],
    ['silence', () => undefined, /no response .* in time \(ETIMEOUT\)$/],
    ['an answer to another message', changed((message) => (message[0]! ^= 255)), /in time \(ETIMEOUT\)$/],
    ['an answer to another question', changed((message) => (message[13]! ^= 1)), /in time \(ETIMEOUT\)$/],
    ['nothing but an id', (question) => whole(question).subarray(0, 2), /malformed response .* \(EBADRESP\)$/],
    ['a piece of a record', (question) => whole(question).subarray(0, -2), /malformed response .* \(EBADRESP\)$/],
    [
      'more records than there are',
      changed((message) => message.writeUInt16BE(9, 6)),
      /malformed response .* \(EBADRESP\)$/,
    ],
    [
      'a name that refers to itself',
      changed((message, question) => message.writeUInt16BE(0xc000 | recordAt(question), recordAt(question))),
      /malformed response .* \(EBADRESP\)$/,
    ],
    [
      'an address of three bytes',
      changed((message, question) => message.writeUInt16BE(3, recordAt(question) + 10)),
      /malformed response .* \(EBADRESP\)$/,
    ],
  ])('%s', async (_, answering, message) => {
    const { resolver } = await openResolver(answering, /ETIMEOUT/.test(message.source) ? impatient : {});
    const client = openClient({ lookup: resolver.lookup });
    const result = await outcome(client.send(get('http://receiver.test/')));
    expect(result).toEqual({ failure: 'name_not_found', message: expect.stringMatching(message) });
  });

  test('no name server', async () => {
    const { resolver } = await openResolver(zone({}), { servers: ['127.0.0.1:1'] });
    expect(await outcome(openClient({ lookup: resolver.lookup }).send(get('http://receiver.test/')))).toEqual({
      failure: 'name_not_found',
      message: 'no name server could be reached (ECONNREFUSED)',
    });
  });
});

describe('lookups are independent:', () => {
  test('one resolves and a file is read while a hundred others hang', async () => {
    const dead = Array.from({ length: 100 }, (_, index) => `dead-${index}.test`);
    const silent = Object.fromEntries(dead.map((name) => [name, 'silence' as const]));
    const { resolve, asked } = await openResolver(zone({ ...silent, 'receiver.test': ['192.0.2.1'] }), neverAgain);
    const settled: string[] = [];
    for (const name of dead) void resolve(name).then(() => settled.push(name));
    await until(() => new Set(asked).size === 2 * dead.length);
    expect(await resolve('receiver.test')).toEqual(['192.0.2.1']);
    await readFile(new URL(import.meta.url));
    expect(settled).toEqual([]);
  });

  /** Regression: one c-ares channel for all names adapted its time limit to fast names and gave up on slow ones. */
  test('a slow name resolves, however fast the others are', async () => {
    const answering = zone({ 'fast.test': ['192.0.2.1'], 'slow.test': ['192.0.2.2'] }, 0);
    const { resolve } = await openResolver(async (question) => {
      if (question.name === 'slow.test') await delay(1_200);
      return (await answering(question))!;
    });
    for (let index = 0; index < 20; index++) expect(await resolve('fast.test')).toEqual(['192.0.2.1']);
    expect(await resolve('slow.test')).toEqual(['192.0.2.2']);
  });
});

test('closing cancels pending lookups', async () => {
  const { resolver, resolve, asked } = await openResolver(() => undefined);
  const resolved = resolve('receiver.test');
  await until(() => asked.length === 2);
  resolver.close();
  expect(await resolved).toBe('ECANCELLED');
});
