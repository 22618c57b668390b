/** What of a feature an expression reads, told from its text alone. Pure. */

/** Names of properties; null where they can't be told, or where more than properties and type is read. */
export type Reads = ReadonlySet<string> | null;

/** Operators that read something else of a feature: its number, its place, all that it has. */
const beyondProperties = new Set(['id', '$id', 'within', 'distance', 'properties', 'feature-state', 'accumulated']);

/** Of filters and values of properties, as JSON, together; an empty text reads nothing. */
export function readsOf(...texts: readonly string[]): Reads {
  const strings = new Set<string>();
  for (const text of texts) {
    const value: unknown = text === '' ? null : JSON.parse(text);
    if (hasComputedName(value)) return null;
    collectStrings(value, strings);
  }
  // Every string may be a name: one too many only tells features apart that are alike.
  for (const string of strings) if (beyondProperties.has(string) || string.includes('{')) return null;
  return strings;
}

function hasComputedName(value: unknown): boolean {
  if (!Array.isArray(value))
    return typeof value === 'object' && value !== null && Object.values(value).some(hasComputedName);
  const [operator, name] = value;
  if ((operator === 'get' || operator === 'has') && typeof name !== 'string') return true;
  return value.some(hasComputedName);
}

function collectStrings(value: unknown, into: Set<string>): void {
  if (typeof value === 'string') into.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) collectStrings(each, into);
}
