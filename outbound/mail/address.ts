/** Validates mail addresses. Pure. */
import { invalid, type Validated } from '../../schemas/errors.js';

/** RFC 5321: a path has at most 256 characters with its brackets, a local part 64. */
const maxAddressCharacters = 254;
const maxLocalCharacters = 64;

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** A dot-atom and a host name of ASCII (RFC 5321 without quoted texts, literals and comments). */
const pattern = new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`);

/**
 * Accepts one address such as `name@example.com` and returns it without spaces around it and with its domain in lower
 * case. Refuses lists, display names and line breaks, which would add recipients or headers to a mail.
 */
export function checkMailAddress(param: string, given: string): Validated<string> {
  const address = given.trim();
  const at = address.lastIndexOf('@');
  const isAddress = address.length <= maxAddressCharacters && at <= maxLocalCharacters && pattern.test(address);
  if (!isAddress) return invalid(param, 'must be one mail address, such as name@example.com, in ASCII');
  return { ok: true, value: address.slice(0, at) + address.slice(at).toLowerCase() };
}
