/** Creates the label candidates of a layer along lines: streets, rivers, borders. */
import type { Frame } from '../../draw/frame.js';
import type { StyleLayer } from '../../style/compile.js';
import { point, polygon, type TileFeature } from '../../tiles/vector-tile.js';
import { clippedLines } from '../anchors/clip-lines.js';
import { joinLines } from '../anchors/join-lines.js';
import { lengthOf, type Point, Polyline } from '../anchors/polyline.js';
import { type Square, squareAround } from '../anchors/squares.js';
import { rowHeightEm } from '../collision/boxes.js';
import { iconRulesOf, textRulesOf } from '../collision/rules.js';
import { type Candidate, maxCandidates, type Placement } from '../label.js';
import { type LineSection, type LineStyle, placementsAlongLine } from '../shape/along-line.js';
import { type Anchor, alignmentOf } from '../shape/anchor-offset.js';
import { type BlockStyle, blockPlacements, blockStyleOf } from '../shape/block.js';
import { type IconStyle, iconStyleOf, iconWidth, placedIcon } from '../shape/icon.js';
import { rowWidth } from '../shape/row.js';
import { abbreviated } from '../text/abbreviations.js';
import type { LabelSection } from '../text/label-text.js';
import { type TextStyle, textStyleOf } from '../text/text-style.js';
import { type VisibleSymbol, type VisibleTile, visibleSymbols } from './visible-symbols.js';

/** Lines with the same name and icon, as pieces in CSS pixels of the image. */
interface NamedLine {
  readonly text: string;
  readonly sections: readonly LabelSection[] | null;
  readonly icon: string | null;
  /** The lowest of all the lines. */
  sortKey: number;
  /** Represents all the lines when properties are evaluated. */
  readonly feature: TileFeature;
  /** Maximum distance between ends of pieces that are joined, in CSS pixels. */
  readonly tolerance: number;
  readonly pieces: number[][];
}

/** Text nearer to the image's edge would be cut off. CSS pixels. */
const insetPx = 7;

/** Tiles round coordinates to whole units, so the same point may differ by this much between two tiles. */
const toleranceUnits = 2;

/** Limits the pieces of one name. */
const maxPieces = 2_000;

/**
 * Returns the layer's candidates, the most important first. Among equal sort keys, every name gets a candidate before
 * any gets a second one, and longer lines come first.
 */
export function lineCandidates(frame: Frame, layer: StyleLayer, language: string): Candidate[] {
  return mostImportant(namedLines(visibleSymbols(frame, layer, insetPx)))
    .flatMap((named) => candidatesOf(named, frame, layer, language))
    .sort(
      (a, b) =>
        a.sortKey - b.sortKey ||
        Number(a.candidate.isRepeat ?? false) - Number(b.candidate.isRepeat ?? false) ||
        b.length - a.length,
    )
    .slice(0, maxCandidates)
    .map(({ candidate }) => candidate);
}

/** Limits the names that are shaped: twice as many as are tried, because some are longer than their lines. */
const maxNames = 2 * maxCandidates;

/** Returns the names of lowest sort keys, and of equal ones those of the longest lines. */
function mostImportant(named: NamedLine[]): NamedLine[] {
  if (named.length <= maxNames) return named;
  return named
    .map((each) => ({ named: each, length: lengthOfAll(each) }))
    .sort((a, b) => a.named.sortKey - b.named.sortKey || b.length - a.length)
    .slice(0, maxNames)
    .map((each) => each.named);
}

const lengthOfAll = ({ pieces }: NamedLine): number => pieces.reduce((sum, xy) => sum + lengthOf(xy), 0);

function namedLines(features: readonly VisibleSymbol[]): NamedLine[] {
  const byLabel = new Map<unknown, NamedLine>();
  for (const { text, sections, icon, sortKey, feature, tile } of features) {
    if (feature.type === point) continue;
    // Lines without a name are not joined: their icon may show the direction of each.
    const key = text === '' ? feature : `${text}\n${icon}`;
    let named = byLabel.get(key);
    if (!named) {
      const tolerance = toleranceUnits * tile.unitPx;
      named = { text: text.replaceAll('\n', ' '), sections, icon, sortKey, feature, tolerance, pieces: [] };
      byLabel.set(key, named);
    }
    named.sortKey = Math.min(named.sortKey, sortKey);
    for (const piece of piecesOf(feature, tile)) if (named.pieces.length < maxPieces) named.pieces.push(piece);
  }
  return [...byLabel.values()];
}

