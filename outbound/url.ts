/**
 * Which URLs requests are sent to: http or https, without credentials, and not to an address that is refused.
 *
 * Flows in: a URL as somebody wrote it. Flows out: the URL in its normal form (WHATWG URL Standard), or the rule it
 * breaks. Pure. What a name resolves to is judged when the connection is made.
 */
import { isIP } from 'node:net';
import { invalid, type Validated } from '../schemas/errors.js';
import { isRefused, type Networks } from './addresses.js';

/** Characters, as written and in normal form. */
export const maxUrlLength = 2_048;

/**
 * `param` is the field that the problem names. Normal form makes 127.1, 0x7f000001 and 0177.0.0.1 the address they are.
 */
export function checkUrl(param: string, text: string, allowed: Networks): Validated<URL> {
  if (text.length > maxUrlLength) return invalid(param, `must have at most ${maxUrlLength} characters`);
  const url = parse(text);
  if (url === undefined) return invalid(param, 'must be a URL that begins with http:// or https://');
  if (url.href.length > maxUrlLength)
    return invalid(param, `must have at most ${maxUrlLength} characters, encoded ones counted`);
  if (url.username !== '' || url.password !== '') return invalid(param, 'must not carry a user name or password');
  if (isHostRefused(url.hostname, allowed)) {
    return invalid(param, 'must not lead to a private, loopback or otherwise reserved address');
  }
  return { ok: true, value: url };
}

function parse(text: string): URL | undefined {
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Of a host in normal form. Names are not resolved; `localhost` and what is below it is loopback wherever it is asked
 * (RFC 6761 6.3).
 */
function isHostRefused(host: string, allowed: Networks): boolean {
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(address) !== 0) return isRefused(address, allowed);
  return /(^|\.)localhost\.*$/.test(host) && !allowed.has('127.0.0.1') && !allowed.has('::1');
}
