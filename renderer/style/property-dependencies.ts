/** Finds the feature properties that an expression depends on, from its JSON alone. Pure. */

/** Property names. Null when they are computed, or when the expression reads more than properties and type. */
export type PropertyDependencies = ReadonlySet<string> | null;

/** Operators that read something else of a feature: its id, its geometry, all its properties. */
const beyondProperties = new Set(['id', '$id', 'within', 'distance', 'properties', 'feature-state', 'accumulated']);

/** Returns the union of the dependencies of filters and property values, given as JSON. Empty texts have none. */
export function dependenciesOf(...texts: readonly string[]): PropertyDependencies {
  const strings = new Set<string>();
  for (const text of texts) {
    const value: unknown = text === '' ? null : JSON.parse(text);
    if (hasComputedName(value)) return null;
    collectStrings(value, strings);
  }
  // Every string counts as a name. A superfluous name is harmless: it only splits a kind of feature in two.
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