/** Returns the parts of a line, or of an area's edge, inside both tile and image. Neighbouring tiles have the rest. */
function piecesOf(feature: TileFeature, tile: VisibleTile): number[][] {
  const pieces = clippedLines(feature.coordinates(), feature.type === polygon, tile.box);
  for (const xy of pieces) for (let i = 0; i < xy.length; i += 2) [xy[i], xy[i + 1]] = tile.toImage(xy[i]!, xy[i + 1]!);
  return pieces;
}

interface Ranked {
  readonly candidate: Candidate;
  readonly sortKey: number;
  /** Length of the line in CSS pixels. */
  readonly length: number;
}

function candidatesOf(named: NamedLine, frame: Frame, layer: StyleLayer, language: string): Ranked[] {
  const { text, sections, sortKey, feature, tolerance, pieces } = named;
  const { view, wholeZoom } = frame;
  const textStyle = text === '' ? null : textStyleOf(layer, feature, view.zoom, text, language, sections);
  const icon = iconStyleOf(frame, layer, feature, named.icon);
  const width = Math.max(textStyle ? rowWidth(text, 0, textStyle) : 0, icon ? iconWidth(icon) : 0);
  if (!textStyle && !icon) return [];
  const length = lengthOfAll(named);
  const isStreet = layer.namesSquares && textStyle !== null && !sections && !icon;
  const overhangPx = isStreet ? overhangEm * textStyle.sizePx : 0;
  const leastWidth = isStreet && length < width ? rowWidth(abbreviated(text) ?? text, 0, textStyle) : width;
  if (length + 2 * overhangPx < leastWidth) return [];
  const spacing = layer.property<number>('symbol-spacing').at(wholeZoom);
  const isCentered = layer.property<string>('symbol-placement').at(wholeZoom) === 'line-center';
  const parts = { layer, feature, zoom: wholeZoom, text, textStyle, icon, overhangPx };
  const placementsIn = placementsOf(parts);
  const label = {
    text: textStyle ? text : '',
    textStyle,
    textRules: textRulesOf(layer, wholeZoom, spacing),
    ...(icon && { iconRules: iconRulesOf(layer, wholeZoom, feature) }),
  };
  const joined = textStyle ? joinLines(pieces, tolerance) : pieces;
  const square = layer.namesSquares && textStyle ? squareAround(joined) : null;
  const lines = joined
    .map((xy) => new Polyline(xy))
    .filter(({ length }) => textStyle !== null || length >= width)
    .sort((a, b) => b.length - a.length);
  const all = lines.flatMap((line) => {
    const count = isCentered ? 1 : Math.max(1, Math.floor((line.length + spacing) / (width + spacing)));
    return fromTheMiddle(lineSections(line, count)).map((section) => ({ section, length: line.length }));
  });
  if (square && textStyle) {
    const placements = function* () {
      yield* inSquare(square, text, textStyle, blockStyleOf(layer, feature, wholeZoom));
      for (const { section } of all.slice(0, maxSections)) yield* filtered(placementsIn(section), isStraight);
    };
    const candidate: Candidate = { placements, leavesSpace: 'preferably', isSquare: true, ...label };
    return [{ candidate, sortKey, length }];
  }
  return all.map(({ section, length: lineLength }, i): Ranked => {
    // A name that finds no place in its own section takes that of another one, before any name is repeated.
    const isMain = textStyle !== null && i === 0;
    const tried = isMain ? all.slice(0, maxSections).map((each) => each.section) : [section];
    const placements = function* (): Generator<Placement> {
      for (const each of tried) yield* isMain ? ordinary(placementsIn(each)) : placementsIn(each);
      const shortText = isMain && isStreet ? abbreviated(text) : null;
      if (shortText === null) return;
      // A winding street that is too short for the full name has no other way to be named.
      const mayBend = tried.every(({ from, to }) => to - from < width);
      const shorter = placementsOf({ ...parts, text: shortText, ...(!mayBend && { isStraight: true }) });
      for (const each of tried.slice(0, maxShorterSections))
        for (const placement of shorter(each)) yield { isMakeshift: true, ...placement };
    };
    const leavesSpace = isMain ? 'preferably' : 'always';
    const flags = {
      isRepeat: textStyle !== null && !isMain,
      movesOthers: isMain && layer.movesOthers,
      hasMakeshifts: isMain && isStreet,
    };
    const candidate: Candidate = { placements, ...(textStyle && { leavesSpace }), ...flags, ...label };
    return { candidate, sortKey, length: lineLength };
  });
}

/** A name that is hardly longer than its street has no other place, so it is no makeshift. */
function* ordinary(placements: Iterable<Placement>): Generator<Placement> {
  for (const placement of placements) {
    if (!placement.isMakeshift) yield placement;
    else {
      const { isMakeshift: _, ...others } = placement;
      yield { isExtended: true, ...others };
    }
  }
}

/** How far the name of a street may extend beyond its ends. A bridge is often a little shorter than its name. */
const overhangEm = 0.6;

