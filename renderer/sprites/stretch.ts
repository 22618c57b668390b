/** Stretches images to fit a text, such as road shields. One dimension at a time. Pure. */
import type { Span } from './sprite-index.js';

/** A part of an image and its drawn range. */
interface StretchedPart {
  /** Pixels of the image. */
  readonly from: number;
  readonly to: number;
  /** Drawn range in CSS pixels. */
  readonly start: number;
  readonly end: number;
}

/** One axis of an image that was stretched to fit a text. */
export interface Stretched {
  readonly parts: readonly StretchedPart[];
  /** Length of all parts in CSS pixels. */
  readonly length: number;
  /** Length before the content. */
  readonly before: number;
}

/** An image's length and stretchable ranges, in its pixels. */
export interface StretchableLength {
  readonly length: number;
  /** Ranges that stretch; null for all of it. */
  readonly spans: readonly Span[] | null;
  /** Range of the text; null for all of it. */
  readonly content: Span | null;
}

/**
 * Stretches the image so that its content has `contentPx`. Fixed parts have `unitPx` per pixel. Both are CSS pixels.
 */
export function stretched({ length, spans, content }: StretchableLength, contentPx: number, unitPx: number): Stretched {
  const growing = spans ?? [[0, length]];
  const [contentFrom, contentTo] = content ?? [0, length];
  const grown = growing.reduce(
    (sum, [from, to]) => sum + Math.max(0, Math.min(to, contentTo) - Math.max(from, contentFrom)),
    0,
  );
  const fixedPx = (contentTo - contentFrom - grown) * unitPx;
  const grownUnitPx = grown > 0 ? Math.max(0, contentPx - fixedPx) / grown : unitPx;
  const parts: StretchedPart[] = [];
  let before = 0;
  for (const { from, to, grows } of alternating(growing, length)) {
    const partUnitPx = grows ? grownUnitPx : unitPx;
    const start = parts.at(-1)?.end ?? 0;
    parts.push({ from, to, start, end: start + (to - from) * partUnitPx });
    before += Math.max(0, Math.min(to, contentFrom) - from) * partUnitPx;
  }
  return { parts, length: parts.at(-1)!.end, before };
}

/** Returns the image in its own size. */
export function unstretched(length: number, unitPx: number): Stretched {
  return { parts: [{ from: 0, to: length, start: 0, end: length * unitPx }], length: length * unitPx, before: 0 };
}

function alternating(spans: readonly Span[], length: number): { from: number; to: number; grows: boolean }[] {
  const parts: { from: number; to: number; grows: boolean }[] = [];
  let at = 0;
  for (const [from, to] of spans) {
    if (from > at) parts.push({ from: at, to: from, grows: false });
    parts.push({ from, to, grows: true });
    at = to;
  }
  if (at < length) parts.push({ from: at, to: length, grows: false });
  return parts;
}
