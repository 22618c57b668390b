/** Decodes polylines: Google's "Encoded Polyline Algorithm Format" with 5 or 6 decimals. */
import type { Position } from '../types.js';

/**
 * Returns the positions. Returns undefined when the text is cut short, has an invalid character, or leaves the world.
 */
export function decodePolyline(text: string, decimals: 5 | 6): Position[] | undefined {
  const numbers = decodeNumbers(text);
  if (numbers === undefined || numbers.length % 2 !== 0) return undefined;
  const unit = 10 ** decimals;
  const positions: Position[] = [];
  let latitude = 0;
  let longitude = 0;
  for (let index = 0; index < numbers.length; index += 2) {
    latitude += numbers[index] as number;
    longitude += numbers[index + 1] as number;
    if (Math.abs(latitude) > 90 * unit || Math.abs(longitude) > 180 * unit) return undefined;
    positions.push([longitude / unit, latitude / unit]);
  }
  return positions;
}

const firstCode = 63;
const lastCode = 126;
const continues = 0x20;
/** Six characters of five bits hold a difference of 360 degrees with 6 decimals. */
const maxCharacters = 6;

/** Returns the signed differences, or undefined when the text is malformed. */
function decodeNumbers(text: string): number[] | undefined {
  const numbers: number[] = [];
  let value = 0;
  let characters = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < firstCode || code > lastCode || characters === maxCharacters) return undefined;
    const bits = code - firstCode;
    value |= (bits & (continues - 1)) << (5 * characters);
    characters += 1;
    if (bits & continues) continue;
    // The lowest bit is the sign.
    numbers.push(value & 1 ? ~(value >> 1) : value >> 1);
    value = 0;
    characters = 0;
  }
  return characters === 0 ? numbers : undefined;
}
