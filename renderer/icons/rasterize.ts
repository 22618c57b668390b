/**
 * Rasterizes untrusted marker images, PNG or SVG, to the small pictures that maps show.
 *
 * Input: a file. Output: a PNG of at most {@link maxIconPx} CSS pixels, or the rule that the file breaks. Limits that
 * can be counted are checked before decoding. Decoding is native code that cannot be interrupted, so untrusted files
 * must be decoded in a process that can be killed: `pool/icon-process`.
 */
import sharp from 'sharp';
import { invalid, type Validated } from '../../schemas/errors.js';
import { isPng, pngSize } from '../png/header.js';
import { svgProblem } from './svg-limits.js';

/** Maximum width and height of an icon in CSS pixels. Larger icons are scaled down. */
const maxIconPx = 64;
const maxInputPixels = 4_000_000;
/** Resolution at which librsvg draws a CSS pixel as one pixel. */
const svgDpi = 72;

/** The types of images that markers may have. */
export type IconKind = 'png' | 'svg';

/** An icon for maps of one scale. */
export interface RasterIcon {
  readonly kind: IconKind;
  readonly png: Uint8Array;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

/** Detects the kind of a file by its bytes, not by its declared type. */
function iconKind(bytes: Uint8Array): IconKind | undefined {
  if (isPng(bytes)) return 'png';
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024)).toString('utf8');
  let text = start.replace(/^\ufeff?\s*(?:<\?xml[^>]*\?>\s*)?/i, '');
  while (text.startsWith('<!--')) {
    const end = text.indexOf('-->', 4);
    if (end < 0) return undefined;
    text = text.slice(end + 3).trimStart();
  }
  return /^<(?:!DOCTYPE|svg[\s>/])/i.test(text) ? 'svg' : undefined;
}

const tooLarge = invalid('icon', 'must be a PNG or SVG of at most 4,000,000 pixels');
const unreadable = invalid('icon', 'must be a PNG or SVG of at most 4,000,000 pixels, and whole');

/** Returns the icon, or the rule that the file breaks. An SVG is drawn at the map's scale, so that it stays sharp. */
export async function rasterizeIcon(file: Uint8Array, scale: number): Promise<Validated<RasterIcon>> {
  const kind = iconKind(file);
  if (kind === undefined) return tooLarge;
  if (kind === 'png') return isTooLarge(pngSize(file)) ? tooLarge : rasterize(kind, file, scale, {});
  const problem = svgProblem(file);
  if (problem !== null) return invalid('icon', problem);
  try {
    const size = await sharp(file, { density: svgDpi }).metadata();
    if (isTooLarge(size)) return tooLarge;
    // SVGs are drawn at the displayed size, because each group and filter allocates pictures of that size.
    const share = Math.min(1, maxIconPx / Math.max(size.width, size.height));
    return rasterize(kind, file, scale, { density: Math.max(1, svgDpi * scale * share) });
  } catch {
    return unreadable;
  }
}

const isTooLarge = (size: { readonly width: number; readonly height: number } | undefined): boolean =>
  size !== undefined && size.width * size.height > maxInputPixels;

async function rasterize(
  kind: IconKind,
  file: Uint8Array,
  scale: number,
  density: { readonly density?: number },
): Promise<Validated<RasterIcon>> {
  try {
    const maxPx = Math.round(maxIconPx * scale);
    const { data, info } = await sharp(file, { ...density, limitInputPixels: maxInputPixels, pages: 1 })
      .resize(maxPx, maxPx, { fit: 'inside', withoutEnlargement: true })
      .png({ compressionLevel: 1 })
      .toBuffer({ resolveWithObject: true });
    // A PNG says nothing of its density: its pixels are CSS pixels, but never so many that it passes the bound.
    const shrink = kind === 'svg' ? scale : Math.max(1, Math.max(info.width, info.height) / maxIconPx);
    return { ok: true, value: { kind, png: data, width: info.width / shrink, height: info.height / shrink } };
  } catch {
    return unreadable;
  }
}
