/** Encoded polylines: each coordinate as the difference from the one before, latitude first. */
import type { Position } from '../../schemas/json/common.js';

/**
 * Decodes a polyline.
 * @param digits decimal digits of a degree: 5 or 6.
 */
export function decodePolyline(text: string, digits: number): Position[] {
  const path: Position[] = [];
  const unit = 10 ** digits;
  let at = 0;
  function next(): number {
    let value = 0;
    for (let shift = 0; at < text.length; shift += 5) {
      const chunk = text.charCodeAt(at++) - 63;
      value += (chunk & 31) * 2 ** shift;
      if (chunk < 32) break;
    }
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
  for (let latitude = 0, longitude = 0; at < text.length; ) {
    latitude += next();
    longitude += next();
    path.push([longitude / unit, latitude / unit]);
  }
  return path;
}

/**
 * Encodes a polyline.
 * @param digits decimal digits of a degree: 5 or 6.
 */
export function encodePolyline(path: readonly Position[], digits: number): string {
  const unit = 10 ** digits;
  let text = '';
  function append(difference: number): void {
    let value = difference < 0 ? -2 * difference - 1 : 2 * difference;
    for (; value >= 32; value = Math.floor(value / 32)) text += String.fromCharCode((value % 32) + 32 + 63);
    text += String.fromCharCode(value + 63);
  }
  let [latitude, longitude] = [0, 0];
  for (const [x, y] of path) {
    const [nextLatitude, nextLongitude] = [Math.round(y * unit), Math.round(x * unit)];
    append(nextLatitude - latitude);
    append(nextLongitude - longitude);
    [latitude, longitude] = [nextLatitude, nextLongitude];
  }
  return text;
}
