/**
 * Draws the symbol layers of a style: text and icons.
 *
 * Input: the decoded tiles of a frame, a compiled style and its images. Output: labels with their places. Steps:
 * `candidates/` selects symbols and creates label candidates, and `anchors/` finds their positions. `text/` and
 * `shape/` turn them into runs and icons with collision boxes. `collision/` decides which are placed, and `draw.ts`
 * draws them. Layers are placed from the top of the style to its bottom, lower sort keys first. Imports `style/`,
 * `tiles/`, `draw/`, `sprites/` and the fonts.
 */
import type { Frame } from '../draw/frame.js';
import { noteMissingFonts, withMissingFonts } from '../fonts.js';
import type { Filling } from '../render.js';
import type { CompiledStyle, StyleLayer } from '../style/compile.js';
import { lineCandidates } from './candidates/lines.js';
import { pointCandidates } from './candidates/points.js';
import { prepareLabels } from './collision/place.js';
import type { Candidate, PreparedLabels } from './label.js';
import { sameNameKey } from './text/same-names.js';

/**
 * Prepares the labels of a frame. Those of the filling come last, and repeat none of the others. The language selects
 * forms of Han characters; names are already localized. Fonts that are missing are noted at each placement.
 */
export function preparedLabels(
  frame: Frame,
  style: CompiledStyle,
  language: string,
  filling?: Filling,
): PreparedLabels {
  const { result: candidates, missingFonts } = withMissingFonts(() => [
    ...candidatesIn({ frame, style }, language),
    ...(filling ? candidatesIn(filling, language).map(unrepeated) : []),
  ]);
  const { count, place } = prepareLabels(candidates, frame.view);
  return {
    count,
    place(keepFree) {
      noteMissingFonts(missingFonts);
      return place(keepFree);
    },
  };
}

/** Both sources may name the same country. */
const unrepeated = (candidate: Candidate): Candidate => ({
  ...candidate,
  textRules: { ...candidate.textRules, minRepeatPx: Infinity },
});

function candidatesIn({ frame, style }: Filling, language: string): Candidate[] {
  const layers = style.layers.filter((layer) => layer.type === 'symbol' && layer.isVisible(frame.view.zoom));
  const candidates: Candidate[] = [];
  const repeats: Candidate[] = [];
  for (const layer of layers.reverse()) {
    if (!layer.namesSquares) candidates.push(...repeats.splice(0));
    const found = candidatesOf(frame, layer, language);
    frame.work.label(layer, found.length);
    for (const candidate of found) {
      // Every street has its name before any name is repeated, whatever the classes of the streets.
      (layer.namesSquares && candidate.isRepeat ? repeats : candidates).push(candidate);
    }
  }
  return afterLandmarks([...candidates, ...repeats]);
}

/** A square and the landmark in it may have one name. Then the landmark has it, because it has an icon. */
function afterLandmarks(candidates: Candidate[]): Candidate[] {
  const landmarks = new Set(candidates.map(({ reservesSpace, repeats }) => (reservesSpace ? repeats : undefined)));
  const keyOf = ({ isSquare, text }: Candidate) => (isSquare ? sameNameKey(text) : undefined);
  const isNamedTwice = (key: string | undefined) => key !== undefined && landmarks.has(key);
  const squares = candidates.filter((candidate) => isNamedTwice(keyOf(candidate)));
  if (squares.length === 0) return candidates;
  const others = candidates.filter((candidate) => !squares.includes(candidate));
  return [...others, ...squares.map((square) => ({ ...square, repeats: keyOf(square)! }))];
}

function candidatesOf(frame: Frame, layer: StyleLayer, language: string): Candidate[] {
  const isAtPoints = layer.property<string>('symbol-placement').at(frame.wholeZoom) === 'point';
  return isAtPoints ? pointCandidates(frame, layer, language) : lineCandidates(frame, layer, language);
}