/** Limits the sections that one candidate tries, and those that it tries for an abbreviation. */
const maxSections = 6;
const maxShorterSections = 2;

/** Returns the sections of a line, the middle one first. */
function fromTheMiddle(sectionsOfLine: LineSection[]): LineSection[] {
  const middle = sectionsOfLine.length >> 1;
  return [...sectionsOfLine.slice(middle, middle + 1), ...sectionsOfLine.filter((_, i) => i !== middle)];
}

/** Divides the line into equal sections. */
function lineSections(line: Polyline, count: number): LineSection[] {
  const length = line.length / count;
  return Array.from({ length: count }, (_, i) => ({ line, from: i * length, to: (i + 1) * length }));
}

/** Positions tried for text that is not rotated, as shares of the section's length. */
const levelPositions = [0.5, 0.35, 0.65, 0.2, 0.8];

interface SymbolParts {
  readonly layer: StyleLayer;
  readonly feature: TileFeature;
  readonly zoom: number;
  readonly text: string;
  readonly textStyle: TextStyle | null;
  readonly icon: IconStyle | null;
  readonly overhangPx: number;
  /** Whether bends are left out, which saves time. */
  readonly isStraight?: true;
}

/** Returns placements along the line; horizontal ones for road numbers and for icons without text. */
function placementsOf(parts: SymbolParts): (section: LineSection) => Iterable<Placement> {
  const { layer, feature, zoom, text, textStyle, icon, overhangPx, isStraight } = parts;
  if (!textStyle) return (section) => levelPlacements(section, icon, () => [noText]);
  if (layer.property<string>('text-rotation-alignment').at(zoom) === 'viewport') {
    const style = { ...blockStyleOf(layer, feature, zoom), maxWidthEm: Infinity };
    return (section) => levelPlacements(section, icon, (at) => blockPlacements(text, textStyle, style, ...at));
  }
  const style = { ...lineStyleOf(layer, feature, zoom, textStyle), overhangPx, ...(isStraight && { maxAngle: 0 }) };
  const width = rowWidth(text, 0, textStyle);
  return function* (section) {
    for (const placement of placementsAlongLine(section, text, width, textStyle, style)) {
      yield withIcon(placement, icon, section.line, placement.middle);
    }
  };
}

/** Rows by which a name moves from the middle of its square. */
const rowsFromMiddle = [0, -1, 1, -2, 2];

/** Yields level placements in the middle of a square, and above and below it, where the name is not wider. */
function* inSquare(
  { x, y, width, height }: Square,
  text: string,
  textStyle: TextStyle,
  style: BlockStyle,
): Generator<Placement> {
  const anchorOffsets = rowsFromMiddle
    .filter((rows) => Math.abs(rows) * textStyle.sizePx <= height / 3)
    .map((rows) => ({ anchor: 'center', offset: [0, rows] }) as const);
  const isNarrow = ({ rectangle }: Placement) => rectangle !== undefined && rectangle.width <= width;
  yield* filtered(blockPlacements(text, textStyle, { ...style, anchorOffsets }, x, y), isNarrow);
}

const isStraight = ({ rectangle }: Placement): boolean => rectangle !== undefined;

function* filtered(placements: Iterable<Placement>, isWanted: (placement: Placement) => boolean): Generator<Placement> {
  for (const placement of placements) if (isWanted(placement)) yield placement;
}

const noText: Placement = { runs: [], boxes: [] };

function* levelPlacements(
  { line, from, to }: LineSection,
  icon: IconStyle | null,
  textsAt: (at: Point) => Iterable<Placement>,
): Generator<Placement> {
  for (const share of levelPositions) {
    const middle = from + share * (to - from);
    for (const placement of textsAt(line.at(middle))) yield withIcon(placement, icon, line, middle);
  }
}

function withIcon(placement: Placement, icon: IconStyle | null, line: Polyline, middle: number): Placement {
  if (!icon) return placement;
  return { icon: placedIcon(icon, line.at(middle), line.directionAt(middle), placement.rectangle), ...placement };
}

/** Reads the line style. Labels slide along the line, so only the vertical part of anchor and offset matters. */
function lineStyleOf(
  layer: StyleLayer,
  feature: TileFeature,
  zoom: number,
  { sizePx }: TextStyle,
): Omit<LineStyle, 'overhangPx'> {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  const rowsBelow = 0.5 - alignmentOf(layout<Anchor>('text-anchor')).down;
  return {
    maxAngle: (layout<number>('text-max-angle') * Math.PI) / 180,
    keepsUpright: layout('text-keep-upright'),
    offsetPx: (layout<Point>('text-offset')[1] + rowsBelow * rowHeightEm) * sizePx,
  };
}
