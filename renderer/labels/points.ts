/** Labels at points and in areas. */

import type { Frame } from '../draw/frame.js';
import type { StyleLayer } from '../style/compile.js';
import { line, point, polygon, type TileFeature } from '../tiles/vector-tile.js';
import { largestArea, pointInArea, type SeenArea } from './areas.js';
import { blockSettings, blockStyleOf } from './block.js';
import { iconStyleOf, placedIcon } from './icon-style.js';
import { type Candidate, maxCandidates, type Rules, type Setting } from './label.js';
import type { Point } from './polyline.js';
import { iconRoomOf, rulesOf } from './rules.js';
import { type SeenFeature, seenFeatures } from './seen.js';
import { lookOf } from './text-style.js';

/** A text or icon and a point of the image that it is to be set at. */
interface Spot {
  readonly seen: SeenFeature;
  readonly at: Point;
}

/**
 * What is there twice within so many CSS pixels, as stops on both sides of a street, or all entrances of a house, is
 * lettered once.
 */
const minRepeatPx = 48;

const noText: Setting = { runs: [], boxes: [] };

/** The most important first. */
export function pointCandidates(frame: Frame, layer: StyleLayer, language: string): Candidate[] {
  const rules = rulesOf(layer, frame.wholeZoom, minRepeatPx);
  const seen = seenFeatures(frame, layer, 0);
  return [...seen.flatMap(spotsAtPoints), ...spotsInAreas(seen)]
    .sort((a, b) => a.seen.sortKey - b.seen.sortKey || a.seen.feature.order - b.seen.feature.order)
    .slice(0, maxCandidates)
    .flatMap((spot) => candidateAt(spot, frame, layer, language, rules) ?? []);
}

function candidateAt(
  { seen, at }: Spot,
  frame: Frame,
  layer: StyleLayer,
  language: string,
  rules: Rules,
): Candidate | null {
  const { view, wholeZoom } = frame;
  const { feature, text } = seen;
  const look = text === '' ? null : lookOf(layer, feature, view.zoom, text, language);
  const texts = () => (look ? blockSettings(text, look, blockStyleOf(layer, feature, wholeZoom), ...at) : [noText]);
  const iconStyle = iconStyleOf(frame, layer, feature, seen.icon);
  if (!iconStyle) return look && { text, look, rules, settings: texts };
  return {
    text: look ? text : '',
    look,
    rules,
    iconRoom: iconRoomOf(layer, wholeZoom, feature),
    *settings() {
      for (const setting of texts()) yield { ...setting, icon: placedIcon(iconStyle, at, 0, setting.frame) };
    },
  };
}

/** A tile letters only what is inside of it, so that no neighbour does so again. */
function spotsAtPoints(seen: SeenFeature): Spot[] {
  const { minX, minY, maxX, maxY } = seen.tile.box;
  return pointsOf(seen.feature)
    .filter(
      ([x, y]) => x >= minX && x <= maxX && x < seen.tile.extent && y >= minY && y <= maxY && y < seen.tile.extent,
    )
    .map(([x, y]) => ({ seen, at: seen.tile.toImage(x, y) }));
}

/** In tile units: each point, the begin of each line. */
function pointsOf(feature: TileFeature): Point[] {
  if (feature.type !== point && feature.type !== line) return [];
  const { xy, ends } = feature.coordinates();
  if (feature.type === line) return ends.map((_, i) => ends[i - 1] ?? 0).map((start) => [xy[start]!, xy[start + 1]!]);
  return Array.from({ length: xy.length / 2 }, (_, i) => [xy[2 * i]!, xy[2 * i + 1]!]);
}

/** Areas are lettered once however many tiles they lie in: where most of them is seen. */
function spotsInAreas(features: readonly SeenFeature[]): Spot[] {
  const largest = new Map<unknown, { seen: SeenFeature; area: SeenArea }>();
  for (const seen of features) {
    const area = seen.feature.type === polygon ? largestArea(seen.feature, seen.tile) : null;
    const { id } = seen.feature;
    // Without a name or a number nothing tells which parts in other tiles are of the same area.
    const key = seen.text === '' && id === undefined ? seen : `${id ?? ''} ${seen.text}`;
    if (area && area.size > (largest.get(key)?.area.size ?? 0)) largest.set(key, { seen, area });
  }
  return [...largest.values()].map(({ seen, area }) => ({ seen, at: pointInArea(area) }));
}
