/** Single values of a request, as JSON types or as the text that a form makes of them. Undefined: not given. */

const numberText = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** NaN for what is given but is no number. */
export function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' && numberText.test(value) ? Number(value) : Number.NaN;
}

/** null for what is given but is neither true nor false. */
export function readBoolean(value: unknown): boolean | undefined | null {
  if (typeof value === 'boolean') return value;
  if (value === undefined || value === null || value === '') return undefined;
  if (value === 'true' || value === '1' || value === 1) return true;
  return value === 'false' || value === '0' || value === 0 ? false : null;
}

/** A number counts as its text; null for what is neither. Whether the text is well-formed is left to the caller. */
export function readText(value: unknown): string | undefined | null {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}
