/** Prepares styles for MapLibre GL JS, and compares its labels with ours. Pure, except that it reads fonts. */
import { readFileSync } from 'node:fs';
import type { LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { PeerLabel } from '../../testing/maplibre.js';
import type { ServedFile } from '../../testing/memory-server.js';
import { type FontFace, fontFamilies, fontPath } from '../fonts.js';
import type { PlacedLabel } from '../labels/label.js';
import { faceOf } from '../labels/text/font-face.js';
import type { TileSource } from '../types.js';

const faces: readonly FontFace[] = ['regular', 'medium', 'bold', 'italic'];

/** Returns our Latin fonts by path. MapLibre GL JS draws with them, so that texts have equal widths. */
export function fontFiles(): Map<string, ServedFile> {
  return new Map(
    faces.map((face) => [
      `/fonts/${face}`,
      { type: 'font/ttf', bytes: readFileSync(fontPath(fontFamilies[0]!, face)!) },
    ]),
  );
}

/** Returns the style with tiles and fonts from a server, on a flat map. Its source is `map`. */
export function peerStyle(
  { layers, version }: StyleSpecification,
  { minZoom: minzoom, maxZoom: maxzoom }: TileSource,
  tiles: string,
  server: string,
): StyleSpecification {
  const faceFiles = fontNames(layers).map((name) => [name, [{ url: `${server}/fonts/${faceOf([name])}` }]]);
  return {
    version,
    'font-faces': Object.fromEntries(faceFiles),
    sources: { map: { type: 'vector', tiles: [tiles], minzoom, maxzoom } },
    layers: layers.filter((layer) => !('source' in layer) || layer.source === 'map'),
  };
}

/** Returns all strings in the layers' fonts. Operators of expressions among them do no harm. */
function fontNames(layers: readonly LayerSpecification[]): string[] {
  const strings = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Array.isArray(value) ? value.flatMap(strings) : [];
  const fonts = layers.flatMap((layer) => {
    const { 'text-font': font, 'text-field': field } = (layer.layout ?? {}) as Record<string, unknown>;
    // Sections of a text may have a font of their own.
    return [...strings(font), ...sectionsOf(field).flatMap((section) => strings(section['text-font']))];
  });
  return [...new Set(fonts)];
}

function sectionsOf(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(sectionsOf);
  return value !== null && typeof value === 'object' ? [value as Record<string, unknown>] : [];
}

/** A text and the box around it, in CSS pixels of the image. */
type LabelBox = Omit<PeerLabel, 'layer'>;

/** Returns the text of a label and the box around all of it, in pixels. */
export function labelBox({ candidate, placement: { boxes, rectangle } }: PlacedLabel): LabelBox {
  return {
    text: candidate.text,
    isAlongLine: rectangle === undefined || rectangle.angle !== 0,
    left: Math.min(...boxes.map(({ minX }) => minX)),
    top: Math.min(...boxes.map(({ minY }) => minY)),
    right: Math.max(...boxes.map(({ maxX }) => maxX)),
    bottom: Math.max(...boxes.map(({ maxY }) => maxY)),
  };
}

/** How many labels there are, how many of them the other side has too, and the others. */
export interface Agreement {
  count: number;
  equal: number;
  readonly others: string[];
}

/** How many labels of each side the other one has as well. */
export interface LabelAgreement {
  /** Texts of points: with the same text in the same place. */
  readonly ourPoints: Agreement;
  readonly theirPoints: Agreement;
  /** Texts along lines: with the same text somewhere in the image. */
  readonly ourLines: Agreement;
  readonly theirLines: Agreement;
}

/** Returns counts of zero, which views are added to. */
export const noAgreement = (): LabelAgreement => ({
  ourPoints: { count: 0, equal: 0, others: [] },
  theirPoints: { count: 0, equal: 0, others: [] },
  ourLines: { count: 0, equal: 0, others: [] },
  theirLines: { count: 0, equal: 0, others: [] },
});

/** Distance from the image's edge in which labels are not compared: there a label may be cut, or have no place. */
const edgePx = 80;
/** Text has its size at the next whole zoom in the boxes of MapLibre GL JS. One box therefore contains the other. */
const tolerancePx = 3;

/** Adds the labels of a view. Case and line breaks do not matter. */
export function compareLabels(
  sum: LabelAgreement,
  ours: readonly LabelBox[],
  theirs: readonly LabelBox[],
  size: { readonly width: number; readonly height: number },
): void {
  const isSame = (a: LabelBox, b: LabelBox): boolean => plain(a.text) === plain(b.text);
  const isNear = (a: LabelBox, b: LabelBox): boolean => isSame(a, b) && (contains(a, b) || contains(b, a));
  const isInner = ({ left, top, right, bottom }: LabelBox): boolean => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return x > edgePx && y > edgePx && x < size.width - edgePx && y < size.height - edgePx;
  };
  const add = (agreement: Agreement, label: LabelBox, isEqual: boolean): void => {
    agreement.count++;
    if (isEqual) agreement.equal++;
    else agreement.others.push(plain(label.text));
  };
  for (const label of ours.filter(isInner)) {
    if (label.isAlongLine)
      add(
        sum.ourLines,
        label,
        theirs.some((other) => isSame(label, other)),
      );
    else
      add(
        sum.ourPoints,
        label,
        theirs.some((other) => isNear(label, other)),
      );
  }
  for (const label of theirs.filter(isInner)) {
    if (label.isAlongLine)
      add(
        sum.theirLines,
        label,
        ours.some((other) => isSame(label, other)),
      );
    else
      add(
        sum.theirPoints,
        label,
        ours.some((other) => isNear(label, other)),
      );
  }
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase();

const contains = (a: LabelBox, b: LabelBox): boolean =>
  b.left >= a.left - tolerancePx &&
  b.right <= a.right + tolerancePx &&
  b.top >= a.top - tolerancePx &&
  b.bottom <= a.bottom + tolerancePx;
