/** Reads one `markers` parameter: `color:0xFF0000|size:small|icon:…|latitude,longitude|…`. */
import { invalid, type Validated } from '../../schemas/errors.js';
import type { Color, MarkerGroup } from '../types.js';
import { colorRule, parseColor } from './colors.js';
import { isIconUrl } from './references.js';
import { readSegments } from './segments.js';

const param = 'markers';
const sizes = ['normal', 'small'] as const;
const defaultColor: Color = [0, 2, 0x57, 1];
const maxIconLength = 2_048;

/** Returns the group of markers, or the first rule that the text breaks. */
export function readMarkers(text: string): Validated<MarkerGroup> {
  const segments = readSegments(param, text, { options: ['color', 'size', 'icon'] });
  if (!segments.ok) return segments;
  const { options, locations } = segments.value;
  const color = parseColor(options.get('color') ?? '') ?? (options.has('color') ? undefined : defaultColor);
  if (color === undefined) return invalid(param, colorRule('color'));
  const sizeText = options.get('size')?.toLowerCase() ?? 'normal';
  const size = sizes.find((known) => known === sizeText);
  if (size === undefined) return invalid(param, `option size must be ${sizes.join(' or ')}`);
  const icon = options.get('icon') ?? null;
  if (icon !== null && !isReference(icon)) {
    return invalid(param, 'option icon must be the URL of a PNG or SVG, or the id of an uploaded marker');
  }
  if (locations.length === 0) return invalid(param, 'must have at least one location, latitude,longitude');
  return { ok: true, value: { color, size, icon, locations } };
}

/** Returns whether a text may be the id of an upload, or is a URL. */
const isReference = (icon: string): boolean =>
  icon !== '' && icon.length <= maxIconLength && (!isIconUrl(icon) || URL.canParse(icon));
