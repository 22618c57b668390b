/** Tells two lists of lines apart, for people who have to find out why. */

const shownLines = 12;

/**
 * Empty when both hold the same lines equally often; else what is missing and what is too much, the first few in full.
 */
export function differences(what: string, expected: readonly string[], actual: readonly string[]): string[] {
  const missing = surplus(expected, actual);
  const extra = surplus(actual, expected);
  return [...described(`${what} missing`, missing), ...described(`${what} that should not be there`, extra)];
}

/** Lines that occur more often than once. */
export function repeated(what: string, lines: readonly string[]): string[] {
  return described(`${what} more than once`, surplus(lines, [...new Set(lines)]));
}

/** The lines of `a` beyond those of `b`, as often as they are. */
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
