/**
 * Reads one `path` parameter: `stroke:0x000257|width:3|border:white|borderWidth:2|` followed by locations, by `enc:` or
 * `enc6:` and a polyline, or by a LineString.
 */
import { invalid, type Validated } from '../../schemas/errors.js';
import type { Color, PathOverlay, Position } from '../types.js';
import { colorRule, parseColor } from './colors.js';
import { decodePolyline } from './polyline.js';
import { readSegments, type Segments } from './segments.js';

const param = 'path';
const defaults = { stroke: [0, 2, 0x57, 1], border: [255, 255, 255, 1], width: 3, borderWidth: 2 } as const;
const maxWidthPx = 100;

/** Returns the path, or the first rule that the text breaks. */
export function readPath(text: string): Validated<PathOverlay> {
  const segments = readSegments(param, text, {
    options: ['stroke', 'width', 'border', 'borderWidth'],
    shape: readShape,
  });
  if (!segments.ok) return segments;
  const { options, locations } = segments.value;
  const stroke = readColor(options, 'stroke');
  if (!stroke.ok) return stroke;
  const border = readColor(options, 'border');
  if (!border.ok) return border;
  const width = readWidth(options, 'width', 0.1);
  if (!width.ok) return width;
  const borderWidth = readWidth(options, 'borderWidth', 0);
  if (!borderWidth.ok) return borderWidth;
  if (locations.length < 2) return invalid(param, 'must have at least two locations');
  return {
    ok: true,
    value: {
      stroke: stroke.value,
      border: border.value,
      width: width.value,
      borderWidth: borderWidth.value,
      locations,
    },
  };
}

function readColor(options: Segments['options'], name: 'stroke' | 'border'): Validated<Color> {
  const text = options.get(name);
  const color = text === undefined ? defaults[name] : parseColor(text);
  return color ? { ok: true, value: color } : invalid(param, colorRule(name));
}

function readWidth(options: Segments['options'], name: 'width' | 'borderWidth', minimum: number): Validated<number> {
  const text = options.get(name.toLowerCase());
  if (text === undefined) return { ok: true, value: defaults[name] };
  const width = /^(?:\d+|\d*\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (width >= minimum && width <= maxWidthPx) return { ok: true, value: width };
  return invalid(param, `option ${name} must be a number from ${minimum} to ${maxWidthPx} pixels`);
}

/** Reads a polyline or a LineString. Both take the rest of the text, because they contain `|` or `,`. */
function readShape(rest: string): Validated<readonly Position[]> | undefined {
  const [, decimals] = /^enc(6?):/i.exec(rest) ?? [];
  if (decimals !== undefined) {
    const positions = decodePolyline(rest.slice(rest.indexOf(':') + 1), decimals === '6' ? 6 : 5);
    return positions
      ? { ok: true, value: positions }
      : invalid(
          param,
          `must have an encoded polyline of latitude and longitude with ${decimals || 5} decimals after enc${decimals}:`,
        );
  }
  return rest.startsWith('{') ? readLineString(rest) : undefined;
}

function readLineString(text: string): Validated<readonly Position[]> {
  const wrong = invalid(param, 'must be a GeoJSON LineString of [longitude, latitude]');
  try {
    const { type, coordinates } = JSON.parse(text) as { type?: unknown; coordinates?: unknown };
    if (type !== 'LineString' || !Array.isArray(coordinates) || !coordinates.every(isPosition)) return wrong;
    return { ok: true, value: coordinates.map(([longitude, latitude]): Position => [longitude, latitude]) };
  } catch {
    return wrong;
  }
}

const isPosition = (value: unknown): value is [number, number] =>
  Array.isArray(value) &&
  value.length >= 2 &&
  typeof value[0] === 'number' &&
  typeof value[1] === 'number' &&
  Math.abs(value[0]) <= 180 &&
  Math.abs(value[1]) <= 90;
