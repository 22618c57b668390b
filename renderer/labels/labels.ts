/**
 * The text and icons of a map: a style's symbol layers.
 *
 * Flows in: the decoded tiles of a frame, a compiled style and its images. Flows out: text and icons on the frame's
 * canvas. What is placed later gives way to what was placed before: layers from the top of the style to its bottom, in
 * each the lowest sort key first. Imports `style/`, `tiles/`, `draw/` `sprites/` and the fonts.
 */

import type { Frame } from '../draw/frame.js';
import type { PaintLabels } from '../render.js';
import type { CompiledStyle, StyleLayer } from '../style/compile.js';
import type { PixelBox } from '../types.js';
import { drawLabels } from './draw.js';
import type { Candidate, PlacedLabel } from './label.js';
import { lineCandidates } from './lines.js';
import { placeLabels } from './place.js';
import { pointCandidates } from './points.js';

/** The labels of a map in a language, which decides between forms of Chinese characters; names are in it already. */
export function paintLabels(language: string): PaintLabels {
  return (frame, style, keepFree) => {
    const labels = labelsOf(frame, style, keepFree, language);
    // What was placed first lies on top, where a style allows overlaps.
    drawLabels(frame.context, frame.view.scale, labels.reverse());
  };
}

/** All labels that find room, the most important first. */
export function labelsOf(
  frame: Frame,
  style: CompiledStyle,
  keepFree: readonly PixelBox[],
  language: string,
): PlacedLabel[] {
  const layers = style.layers.filter((layer) => layer.type === 'symbol' && layer.isVisible(frame.view.zoom));
  const candidates = layers.reverse().flatMap((layer) => candidatesOf(frame, layer, language));
  return placeLabels(candidates, frame.view, keepFree);
}

function candidatesOf(frame: Frame, layer: StyleLayer, language: string): Candidate[] {
  const isAtPoints = layer.property<string>('symbol-placement').at(frame.wholeZoom) === 'point';
  return isAtPoints ? pointCandidates(frame, layer, language) : lineCandidates(frame, layer, language);
}
