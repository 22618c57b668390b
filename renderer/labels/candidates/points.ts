/** Creates the label candidates of a layer at points and in areas. */
import type { Frame } from '../../draw/frame.js';
import type { StyleLayer } from '../../style/compile.js';
import { line, point, polygon } from '../../tiles/vector-tile.js';
import { largestArea, pointInArea, type VisibleArea } from '../anchors/areas.js';
import type { Point } from '../anchors/polyline.js';
import { iconRulesOf, textRulesOf } from '../collision/rules.js';
import { rankOf } from '../collision/stack.js';
import { type Candidate, maxCandidates, type Placement, type TextCollisionRules } from '../label.js';
import { blockPlacements, blockStyleOf } from '../shape/block.js';
import { iconStyleOf, placedIcon } from '../shape/icon.js';
import { sameNameKey } from '../text/same-names.js';
import { textStyleOf } from '../text/text-style.js';
import { type VisibleSymbol, visibleSymbols } from './visible-symbols.js';

/** A symbol and the point of the image to place it at. */
interface SymbolAnchor {
  readonly symbol: VisibleSymbol;
  readonly at: Point;
}

/**
 * Minimum distance of equal texts, in CSS pixels, unless the layer has its own. Stops on both sides of a street, or the
 * entrances of a building, get one label.
 */
const usualRepeatPx = 48;

/** Width of the name of a landmark that has no space otherwise: mostly a word a line. Ems. */
const narrowEm = 5;

const noText: Placement = { runs: [], boxes: [] };

/** Returns the layer's candidates, the most important first. */
export function pointCandidates(frame: Frame, layer: StyleLayer, language: string): Candidate[] {
  const textRules = textRulesOf(layer, frame.wholeZoom, minRepeatPx(layer, frame.view.zoom));
  const symbols = visibleSymbols(frame, layer, 0);
  const ranked = rankOf(layer, frame.wholeZoom);
  return [...anchorsAtPoints(symbols), ...anchorsInAreas(symbols)]
    .sort((a, b) => a.symbol.sortKey - b.symbol.sortKey || a.symbol.feature.order - b.symbol.feature.order)
    .slice(0, maxCandidates)
    .flatMap((anchor) => {
      const candidate = candidateAt(anchor, frame, layer, language, textRules);
      if (!candidate || !ranked) return candidate ?? [];
      const { symbol, at } = anchor;
      return { ...candidate, stacking: { layer, rank: ranked({ sortKey: symbol.sortKey, y: at[1] }) } };
    });
}

function minRepeatPx({ repeatDistance }: StyleLayer, zoom: number): number {
  if (!repeatDistance) return usualRepeatPx;
  return repeatDistance.px * 2 ** Math.max(0, zoom - (repeatDistance.zoom ?? zoom));
}

function candidateAt(
  { symbol, at }: SymbolAnchor,
  frame: Frame,
  layer: StyleLayer,
  language: string,
  textRules: TextCollisionRules,
): Candidate | null {
  const { view, wholeZoom } = frame;
  const { feature, text, sections } = symbol;
  const textStyle = text === '' ? null : textStyleOf(layer, feature, view.zoom, text, language, sections);
  const hasMakeshifts = layer.movesOthers && layer.mostMoves !== undefined && /\S\s+\S/.test(text);
  function* texts(): Generator<Placement> {
    if (!textStyle) return yield noText;
    const style = blockStyleOf(layer, feature, wholeZoom);
    yield* blockPlacements(text, textStyle, style, ...at);
    if (!hasMakeshifts) return;
    const narrow = { ...style, maxWidthEm: Math.min(narrowEm, style.maxWidthEm) };
    for (const placement of blockPlacements(text, textStyle, narrow, ...at)) yield { isMakeshift: true, ...placement };
  }
  const iconStyle = iconStyleOf(frame, layer, feature, symbol.icon);
  const flags: Partial<Candidate> = {
    reservesSpace: layer.reservesSpace,
    movesOthers: layer.movesOthers,
    ...(layer.mostMoves && { mostMoves: layer.mostMoves }),
    hasMakeshifts,
    ...(layer.leavesSpace && { leavesSpace: 'preferably' }),
    ...(layer.repeatDistance && { repeats: sameNameKey(text) }),
  };
  if (!iconStyle) return textStyle && { text, textStyle, textRules, ...flags, placements: texts };
  const fixedIcon = iconStyle.fit === 'none' ? placedIcon(iconStyle, at, 0) : null;
  return {
    text: textStyle ? text : '',
    textStyle,
    textRules,
    ...flags,
    iconRules: iconRulesOf(layer, wholeZoom, feature),
    ...(fixedIcon && { fixedIcon }),
    *placements() {
      for (const placement of texts())
        yield { icon: fixedIcon ?? placedIcon(iconStyle, at, 0, placement.rectangle), ...placement };
    },
  };
}

/** Returns each point and the start of each line. Those in the buffer of a tile belong to a neighbouring tile. */
function anchorsAtPoints(symbols: readonly VisibleSymbol[]): SymbolAnchor[] {
  const anchors: SymbolAnchor[] = [];
  for (const symbol of symbols) {
    const { feature, tile } = symbol;
    if (feature.type !== point && feature.type !== line) continue;
    const { minX, minY, maxX, maxY } = tile.box;
    const { xy, ends } = feature.coordinates();
    let start = 0;
    // Each point is a part of its own.
    for (const end of ends) {
      const [x, y] = [xy[start]!, xy[start + 1]!];
      const isInside = x >= minX && x <= maxX && x < tile.extent && y >= minY && y <= maxY && y < tile.extent;
      if (isInside) anchors.push({ symbol, at: tile.toImage(x, y) });
      start = end;
    }
  }
  return anchors;
}

/** Returns one anchor for each area, in the tile that shows the largest part of it. */
function anchorsInAreas(symbols: readonly VisibleSymbol[]): SymbolAnchor[] {
  const largest = new Map<unknown, { symbol: VisibleSymbol; area: VisibleArea }>();
  for (const symbol of symbols) {
    const { feature, text, tile } = symbol;
    const area = feature.type === polygon ? largestArea(feature, tile) : null;
    if (!area) continue;
    // Parts in other tiles can be matched only by name or id.
    const key = text === '' && feature.id === undefined ? symbol : `${feature.id ?? ''} ${text}`;
    if (area.size > (largest.get(key)?.area.size ?? 0)) largest.set(key, { symbol, area });
  }
  return [...largest.values()].map(({ symbol, area }) => ({ symbol, at: pointInArea(area) }));
}
