/**
 * Checks that text is well-formed. Half of a surrogate pair has no UTF-8 form, and bytes that are not UTF-8 are no
 * text. Both would be stored as U+FFFD, so different ids would become one key.
 */

/** What an error says about text with half of a surrogate pair. */
export const wellFormedRule = 'must be well-formed Unicode, without half of a surrogate pair';
/** What an error says about a path or query that cannot be decoded. */
export const percentEncodingRule = 'must be percent-encoded UTF-8';
/** What an error says about a name that assignments would take for the prototype of an object. */
export const prototypeRule = 'must not contain the name __proto__';

/** The only form in which JSON text can contain half of a surrogate pair. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** Returns false when no string in this JSON text can be malformed. */
export const mayHoldSurrogates = (json: string): boolean => surrogateEscape.test(json);

/**
 * Returns the name of the field that holds malformed text (`metadata.key`, `replays[3].userId`); undefined when there
 * is none. Keys are checked as well. It keeps its own stack, because the sender chooses the nesting.
 */
export function malformedTextIn(root: unknown, name = ''): string | undefined {
  const waiting: [value: unknown, name: string][] = [[root, name]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, at] = next;
    if (typeof value === 'string' && !value.isWellFormed()) return at || 'body';
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value)) {
      const below = Array.isArray(value) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
      if (!key.isWellFormed()) return below.toWellFormed();
      waiting.push([item, below]);
    }
  }
  return undefined;
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the name of the first field of a query string or form that is not valid percent-encoding. */
export function badlyEncodedField(text: string): string | undefined {
  if (!text.includes('%') || decodes(text)) return undefined;
  return nameOf(text.split('&').find((one) => !decodes(one)) ?? text);
}

/** Returns the name of a field of a query string or form, as its sender means it. */
function nameOf(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  return decodes(name) ? decodeURIComponent(name.replaceAll('+', ' ')) || 'query' : name;
}

/** Returns the name of the first field of a query string or form that is beyond the given number of fields. */
export function fieldBeyond(text: string, most: number): string | undefined {
  let start = 0;
  for (let passed = 0; passed < most; passed++) {
    start = text.indexOf('&', start) + 1;
    if (start === 0) return undefined;
  }
  return nameOf(text.slice(start).split('&', 1)[0]!);
}

const twoUnderscores = /(?:_|%5f){2}/i;

/**
 * Returns the name of the first field of a query string or form whose name or key is `__proto__`. Parsers of forms
 * leave it out without notice. Call it with valid percent-encoding.
 */
export function prototypeField(text: string): string | undefined {
  if (!twoUnderscores.test(text)) return undefined;
  for (const pair of text.split('&')) {
    const names = decodeURIComponent(pair.split('=', 1)[0]!).split(/[[\]]+/);
    if (names.includes('__proto__')) return names[0] || '__proto__';
  }
  return undefined;
}
