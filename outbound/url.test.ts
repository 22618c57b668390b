import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Networks, parseNetworks } from './addresses.js';
import { checkUrl, maxUrlLength } from './url.js';

function networks(...list: string[]): Networks {
  const parsed = parseNetworks('networks', list);
  if (!parsed.ok) throw new Error(parsed.problem.rule);
  return parsed.value;
}

const none = networks();
const check = (text: string, allowed = none) => checkUrl('url', text, allowed);
const refusal = (rule: string) => ({ ok: false, problem: { param: 'url', rule } });
const reserved = refusal('must not lead to a private, loopback or otherwise reserved address');

describe('accepted and normalized', () => {
  test.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['HTTP://Hooks.Example.com:80/a b?x=1#part', 'http://hooks.example.com/a%20b?x=1#part'],
    ['https://hooks.example.com:8443/', 'https://hooks.example.com:8443/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['http://8.8.8.8/', 'http://8.8.8.8/'],
    ['http://134744072/', 'http://8.8.8.8/'],
    ['http://[2606:4700::1111]/', 'http://[2606:4700::1111]/'],
    ['http://[64:ff9b::8.8.8.8]/', 'http://[64:ff9b::808:808]/'],
    // Names are checked by their addresses, when the connection is made.
    ['http://intranet/', 'http://intranet/'],
    ['http://localhost.example.com/', 'http://localhost.example.com/'],
    ['http://notlocalhost/', 'http://notlocalhost/'],
    ['http://127.0.0.1.example.com/', 'http://127.0.0.1.example.com/'],
  ])('%s is %s', (text, href) => {
    const checked = check(text);
    expect(checked.ok && checked.value.href).toBe(href);
  });
});

test.each([
  '',
  'hooks.example.com',
  '/hook',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:1',
  'http://',
  'http://a b/',
  'http://[::1',
  'http://1.2.3.4.5/',
  'http://256.1.1.1/',
  'http://example.com:65536/',
  'http://[fe80::1%25eth0]/',
])('%j is not an http URL', (text) =>
  expect(check(text)).toEqual(refusal('must be a URL that begins with http:// or https://')),
);

test.each(['https://user@example.com/', 'https://:password@example.com/', 'https://user:password@127.0.0.1/'])(
  '%s has credentials',
  (text) => {
    expect(check(text)).toEqual(refusal('must not contain a user name or password'));
  },
);

describe('hosts with a reserved address', () => {
  test.each([
    ['as it is', 'http://127.0.0.1/'],
    ['without slashes', 'http:10.0.0.1'],
    ['with backslashes', 'http:\\\\10.0.0.1\\'],
    ['short', 'http://127.1/'],
    ['shorter', 'http://0/'],
    ['decimal', 'http://2130706433/'],
    ['octal', 'http://0177.0.0.01/'],
    ['hexadecimal', 'http://0x7f000001/'],
    ['each part in its own base', 'http://0xa9.0376.43518/'],
    ['in other digits', 'http://①⑦②.①⑥.⓪.①/'],
    ['with percent signs', 'http://%31%30.0.0.1/'],
    ['with a dot at the end', 'http://192.168.0.1./'],
    ['with a port', 'https://169.254.169.254:443/latest/meta-data'],
    ['with tabs and line breaks', 'http://10.\t0.\n0.1/'],
    ['loopback of version 6', 'http://[::1]/'],
    ['in full', 'http://[0:0:0:0:0:0:0:1]/'],
    ['unspecified', 'http://[::]/'],
    ['unique local', 'http://[fd00::1]/'],
    ['mapped', 'http://[::ffff:127.0.0.1]/'],
    ['mapped, in hexadecimal', 'http://[::ffff:a9fe:a9fe]/'],
    ['compatible', 'http://[::127.0.0.1]/'],
    ['NAT64', 'http://[64:ff9b::10.0.0.1]/'],
    ['6to4', 'http://[2002:7f00:1::]/'],
    ['Teredo', 'http://[2001:0:102:304::1]/'],
    ['localhost', 'http://localhost/'],
    ['localhost in capitals', 'http://LOCALHOST:8080/'],
    ['localhost in wide letters', 'http://ｌｏｃａｌｈｏｓｔ/'],
    ['localhost with dots at the end', 'http://localhost../'],
    ['below localhost', 'http://metadata.localhost/'],
  ])('%s: %s', (_, text) => expect(check(text)).toEqual(reserved));

  test('any address in any notation', () => {
    const written = (value: number) => [String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xff_ff_ff }), fc.constantFrom(0, 1, 2), (low, base) => {
        for (const first of [10, 127])
          expect(check(`http://${written(first * 2 ** 24 + low)[base]}/`)).toEqual(reserved);
      }),
    );
  });
});

describe('networks that the operator allows', () => {
  test.each([
    ['http://10.1.2.3/', '10.0.0.0/8', true],
    ['http://192.168.0.1/', '10.0.0.0/8', false],
    ['http://localhost/', '10.0.0.0/8', false],
    ['http://localhost/', '127.0.0.1', true],
    ['http://hook.localhost./', '127.0.0.0/8', true],
    ['http://localhost/', '::1', true],
    ['http://[::1]/', '127.0.0.0/8', false],
    ['http://[::ffff:127.0.0.1]/', '127.0.0.0/8', true],
  ])('%s with %s: %s', (text, network, accepted) => expect(check(text, networks(network)).ok).toBe(accepted));
});

describe('length', () => {
  const path = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;

  test('accepts the longest', () => expect(check(path(maxUrlLength)).ok).toBe(true));
  test('refuses one character more', () =>
    expect(check(path(maxUrlLength + 1))).toEqual(refusal('must have at most 2048 characters')));
  test('counts encoded characters', () => {
    expect(check(`https://example.com/${'ü'.repeat(1_000)}`)).toEqual(
      refusal('must have at most 2048 characters when encoded'),
    );
  });
});
