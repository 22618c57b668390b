/** Marker images: PNG or SVG of strangers, decoded within bounds. */
import { type Image, loadImage } from '@napi-rs/canvas';
import sharp from 'sharp';

/** CSS pixels that an icon is at most wide and high; a larger one is made smaller. */
export const maxIconPx = 64;
const maxInputPixels = 4_000_000;
const timeoutS = 2;
/** At which librsvg draws a CSS pixel as one pixel. */
const svgDpi = 72;

export interface Icon {
  readonly image: Image;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

export type IconKind = 'png' | 'svg';

/** Decides by what the bytes are, not by what anybody says they are. */
export function iconKind(bytes: Uint8Array): IconKind | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024));
  if (start.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'png';
  return /^(\ufeff)?\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE[^>]*>\s*)?<svg[\s>]/i.test(start.toString('utf8'))
    ? 'svg'
    : undefined;
}

/**
 * An icon for maps of this scale, or undefined when the bytes aren't a PNG or SVG that can be decoded within the bounds.
 * An SVG is drawn at the scale, so that it stays sharp.
 */
export async function decodeIcon(bytes: Uint8Array, scale: number): Promise<Icon | undefined> {
  const kind = iconKind(bytes);
  if (kind === undefined) return undefined;
  try {
    const density = kind === 'svg' ? { density: svgDpi * scale } : {};
    const maxPx = Math.round(maxIconPx * scale);
    const { data, info } = await sharp(bytes, { ...density, limitInputPixels: maxInputPixels, pages: 1 })
      .resize(maxPx, maxPx, { fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: timeoutS })
      .png({ compressionLevel: 0 })
      .toBuffer({ resolveWithObject: true });
    // A PNG says nothing of its density: its pixels are CSS pixels, but never so many that it passes the bound.
    const shrink = kind === 'svg' ? scale : Math.max(1, Math.max(info.width, info.height) / maxIconPx);
    return { image: await loadImage(data), width: info.width / shrink, height: info.height / shrink };
  } catch {
    return undefined;
  }
}
