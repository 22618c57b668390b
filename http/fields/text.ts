/**
 * Checks that text is well-formed. Half of a surrogate pair has no UTF-8 form, and bytes that are not UTF-8 are no
 * text. Both would be stored as U+FFFD, so different ids would become one key.
 */

/** What an error says about text with half of a surrogate pair. */
export const wellFormedRule = 'must be well-formed Unicode, without half of a surrogate pair';
/** What an error says about a path or query that cannot be decoded. */
export const percentEncodingRule = 'must be percent-encoded UTF-8';
/** The name that assignments would take for the prototype of an object. */
export const prototypeName = '__proto__';
/** What an error says about it. */
export const prototypeRule = `must not contain the name ${prototypeName}`;

/** The only form in which JSON text can contain half of a surrogate pair. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** Returns false when no string in this JSON text can be malformed. */
export const mayHoldSurrogates = (json: string): boolean => surrogateEscape.test(json);

/** A list or object within others: the value itself, and where it is. The root is above all and has no key. */
interface Part {
  readonly value: object;
  readonly key: string | number;
  readonly above: Part | null;
}

/** Returns the name of a part, which has that of the root before it. */
function nameOfPart(part: Part, root: string): string {
  const keys: (string | number)[] = [];
  for (let each = part; each.above !== null; each = each.above) keys.push(each.key);
  return keys.reduceRight<string>(nameBelow, root);
}

function nameBelow(name: string, key: string | number): string {
  if (typeof key === 'number') return `${name}[${key}]`;
  return name === '' ? key : `${name}.${key}`;
}

/**
 * Returns the name of the field that holds malformed text (`metadata.key`, `replays[3].userId`); undefined when there
 * is none. Keys are checked as well. It keeps its own stack, because the sender chooses the nesting, and names nothing
 * but the fault, because the sender chooses the number of items.
 */
export function malformedTextIn(root: unknown, name = ''): string | undefined {
  if (typeof root === 'string') return root.isWellFormed() ? undefined : name || 'body';
  const waiting: Part[] = [];
  /** Returns whether an item is malformed text. A list or object waits for its turn. */
  const isMalformed = (value: unknown, key: string | number, above: Part | null): boolean => {
    if (typeof value === 'object' && value !== null) waiting.push({ value, key, above });
    return typeof value === 'string' && !value.isWellFormed();
  };
  isMalformed(root, '', null);
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const here = part;
    const key = firstKey(here.value, (item, key) => isMalformed(item, key, here));
    if (key !== undefined) return nameBelow(nameOfPart(here, name), key).toWellFormed();
  }
  return undefined;
}

/** Returns the first key that is malformed, or whose item is accepted. A million pairs would take a second to make. */
function firstKey(
  value: object,
  accepts: (item: unknown, key: string | number) => boolean,
): string | number | undefined {
  if (Array.isArray(value)) {
    const index = value.findIndex(accepts);
    return index < 0 ? undefined : index;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.keys(fields).find((key) => !key.isWellFormed() || accepts(fields[key], key));
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
    if (names.includes(prototypeName)) return names[0] || prototypeName;
  }
  return undefined;
}
