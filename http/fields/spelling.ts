/** Suggestions for unknown names. Most of them are misspelt known names. */
import { shownText } from '../../schemas/wording.js';

/**
 * Returns the number of insertions, deletions, changes and swaps of neighbours that turn one word into the other
 * (optimal string alignment).
 */
function editDistance(one: string, other: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const current = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1;
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + change);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) current[j] = Math.min(current[j]!, beforePrevious[j - 2]! + 1);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[other.length]!;
}

const maxNameLength = 100;

/** Returns the nearest known name, ignoring case; undefined when none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const lower = name.toLowerCase();
  const distances = known.map((other) => ({ other, distance: editDistance(lower, other.toLowerCase()) }));
  const [nearest] = distances.sort((one, another) => one.distance - another.distance);
  const tolerated = Math.max(1, Math.floor(name.length / 3));
  return nearest !== undefined && nearest.distance <= tolerated ? nearest.other : undefined;
}

/** Returns the end of a message about an unknown name: the name that was probably meant, or all known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  return known.length === 0 ? 'this call has none' : `known are ${known.join(', ')}`;
}

/** Returns a name shortened for a message. */
export const shownName = (name: string): string => shownText(name, maxNameLength);
