/** IP addresses, in the one form that geofences match, and the clients that limits count. */
import { isIP, isIPv6 } from 'node:net';
import { invalid, type Validated } from '../../schemas/errors.js';
import { readText } from '../fields/values.js';

const mappedPrefix = '::ffff:';

/**
 * Returns the address without its zone, and an IPv4 address that is mapped into IPv6 in its IPv4 form. Undefined for
 * text that is not an address.
 */
export function normalizeAddress(text: string): string | undefined {
  const address = text.trim().split('%', 1)[0]!.toLowerCase();
  const embedded = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : '';
  if (isIP(embedded) === 4) return embedded;
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Returns the client that an address stands for, for limits of each client. A household, a phone or a server owns a
 * whole /64 of IPv6, and could have any number of addresses.
 */
export function clientOf(ip: string): string {
  const address = normalizeAddress(ip) ?? ip;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}

/** Reads field `ip`; null when it is not given. */
export function readAddress(value: unknown): Validated<string | null> {
  const text = readText(value);
  if (text === undefined) return { ok: true, value: null };
  const address = text === null ? undefined : normalizeAddress(text);
  return address === undefined ? invalid('ip', 'must be an IP address') : { ok: true, value: address };
}

/** An address with a port, as some load balancers write them: `192.0.2.1:443` or `[2001:db8::1]:443`. */
const withPort = /^(?:\[(?<six>[^\]]*)\](?::\d+)?|(?<four>[\d.]+):\d+)$/;

/** Returns the header X-Forwarded-For without the ports of its addresses. */
export const forwardedWithoutPorts = (header: string): string =>
  header
    .split(',')
    .map((each) => {
      const address = each.trim();
      const found = withPort.exec(address)?.groups;
      return found?.six ?? found?.four ?? address;
    })
    .join(', ');
