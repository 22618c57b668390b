/** Labels and icons along lines: streets, rivers, borders. */

import { dashLines, unbroken } from '../draw/dash.js';
import type { Frame } from '../draw/frame.js';
import type { StyleLayer } from '../style/compile.js';
import { point, polygon, type TileFeature } from '../tiles/vector-tile.js';
import { type LineStyle, type Stretch, settingsAlong } from './along.js';
import { type Anchor, shareOf } from './anchor.js';
import { blockSettings, blockStyleOf } from './block.js';
import { rowHeightEm } from './boxes.js';
import { type IconStyle, iconStyleOf, iconWidth, placedIcon } from './icon-style.js';
import { joinLines } from './join.js';
import { type Candidate, maxCandidates, type Setting } from './label.js';
import { textWidth } from './measure.js';
import { type Point, Polyline } from './polyline.js';
import { iconRoomOf, rulesOf } from './rules.js';
import { type SeenFeature, type SeenTile, seenFeatures } from './seen.js';
import { type Look, lookOf } from './text-style.js';

/** Lines of one name and icon, as pieces in CSS pixels of the image. */
interface Named {
  readonly text: string;
  readonly icon: string | null;
  readonly sortKey: number;
  /** Stands for all of them. */
  readonly feature: TileFeature;
  /** Ends of pieces that are no farther apart meet, in CSS pixels. */
  readonly tolerance: number;
  readonly pieces: number[][];
}

/** Text nearer to the image's edge than this would be cut off. In CSS pixels. */
const insetPx = 7;

/** Tiles round to whole units; two of them may differ by so many. */
const toleranceUnits = 2;

/** Of one name. */
const maxPieces = 2_000;

/** The most important first: of equal ones the longest. */
export function lineCandidates(frame: Frame, layer: StyleLayer, language: string): Candidate[] {
  return namedLines(seenFeatures(frame, layer, insetPx))
    .flatMap((named) => candidatesOf(named, frame, layer, language))
    .sort((a, b) => a.sortKey - b.sortKey || b.length - a.length)
    .slice(0, maxCandidates)
    .map(({ candidate }) => candidate);
}

function namedLines(features: readonly SeenFeature[]): Named[] {
  const byLabel = new Map<unknown, Named>();
  for (const { text, icon, sortKey, feature, tile } of features) {
    if (feature.type === point) continue;
    // Lines without a name have nothing in common but an icon, which may tell their direction.
    const key = text === '' ? feature : `${text}\n${icon}`;
    let named = byLabel.get(key);
    if (!named) {
      const tolerance = toleranceUnits * tile.unitPx;
      named = { text: text.replaceAll('\n', ' '), icon, sortKey, feature, tolerance, pieces: [] };
      byLabel.set(key, named);
    }
    for (const piece of piecesOf(feature, tile)) if (named.pieces.length < maxPieces) named.pieces.push(piece);
  }
  return [...byLabel.values()];
}

/** What of a line, or an area's edge, is inside of its tile and the image: its neighbours have the rest. */
function piecesOf(feature: TileFeature, tile: SeenTile): number[][] {
  const { xy, ends } = dashLines(feature.coordinates(), feature.type === polygon, unbroken, tile.box);
  return ends.map((end, i) => {
    const piece: number[] = [];
    for (let at = ends[i - 1] ?? 0; at < end; at += 2) piece.push(...tile.toImage(xy[at]!, xy[at + 1]!));
    return piece;
  });
}

interface Ranked {
  readonly candidate: Candidate;
  readonly sortKey: number;
  /** Of the line, in CSS pixels. */
  readonly length: number;
}

