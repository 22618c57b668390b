/** Tests refused addresses by example, and all of them against an oracle that computes with big integers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../schemas/testing/property-runs.js';
import { isRefused, type Networks, parseNetworks } from './addresses.js';

function networks(...list: string[]): Networks {
  const parsed = parseNetworks('networks', list);
  if (!parsed.ok) throw new Error(parsed.problem.rule);
  return parsed.value;
}

const none = networks();

describe('reserved blocks, from the first address to the last', () => {
  // Block, its first and last address, and the addresses before and after it where those are public.
  test.each([
    ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', [], ['1.0.0.0']],
    ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255'], ['11.0.0.0']],
    ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', ['100.63.255.255'], ['100.128.0.0']],
    ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', ['126.255.255.255'], ['128.0.0.0']],
    ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', ['169.253.255.255'], ['169.255.0.0']],
    ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', ['172.15.255.255'], ['172.32.0.0']],
    ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', ['191.255.255.255'], ['192.0.1.0']],
    ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', ['192.0.1.255'], ['192.0.3.0']],
    ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', ['192.31.195.255'], ['192.31.197.0']],
    ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', ['192.52.192.255'], ['192.52.194.0']],
    ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', ['192.88.98.255'], ['192.88.100.0']],
    ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', ['192.167.255.255'], ['192.169.0.0']],
    ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', ['192.175.47.255'], ['192.175.49.0']],
    ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', ['198.17.255.255'], ['198.20.0.0']],
    ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', ['198.51.99.255'], ['198.51.101.0']],
    ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', ['203.0.112.255'], ['203.0.114.0']],
    ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', ['223.255.255.255'], []],
    ['240.0.0.0/4', '240.0.0.0', '255.255.255.255', [], []],
    ['::/128', '::', '::', [], []],
    ['::1/128', '::1', '::1', [], []],
    ['::/96', '::0.0.0.0', '::255.255.255.255', [], []],
    ['::ffff:0:0:0/96', '::ffff:0:0:0', '::ffff:0:ffff:ffff', [], []],
    ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', [], []],
    ['100::/64', '100::', '100::ffff:ffff:ffff:ffff', [], []],
    ['100:0:0:1::/64', '100:0:0:1::', '100::1:ffff:ffff:ffff:ffff', [], []],
    ['below global unicast', '200::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', [], ['2000::']],
    ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff::'], ['2001:200::']],
    ['2001::/32', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff::'], []],
    ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', [], []],
    ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', [], []],
    ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7::'], ['2001:db9::']],
    [
      '2620:4f:8000::/48',
      '2620:4f:8000::',
      '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
      ['2620:4f:7fff::'],
      ['2620:4f:8001::'],
    ],
    ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe:ffff::'], ['3fff:1000::']],
    ['above global unicast', '4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['3fff:ffff::'], []],
    ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', [], []],
    ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', [], []],
    ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', [], []],
    ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', [], []],
    ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', [], []],
  ])('%s', (_, first, last, before, after) => {
    expect(isRefused(first, none)).toBe(true);
    expect(isRefused(last, none)).toBe(true);
    for (const address of [...before, ...after]) expect(isRefused(address, none), address).toBe(false);
  });
});

describe('IPv6 addresses that embed an IPv4 address', () => {
  test.each([
    ['mapped', '::ffff:10.0.0.1', '::ffff:8.8.8.8'],
    ['mapped, in hexadecimal', '::ffff:7f00:1', '::ffff:808:808'],
    ['mapped, in full', '0:0:0:0:0:FFFF:A9FE:A9FE', '0:0:0:0:0:FFFF:0808:0808'],
    ['NAT64', '64:ff9b::192.168.1.1', '64:ff9b::8.8.8.8'],
    ['NAT64 of 0.0.0.0', '64:ff9b::', '64:ff9b::101:101'],
    ['6to4', '2002:a00:1::', '2002:808:808::'],
    ['6to4, last of its block', '2002:ac1f:ffff:ffff:ffff:ffff:ffff:ffff', '2002:ac20::'],
  ])('%s', (_, refused, accepted) => {
    expect(isRefused(refused, none)).toBe(true);
    expect(isRefused(accepted, none)).toBe(false);
  });
});

test.each(['', 'localhost', '127.1', '010.0.0.1', '8.8.8', '8.8.8.8/32', '[::1]', '8.8.8.8:80', ' 8.8.8.8', '::g'])(
  '%j is not an address and refused, even where everything is allowed',
  (text) => expect(isRefused(text, networks('0.0.0.0/0', '::/0'))).toBe(true),
);

test('a zone does not hide a link-local address', () => expect(isRefused('fe80::1%eth0', none)).toBe(true));

describe('networks that the operator allows', () => {
  test.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '192.168.0.1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['0.0.0.0/0', '127.0.0.1', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '::1', true],
    ['::/0', '10.0.0.1', false],
    ['::/0', '::ffff:10.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', true],
    ['10.0.0.0/8', '64:ff9b::10.0.0.1', true],
    ['10.0.0.0/8', '2002:a00:1::1', true],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fc12::1', false],
    ['FE80::/10', 'fe80::1%eth0', true],
    ['::1', '::1', true],
  ])('%s allows %s: %s', (network, address, through) => expect(isRefused(address, networks(network))).toBe(!through));

  test.each([
    '',
    'x',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '::/129',
    '10.*',
    'fe80::%1/64',
    '1/8',
  ])('%j is refused by name', (entry) => {
    expect(parseNetworks('webhooks.allowedNetworks', ['127.0.0.1', entry])).toEqual({
      ok: false,
      problem: {
        param: 'webhooks.allowedNetworks',
        rule: `must be addresses or CIDR blocks such as 10.0.0.0/8; ${JSON.stringify(entry)} is not one`,
      },
    });
  });

  test.each(['::ffff:10.0.0.0/104', '64:ff9b::/96', '2002:a00::/24'])(
    '%s would have no effect and is refused',
    (entry) => {
      expect(parseNetworks('networks', [entry])).toEqual({
        ok: false,
        problem: { param: 'networks', rule: `must be the IPv4 network itself instead of "${entry}"` },
      });
    },
  );

  test('at most 256', () => {
    const list = (length: number) => Array.from({ length }, (_, index) => `10.0.0.${index % 256}`);
    expect(parseNetworks('networks', list(256)).ok).toBe(true);
    expect(parseNetworks('networks', list(257))).toMatchObject({ problem: { rule: 'must have at most 256 networks' } });
  });
});

describe('against the oracle', () => {
  /** A block: version, value of the address and number of leading bits. */
  type Block = readonly [version: 4 | 6, value: bigint, bits: number];

  const hex = (text: string): bigint => BigInt(`0x${text}`);
  const version4 = (text: string, bits: number): Block => [
    4,
    text.split('.').reduce((value, octet) => value * 256n + BigInt(octet), 0n),
    bits,
  ];
  /** `leading` are the first groups, each of four digits. */
  const version6 = (leading: string, bits: number): Block => [
    6,
    hex(leading.replaceAll(':', '').padEnd(32, '0')),
    bits,
  ];

  /** Blocks of the registries by RFC 6890 and its updates, except those that embed an IPv4 address. */
  const registry: readonly Block[] = [
    version4('0.0.0.0', 8),
    version4('10.0.0.0', 8),
    version4('100.64.0.0', 10),
    version4('127.0.0.0', 8),
    version4('169.254.0.0', 16),
    version4('172.16.0.0', 12),
    version4('192.0.0.0', 24),
    version4('192.0.2.0', 24),
    version4('192.31.196.0', 24),
    version4('192.52.193.0', 24),
    version4('192.88.99.0', 24),
    version4('192.168.0.0', 16),
    version4('192.175.48.0', 24),
    version4('198.18.0.0', 15),
    version4('198.51.100.0', 24),
    version4('203.0.113.0', 24),
    version4('224.0.0.0', 4),
    version4('240.0.0.0', 4),
    version6('2001', 23),
    version6('2001:0db8', 32),
    version6('2620:004f:8000', 48),
    version6('3fff', 20),
  ];
  const globalUnicast = version6('2000', 3);
  /** Bit at which the IPv4 address begins. */
  const carriers: readonly (readonly [Block, number])[] = [
    [version6('0000:0000:0000:0000:0000:ffff', 96), 96],
    [version6('0064:ff9b', 96), 96],
    [version6('2002', 16), 16],
  ];

  const size = (version: 4 | 6): number => (version === 4 ? 32 : 128);
  const isIn = ([version, value, bits]: Block, ofVersion: 4 | 6, address: bigint): boolean => {
    const span = 1n << BigInt(size(version) - bits);
    const first = (value / span) * span;
    return version === ofVersion && address >= first && address < first + span;
  };

  function oracle(version: 4 | 6, address: bigint, allowed: readonly Block[]): boolean {
    const carrier = carriers.find(([block]) => isIn(block, version, address));
    if (carrier !== undefined) return oracle(4, (address >> BigInt(96 - carrier[1])) & 0xffffffffn, allowed);
    if (allowed.some((block) => isIn(block, version, address))) return false;
    return (
      registry.some((block) => isIn(block, version, address)) || (version === 6 && !isIn(globalUnicast, 6, address))
    );
  }

  const text4 = (address: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
  const text6 = (address: bigint): string =>
    address
      .toString(16)
      .padStart(32, '0')
      .replace(/(.{4})(?!$)/g, '$1:');
  const textOf = (version: 4 | 6, address: bigint): string => (version === 4 ? text4(address) : text6(address));

  const anyVersion = fc.constantFrom<4 | 6>(4, 6);
  const anyAddress = (version: 4 | 6) => fc.bigInt({ min: 0n, max: (1n << BigInt(size(version))) - 1n });
  const carriedBlocks = registry
    .filter(([version]) => version === 4)
    .flatMap(([, value, bits]) =>
      carriers.map(([[, base], at]): Block => [6, base + (value << BigInt(96 - at)), at + bits]),
    );
  /** Generates addresses near the ends of blocks, where mistakes are likely. */
  const nearEdge = fc
    .tuple(
      fc.constantFrom(...registry, globalUnicast, ...carriers.map(([block]) => block), ...carriedBlocks),
      fc.boolean(),
      fc.bigInt(-2n, 2n),
    )
    .map(([[version, value, bits], atEnd, off]): [4 | 6, bigint] => {
      const edge = atEnd ? value + (1n << BigInt(size(version) - bits)) : value;
      return [version, BigInt.asUintN(size(version), edge + off)];
    });
  const somewhere = anyVersion.chain((version) => fc.tuple(fc.constant(version), anyAddress(version)));
  const anyBlock = fc
    .oneof(somewhere, nearEdge)
    .chain(([version, value]) =>
      fc.integer({ min: 0, max: size(version) }).map((bits): Block => [version, value, bits]),
    )
    .filter(([version, value]) => version === 4 || !carriers.some(([block]) => isIn(block, 6, value)));

  test('an address is refused exactly when it is reserved and in no allowed network', () => {
    fc.assert(
      fc.property(
        fc.oneof(nearEdge, somewhere),
        fc.array(anyBlock, { maxLength: 3 }),
        ([version, address], allowed) => {
          const list = allowed.map(([ofVersion, value, bits]) => `${textOf(ofVersion, value)}/${bits}`);
          expect(isRefused(textOf(version, address), networks(...list))).toBe(oracle(version, address, allowed));
        },
      ),
      { numRuns: propertyRuns(5_000) },
    );
  });
});
