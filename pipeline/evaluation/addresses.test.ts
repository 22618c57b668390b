/** Compares address ranges with an oracle on big integers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { compileAddressRanges, parseAddressRanges } from './addresses.js';

const matches = (ranges: string, ip: string): boolean => {
  const parsed = parseAddressRanges(ranges);
  if (!parsed.ok) throw new Error(parsed.problem.rule);
  return compileAddressRanges(parsed.value)(ip);
};

describe('forms', () => {
  test.each([
    ['8.8.8.8', '8.8.8.8'],
    [' 8.8.8.* , 10.0.0.0/8 ', '8.8.8.*,10.0.0.0/8'],
    ['8.8.8.8/24', '8.8.8.8/24'],
    ['0.0.0.0/0,::/0', '0.0.0.0/0,::/0'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::%eth0/64', 'fe80::/64'],
    ['::ffff:8.8.8.8', '::ffff:8.8.8.8'],
    ['::ffff:8.8.8.0/120', '::ffff:8.8.8.0/120'],
  ])('%j is %j', (given, normal) => expect(parseAddressRanges(given)).toEqual({ ok: true, value: normal }));

  test.each([
    '',
    ',',
    '8.8.8.8,',
    '1',
    '8.8.8',
    '010.1.1.1',
    '0x8.8.8.8',
    '256.1.1.1',
    '8.8.8.8/33',
    '8.8.8.8/-1',
    '8.8.8.8/08',
    '8.8.8.8/',
    '8.8.8.8/8/8',
    '8.8.*.*',
    '8.8.*.8',
    '*',
    '8.8.8.*/24',
    '8.8.8.8%eth0',
    '::1/129',
    '::ffff:8.8.8.8/24',
    ':::',
    '1::2::3',
    'example.com',
    '8.8.8.8;9.9.9.9',
    Array.from({ length: 257 }, () => '8.8.8.8').join(','),
  ])('%j is refused', (given) => {
    expect(parseAddressRanges(given)).toMatchObject({ ok: false, problem: { param: 'ip' } });
  });
});

describe('matching', () => {
  test('a last octet of * matches 256 addresses', () => {
    expect(matches('8.8.8.*', '8.8.8.0')).toBe(true);
    expect(matches('8.8.8.*', '8.8.8.255')).toBe(true);
    expect(matches('8.8.8.*', '8.8.9.0')).toBe(false);
  });

  test('an IPv4-mapped address equals the IPv4 address, both ways', () => {
    expect(matches('8.8.8.8', '::ffff:8.8.8.8')).toBe(true);
    expect(matches('8.8.8.8', '::FFFF:808:808')).toBe(true);
    expect(matches('::ffff:8.8.8.0/120', '8.8.8.9')).toBe(true);
    expect(matches('::ffff:8.8.8.0/120', '8.8.9.9')).toBe(false);
  });

  test('other addresses match only their own version', () => {
    expect(matches('0.0.0.0/0', '::1')).toBe(false);
    expect(matches('::/0', '8.8.8.8')).toBe(false);
  });

  test('ignores zone ids of the request', () => expect(matches('fe80::/10', 'fe80::1%eth0')).toBe(true));

  test.each(['', 'localhost', '8.8.8.8:443', '010.8.8.8'])('%j is not an address and matches nothing', (ip) => {
    expect(matches('0.0.0.0/0,::/0', ip)).toBe(false);
  });
});

/** An address for the oracle: a number and its bits. */
interface Numbered {
  readonly size: 32 | 128;
  readonly number: bigint;
}

const isMapped = (number: bigint) => number >> 32n === 0xffffn;
const withBits = (size: 32 | 128) =>
  fc.bigInt({ min: 0n, max: (1n << BigInt(size)) - 1n }).filter((number) => size === 32 || !isMapped(number));
const version4: fc.Arbitrary<Numbered> = withBits(32).map((number) => ({ size: 32, number }));
const version6: fc.Arbitrary<Numbered> = fc
  // Zero groups in the middle, which :: may replace.
  .tuple(withBits(128), fc.constantFrom((1n << 128n) - 1n, 0xffff_0000_0000_0000_0000_ffff_ffffn, 0xffff_ffffn << 96n))
  .map(([number, mask]): Numbered => ({ size: 128, number: number & mask }))
  .filter(({ number }) => !isMapped(number));
const address = fc.oneof(version4, version6);

/** Formats an address. `spelling` is 0 for the plain or 1 for the other form. */
function spelled({ size, number }: Numbered, spelling: number): string {
  if (size === 32) {
    const plain = [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
    return spelling === 0 ? plain : `::ffff:${plain}`;
  }
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((number >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  ).join(':');
  return spelling === 0 ? groups : groups.replace(/(^|:)0(:0)+(:|$)/, '::').toUpperCase();
}

test('agrees with arithmetic on big integers', () => {
  const close = (one: Numbered, flip: number): Numbered => ({
    ...one,
    number: one.number ^ (1n << BigInt(flip % one.size)),
  });
  fc.assert(
    fc.property(
      address,
      fc.nat(128),
      fc.nat(1),
      fc.nat(127),
      fc.nat(1),
      fc.boolean(),
      address,
      (base, some, how, flip, how2, near, far) => {
        const bits = some % (base.size + 1);
        const address = near ? close(base, flip) : far;
        const shift = BigInt(base.size - bits);
        const expected = address.size === base.size && address.number >> shift === base.number >> shift;
        const suffix = base.size === 32 && how === 1 ? bits + 96 : bits;
        const range = `203.0.113.7,${spelled(base, how)}/${suffix}`;
        expect(matches(range, spelled(address, how2))).toBe(expected || spelled(address, 0) === '203.0.113.7');
      },
    ),
    { numRuns: propertyRuns(3_000) },
  );
});
