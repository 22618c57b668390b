/**
 * Counts what an expression costs: its operators, with each variable written out.
 *
 * Each `var` evaluates what `let` bound to it, so a list of variables that each use the one before twice costs twice as
 * much for each of them. Input: any JSON, at most as deep as the stack allows. Pure.
 */

/** What is known at a place of an expression. */
interface Scope {
  readonly variables: ReadonlyMap<unknown, number>;
  /** Sizes of values that occur several times. Localized expressions repeat values, which contain repetitions. */
  readonly known: Map<object, number>;
}

/** `within` compares each vertex of a feature with each position of its areas. */
const operatorsPerPosition = 10;

/** Returns the number of operators that evaluating the value may take; infinite beyond the range of numbers. */
export const expandedSize = (value: unknown): number => sizeIn({ variables: new Map(), known: new Map() }, value);

function sizeIn(scope: Scope, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let size = scope.known.get(value);
  if (size === undefined) {
    size = Array.isArray(value) ? sizeOfList(scope, value) : sum(scope, Object.values(value));
    scope.known.set(value, size);
  }
  return size;
}

function sizeOfList(scope: Scope, list: readonly unknown[]): number {
  const [operator, ...values] = list;
  if (operator === 'literal') return 1;
  if (operator === 'within') return 1 + operatorsPerPosition * sum(scope, values);
  if (operator === 'var') return 1 + (scope.variables.get(values[0]) ?? 0);
  if (operator !== 'let') return 1 + sum(scope, list);
  const variables = new Map(scope.variables);
  for (let i = 0; i + 1 < values.length; i += 2) variables.set(values[i], sizeIn(scope, values[i + 1]));
  return 1 + sum(scope, values.slice(0, -1)) + sizeIn({ variables, known: new Map() }, values.at(-1));
}

const sum = (scope: Scope, values: readonly unknown[]): number =>
  values.reduce<number>((total, value) => total + sizeIn(scope, value), 0);
