/**
 * Checks which URLs requests may be sent to: http or https, without credentials, and not to a refused address.
 *
 * Input: a URL as text. Output: the normalized URL (WHATWG URL Standard), or the rule it breaks. Pure. The addresses
 * that a name resolves to are checked when the connection is established.
 */
import { isIP } from 'node:net';
import { invalid, type Validated } from '../schemas/errors.js';
import { isRefused, type Networks } from './addresses.js';

/** Maximum number of characters, as given and normalized. */
export const maxUrlLength = 2_048;

/**
 * Checks a URL; `param` is the field that the problem names, and `setting` the one that allows a network. Normalization
 * turns 127.1, 0x7f000001 and 0177.0.0.1 into 127.0.0.1.
 */
export function checkUrl(param: string, text: string, allowed: Networks, setting?: string): Validated<URL> {
  if (text.length > maxUrlLength) return invalid(param, `must have at most ${maxUrlLength} characters`);
  const url = parse(text);
  if (url === undefined) return invalid(param, 'must be a URL that begins with http:// or https://');
  if (url.href.length > maxUrlLength)
    return invalid(param, `must have at most ${maxUrlLength} characters when encoded`);
  if (url.username !== '' || url.password !== '') return invalid(param, 'must not contain a user name or password');
  if (isHostRefused(url.hostname, allowed)) {
    const remedy = setting === undefined ? '' : `; the operator can allow its network by ${setting}`;
    return invalid(param, `must not lead to a private, loopback or otherwise reserved address${remedy}`);
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
 * Returns whether a normalized host is refused. Names are not resolved here; `localhost` and its subdomains are always
 * loopback (RFC 6761 section 6.3).
 */
function isHostRefused(host: string, allowed: Networks): boolean {
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(address) !== 0) return isRefused(address, allowed);
  return /(^|\.)localhost\.*$/.test(host) && !allowed.has('127.0.0.1') && !allowed.has('::1');
}
