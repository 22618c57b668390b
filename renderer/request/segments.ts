/**
 * Parses the grammar that `markers` and `path` share: segments separated by `|`. Options come first as `name:value`,
 * then locations as `latitude,longitude`.
 *
 * Option names are case-insensitive. Empty segments are ignored.
 */
import { type FieldProblem, invalid, type Validated } from '../../schemas/errors.js';
import { shownText } from '../../schemas/wording.js';
import type { Position } from '../types.js';
import { coordinate } from './numbers.js';

/** What one parameter says: options, and the locations that they are for. */
export interface Segments {
  /** Option values by name in lower case. The last of equal names counts. */
  readonly options: ReadonlyMap<string, string>;
  readonly locations: readonly Position[];
}

interface SegmentRules {
  /** Option names as documented. */
  readonly options: readonly string[];
  /**
   * Reads the alternative to locations, such as a polyline, from the rest of the text. Returns undefined if it is none.
   */
  readonly shape?: (rest: string) => Validated<readonly Position[]> | undefined;
}

/** Parses segments. Problems name `param`. */
export function readSegments(
  param: string,
  text: string,
  { options: known, shape }: SegmentRules,
): Validated<Segments> {
  const options = new Map<string, string>();
  const locations: Position[] = [];
  for (let start = 0; start <= text.length; ) {
    const separator = text.indexOf('|', start);
    const end = separator < 0 ? text.length : separator;
    const segment = text.slice(start, end).trim();
    const whole = locations.length === 0 ? shape?.(text.slice(start).trimStart()) : undefined;
    if (whole) return whole.ok ? { ok: true, value: { options, locations: whole.value } } : whole;
    start = end + 1;
    if (segment === '') continue;
    const name = optionName(segment);
    if (name !== undefined) {
      const problem = optionProblem(param, name, known, locations.length > 0);
      if (problem) return { ok: false, problem };
      options.set(name, segment.slice(name.length + 1).trim());
      continue;
    }
    const location = parseLocation(segment);
    if ('rule' in location) return invalid(param, `has "${shown(segment)}", which is no option: ${location.rule}`);
    locations.push(location.position);
  }
  return { ok: true, value: { options, locations } };
}

/** Returns the name before the first colon in lower case. A value may contain colons. */
const optionName = (segment: string): string | undefined => /^([a-z0-9]+):/i.exec(segment)?.[1]?.toLowerCase();

function optionProblem(
  param: string,
  name: string,
  known: readonly string[],
  isLate: boolean,
): FieldProblem | undefined {
  if (!known.some((option) => option.toLowerCase() === name))
    return { param, rule: `has no option "${shown(name)}"; there are ${known.join(', ')}` };
  if (isLate) return { param, rule: `must have its options before its locations, but "${name}" comes after one` };
  return undefined;
}

/** Parses `latitude,longitude` in degrees as [longitude, latitude]. Returns the rule that other texts break. */
export function parseLocation(text: string): { readonly position: Position } | { readonly rule: string } {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length !== 2 || !parts.every((part) => coordinate.test(part)))
    return { rule: 'must be latitude,longitude' };
  const [latitude, longitude] = parts.map(Number) as [number, number];
  if (Math.abs(latitude) > 90) return { rule: 'latitude, which comes first, must be -90 to 90' };
  if (Math.abs(longitude) > 180) return { rule: 'longitude, which comes second, must be -180 to 180' };
  return { position: [longitude, latitude] };
}

/** Shortens a value for a message. */
const shown = (text: string): string => shownText(text, 40);
