/** IP addresses in the one form that geofences are matched by. */
import { isIP } from 'node:net';

const mappedPrefix = '::ffff:';

/** Without zone, and IPv4 in its own form also when it came mapped into IPv6; undefined when it is no address. */
export function normalizeAddress(text: string): string | undefined {
  const address = text.split('%', 1)[0]!.toLowerCase();
  const embedded = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : '';
  if (isIP(embedded) === 4) return embedded;
  return isIP(address) === 0 ? undefined : address;
}
