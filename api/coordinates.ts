/** Coordinates as owners write them: longitude first, numbers or their text. */

import { parseNumber } from '../http/fields/reader.js';
import { invalid, type Validated } from '../schemas/errors.js';
import type { Position } from '../schemas/json/common.js';

/** One [longitude, latitude] in degrees. */
export function parsePosition(value: unknown, param = 'coordinates'): Validated<Position> {
  if (!Array.isArray(value) || value.length !== 2) return invalid(param, 'must be [longitude,latitude]');
  const [longitude, latitude] = value.map(parseNumber);
  if (longitude === undefined || latitude === undefined)
    return invalid(param, 'must be two finite numbers, [longitude,latitude]');
  if (Math.abs(longitude) > 180) return invalid(param, 'longitude, which comes first, must be -180 to 180');
  if (Math.abs(latitude) > 90) return invalid(param, 'latitude, which comes second, must be -90 to 90');
  return { ok: true, value: [longitude, latitude] };
}
