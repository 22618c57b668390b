/** Parses and matches ranges of IPv4 and IPv6 addresses: single addresses, a last octet of `*`, CIDR blocks. */
import { isIPv4, isIPv6 } from 'node:net';
import { invalid, type Validated } from '../../schemas/errors.js';
import type { AddressRanges } from './types.js';

/**
 * An address as 16-bit groups: two for IPv4, eight for IPv6. An IPv4-mapped address is stored as IPv4.
 */
type Groups = readonly number[];

/** All addresses of the same version with the same first bits. */
interface Prefix {
  readonly groups: Groups;
  readonly bits: number;
}

const param = 'ip';
const maxRanges = 256;
const rule = 'must be addresses, ranges like 8.8.8.* or CIDR blocks, separated by commas';

/** Parses ranges to normal form: without blanks and zone ids, in lower case, separated by commas. */
export function parseAddressRanges(text: string): Validated<string> {
  const entries = text.split(',', maxRanges + 1).map((entry) => withoutZone(entry.trim().toLowerCase()));
  if (entries.length > maxRanges) return invalid(param, `must have at most ${maxRanges} ranges`);
  const broken = entries.find((entry) => parsePrefix(entry) === undefined);
  if (broken !== undefined) return invalid(param, `${rule}; ${JSON.stringify(broken.slice(0, 60))} is not valid`);
  return { ok: true, value: entries.join(',') };
}

/**
 * Compiles ranges in normal form to a test of addresses. An invalid address matches nothing. Throws on an invalid
 * range.
 */
export function compileAddressRanges(text: string): AddressRanges {
  const prefixes = text.split(',').map((entry) => {
    const prefix = parsePrefix(entry);
    if (prefix === undefined) throw new Error(`not an address range: ${entry}`);
    return prefix;
  });
  return (ip) => {
    const groups = parseAddress(withoutZone(ip.trim().toLowerCase()));
    return groups !== undefined && prefixes.some((prefix) => matches(prefix, groups));
  };
}

/** Removes a zone id: fe80::1%eth0 becomes fe80::1, and fe80::1%eth0/64 becomes fe80::1/64. */
const withoutZone = (text: string): string => (text.includes(':') ? text.replace(/%[^/]*/, '') : text);

function parsePrefix(entry: string): Prefix | undefined {
  if (entry.endsWith('.*')) {
    const groups = parseVersion4(`${entry.slice(0, -2)}.0`);
    return groups && { groups, bits: 24 };
  }
  const match = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(entry);
  const groups = match === null ? undefined : parseAddress(match[1]!);
  if (match === null || groups === undefined) return undefined;
  const size = groups.length * 16;
  if (match[2] === undefined) return { groups, bits: size };
  // A CIDR block of IPv4-mapped addresses counts bits as IPv6.
  const bits = Number(match[2]) - (groups.length === 2 && isIPv6(match[1]!) ? 96 : 0);
  return bits >= 0 && bits <= size ? { groups, bits } : undefined;
}

const parseAddress = (text: string): Groups | undefined => parseVersion4(text) ?? parseVersion6(text);

function parseVersion4(text: string): Groups | undefined {
  if (!isIPv4(text)) return undefined;
  const [a, b, c, d] = text.split('.').map(Number) as [number, number, number, number];
  return [a * 256 + b, c * 256 + d];
}

function parseVersion6(text: string): Groups | undefined {
  if (!isIPv6(text)) return undefined;
  const [head = '', tail] = text.split('::');
  const first = parseGroups(head);
  const last = tail === undefined ? [] : parseGroups(tail);
  const zeros = new Array<number>(8 - first.length - last.length).fill(0);
  const groups = [...first, ...zeros, ...last];
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? groups.slice(6) : groups;
}

/** Parses groups between colons. The last one may be an IPv4 address. */
const parseGroups = (text: string): number[] =>
  text === '' ? [] : text.split(':').flatMap((group) => parseVersion4(group) ?? [Number.parseInt(group, 16)]);

function matches({ groups, bits }: Prefix, address: Groups): boolean {
  if (groups.length !== address.length) return false;
  const whole = bits >> 4;
  for (let index = 0; index < whole; index++) {
    if (groups[index] !== address[index]) return false;
  }
  const rest = bits & 15;
  return rest === 0 || (groups[whole]! ^ address[whole]!) >> (16 - rest) === 0;
}