function candidatesOf(named: Named, frame: Frame, layer: StyleLayer, language: string): Ranked[] {
  const { text, sortKey, feature, tolerance, pieces } = named;
  const { view, wholeZoom } = frame;
  const look = text === '' ? null : lookOf(layer, feature, view.zoom, text, language);
  const icon = iconStyleOf(frame, layer, feature, named.icon);
  const width = Math.max(look ? textWidth(text, look) : 0, icon ? iconWidth(icon) : 0);
  if ((!look && !icon) || totalLength(pieces) < width) return [];
  const spacing = layer.property<number>('symbol-spacing').at(wholeZoom);
  const isCentered = layer.property<string>('symbol-placement').at(wholeZoom) === 'line-center';
  const settingsIn = settings({ layer, feature, zoom: wholeZoom, text, look, icon });
  const label = {
    text: look ? text : '',
    look,
    rules: rulesOf(layer, wholeZoom, spacing),
    ...(icon && { iconRoom: iconRoomOf(layer, wholeZoom, feature) }),
  };
  const lines = look ? joinLines(pieces, tolerance) : pieces;
  return lines.flatMap((xy) => {
    const line = new Polyline(xy);
    if (!look && line.length < width) return [];
    const count = isCentered ? 1 : Math.max(1, Math.floor((line.length + spacing) / (width + spacing)));
    return stretches(line, count).map((stretch): Ranked => {
      return { candidate: { ...label, settings: () => settingsIn(stretch) }, sortKey, length: line.length };
    });
  });
}

function totalLength(pieces: readonly (readonly number[])[]): number {
  let sum = 0;
  for (const xy of pieces) {
    for (let i = 2; i < xy.length; i += 2) sum += Math.hypot(xy[i]! - xy[i - 2]!, xy[i + 1]! - xy[i - 1]!);
  }
  return sum;
}

/** The line in equal parts. */
function stretches(line: Polyline, count: number): Stretch[] {
  const length = line.length / count;
  return Array.from({ length: count }, (_, i) => ({ line, from: i * length, to: (i + 1) * length }));
}

/** Where on a stretch text that isn't turned is tried, as shares of its length. */
const levelPlaces = [0.5, 0.35, 0.65, 0.2, 0.8];

interface Parts {
  readonly layer: StyleLayer;
  readonly feature: TileFeature;
  readonly zoom: number;
  readonly text: string;
  readonly look: Look | null;
  readonly icon: IconStyle | null;
}

/** Along the line; or level, as numbers of roads are, and icons alone. */
function settings(parts: Parts): (stretch: Stretch) => Iterable<Setting> {
  const { layer, feature, zoom, text, look, icon } = parts;
  if (!look) return (stretch) => levelSettings(stretch, icon, () => [noText]);
  if (layer.property<string>('text-rotation-alignment').at(zoom) === 'viewport') {
    const style = { ...blockStyleOf(layer, feature, zoom), maxWidthEm: Infinity };
    return (stretch) => levelSettings(stretch, icon, (at) => blockSettings(text, look, style, ...at));
  }
  const style = lineStyleOf(layer, feature, zoom, look);
  const width = textWidth(text, look);
  return function* (stretch) {
    for (const { middle, ...setting } of settingsAlong(stretch, text, width, look, style)) {
      yield withIcon(setting, icon, stretch.line, middle);
    }
  };
}

const noText: Setting = { runs: [], boxes: [] };

function* levelSettings(
  { line, from, to }: Stretch,
  icon: IconStyle | null,
  textsAt: (at: Point) => Iterable<Setting>,
): Generator<Setting> {
  for (const share of levelPlaces) {
    const middle = from + share * (to - from);
    for (const setting of textsAt(line.at(middle))) yield withIcon(setting, icon, line, middle);
  }
}

function withIcon(setting: Setting, icon: IconStyle | null, line: Polyline, middle: number): Setting {
  if (!icon) return setting;
  return { ...setting, icon: placedIcon(icon, line.at(middle), line.directionAt(middle), setting.frame) };
}

/** Labels slide along the line, so of anchors and offsets only what leads away from it counts. */
function lineStyleOf(layer: StyleLayer, feature: TileFeature, zoom: number, { sizePx }: Look): LineStyle {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  const rowsBelow = 0.5 - shareOf(layout<Anchor>('text-anchor')).down;
  return {
    maxAngle: (layout<number>('text-max-angle') * Math.PI) / 180,
    keepsUpright: layout('text-keep-upright'),
    offsetPx: (layout<Point>('text-offset')[1] + rowsBelow * rowHeightEm) * sizePx,
  };
}
