/** Describes the differences of two lists of lines. */

const shownLines = 12;

/**
 * Returns nothing when both lists hold the same lines equally often, else the first lines that are missing or too many.
 */
export function differences(what: string, expected: readonly string[], actual: readonly string[]): string[] {
  const missing = surplus(expected, actual);
  const extra = surplus(actual, expected);
  return [...described(`${what} missing`, missing), ...described(`${what} that should not be there`, extra)];
}

/** Describes lines that occur more than once. */
export function repeated(what: string, lines: readonly string[]): string[] {
  return described(`${what} more than once`, surplus(lines, [...new Set(lines)]));
}

/** Returns the lines of `a` without those of `b`, counted. */
function surplus(a: readonly string[], b: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of b) counts.set(line, (counts.get(line) ?? 0) + 1);
  return a.filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}

function described(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const rest = lines.length - shownLines;
  return [
    `${lines.length} ${heading}:`,
    ...lines.slice(0, shownLines).map((line) => `  ${line}`),
    ...(rest > 0 ? [`  … and ${rest} more`] : []),
  ];
}
