/**
 * Parses JSON text, and reports where and why text is not JSON. The engine parses. Its messages lack the position in
 * half of the cases and differ between versions. So a scanner finds the fault in text that the engine refused.
 */

interface JsonFault {
  /** Number of UTF-16 units before the fault. */
  readonly position: number;
  /** Completes the message "expected …". */
  readonly expected: string;
}

/** Returns the value of JSON text, or a description of its first fault. */
export function parseJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: string } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    const fault = findJsonFault(text);
    return { ok: false, fault: fault === undefined ? 'the engine refused it' : describeJsonFault(text, fault) };
  }
}

/** Lists and objects within one another. The engine reads any number, but fails to write many thousands. */
export const maxJsonDepth = 200;
/** What an error says about JSON that is nested too deeply. */
export const jsonDepthRule = `at most ${maxJsonDepth} lists and objects within one another`;
/** Fields of all objects together. The engine takes up to 4 µs for each where objects share no order of names. */
export const maxJsonFields = 200_000;
/** What an error says about JSON with too many fields. */
export const jsonFieldsRule = `at most ${maxJsonFields} fields in all objects together`;

/** Parses JSON that is written again, as it is or in a message. */
export function parseWritableJson(text: string): ReturnType<typeof parseJson> {
  const excess = jsonExcess(text);
  return excess === undefined ? parseJson(text) : { ok: false, fault: `expected ${excess}` };
}

const quote = '"'.charCodeAt(0);
const colon = ':'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const opening = '{'.charCodeAt(0);
const closing = '}'.charCodeAt(0);
/** The bit in which `[` differs from `{`, and `]` from `}`. */
const bitOfBraces = 0x20;

/**
 * Returns the rule that JSON text breaks by its depth or its number of fields; undefined: none. Call it before the text
 * is parsed: the engine takes a second for five million lists within one another, and two for half a million fields.
 * Of text that is not JSON it tests what comes before the fault.
 */
export function jsonExcess(text: string, maxDepth = maxJsonDepth, maxFields = maxJsonFields): string | undefined {
  let depth = 0;
  let fields = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if ((code | bitOfBraces) === opening) depth += 1;
    else if ((code | bitOfBraces) === closing) depth -= 1;
    else if (code === colon) fields += 1;
    if (depth > maxDepth) return jsonDepthRule;
  }
  return fields > maxFields ? jsonFieldsRule : undefined;
}

/** Tests whether a value has more than `maxDepth` lists and objects within one another. */
export function isDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, maxDepth - 1));
  for (const key in value) {
    if (isDeeper((value as Readonly<Record<string, unknown>>)[key], maxDepth - 1)) return true;
  }
  return false;
}

const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /true|false|null/y;
const stringPart = /[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

const value = 'a value';
const afterValue = { '[': ', or ]', '{': ', or }' } as const;

/** Returns the first place at which the text leaves the grammar of RFC 8259; undefined when it never does. */
export function findJsonFault(text: string): JsonFault | undefined {
  let at = 0;
  const open: ('[' | '{')[] = [];

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text) || pattern.lastIndex === at) return false;
    at = pattern.lastIndex;
    return true;
  };
  const fault = (expected: string): JsonFault => ({ position: at, expected });

  function string(): JsonFault | undefined {
    at += 1;
    while (skip(stringPart));
    if (text[at] === '"') {
      at += 1;
      return undefined;
    }
    return fault(text[at] === '\\' ? 'an escape such as \\n or \\u00e9' : 'the end of a string');
  }

  /** Reads a key and its colon. */
  function key(): JsonFault | undefined {
    if (text[at] !== '"') return fault('a key in double quotes');
    const broken = string();
    if (broken) return broken;
    skip(space);
    if (text[at] !== ':') return fault(':');
    at += 1;
    return undefined;
  }

  /** Closes the lists and objects that end here. Returns whether another item follows. */
  function afterItem(): 'next' | 'end' | JsonFault {
    for (;;) {
      skip(space);
      const inside = open.at(-1);
      if (inside === undefined) return at === text.length ? 'end' : fault('the end of the text');
      if (text[at] === ',') {
        at += 1;
        return 'next';
      }
      if (text[at] !== (inside === '[' ? ']' : '}')) return fault(afterValue[inside]);
      at += 1;
      open.pop();
    }
  }

  for (;;) {
    skip(space);
    if (open.at(-1) === '{') {
      const broken = key();
      if (broken) return broken;
      skip(space);
    }
    const first = text[at];
    if (first === '[' || first === '{') {
      at += 1;
      open.push(first);
      skip(space);
      if (text[at] !== (first === '[' ? ']' : '}')) continue;
      at += 1;
      open.pop();
    } else if (first === '"') {
      const broken = string();
      if (broken) return broken;
    } else if (!skip(word) && !skip(number)) {
      return fault(value);
    }
    const after = afterItem();
    if (after === 'end') return undefined;
    if (after !== 'next') return after;
  }
}

/**
 * Describes the fault: `line 2, column 7: expected a value, not "}"`. Both count from 1. For a single line only the
 * column is given.
 */
export function describeJsonFault(text: string, { position, expected }: JsonFault): string {
  const before = text.slice(0, position);
  const line = text.includes('\n') ? `line ${before.split('\n').length}, ` : '';
  const column = position - before.lastIndexOf('\n');
  const found =
    position >= text.length ? 'the end' : JSON.stringify(String.fromCodePoint(text.codePointAt(position) as number));
  return `${line}column ${column}: expected ${expected}, not ${found}`;
}
