/** Reads anchors and offsets of the style specification: where a label lies relative to its point. Pure. */
import type { VariableAnchorOffsetCollection } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';

/** The part of the label that is nearest to its point, such as `top-left`. */
export type Anchor = 'center' | Vertical | Horizontal | `${Vertical}-${Horizontal}`;
type Vertical = 'top' | 'bottom';
type Horizontal = 'left' | 'right';

/** One allowed position of a text relative to its point. */
export interface AnchorOffset {
  readonly anchor: Anchor;
  /** Distance of the anchor from the point, right and down, in ems. */
  readonly offset: readonly [x: number, y: number];
}

/**
 * Height of a row beyond its glyphs, in ems. The specification measures vertical offsets to the glyphs, and rows are
 * taller.
 */
const rowSlackEm = 7 / 24;

/** Returns the positions that a feature's text may take, the preferred one first. */
export function anchorOffsetsOf(layer: StyleLayer, feature: TileFeature, zoom: number): readonly AnchorOffset[] {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  const pairs = layout<VariableAnchorOffsetCollection | undefined>('text-variable-anchor-offset')?.values;
  if (pairs) return pairedAnchorOffsets(pairs);

  const radius = layout<number>('text-radial-offset');
  const offset = layout<readonly [number, number]>('text-offset');
  const variable = layout<readonly Anchor[] | undefined>('text-variable-anchor');
  if (variable)
    return variable.map((anchor) => ({ anchor, offset: radius ? radial(anchor, radius) : away(anchor, offset) }));
  const anchor = layout<Anchor>('text-anchor');
  return [{ anchor, offset: radius ? radial(anchor, radius) : offset }];
}

/** Reads pairs of anchor and offset. Here, distances to the left and up are negative. */
function pairedAnchorOffsets(pairs: VariableAnchorOffsetCollection['values']): AnchorOffset[] {
  const anchorOffsets: AnchorOffset[] = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const anchor = pairs[i] as Anchor;
    const [x, y] = pairs[i + 1] as [number, number];
    anchorOffsets.push({ anchor, offset: [x, y - (1 - 2 * alignmentOf(anchor).down) * rowSlackEm] });
  }
  return anchorOffsets;
}

/** Returns the offset of this length, away from the point in the anchor's direction. */
function radial(anchor: Anchor, radius: number): [x: number, y: number] {
  const distance = Math.max(0, radius);
  const isDiagonal = anchor.includes('-');
  return away(anchor, isDiagonal ? [distance * Math.SQRT1_2, distance * Math.SQRT1_2] : [distance, distance]);
}

/** Returns the offset away from the point in the anchor's direction. The signs of the distances are ignored. */
function away(anchor: Anchor, [x, y]: readonly [number, number]): [x: number, y: number] {
  const { across, down } = alignmentOf(anchor);
  return [(1 - 2 * across) * Math.abs(x), (1 - 2 * down) * (Math.abs(y) - rowSlackEm)];
}

/** The share of a label that is left of and above its anchor: 0, 0.5 or 1. */
interface Alignment {
  readonly across: number;
  readonly down: number;
}

const centered: Alignment = { across: 0.5, down: 0.5 };
const alignments: ReadonlyMap<Anchor, Alignment> = new Map<Anchor, Alignment>([
  ['center', centered],
  ['left', { across: 0, down: 0.5 }],
  ['right', { across: 1, down: 0.5 }],
  ['top', { across: 0.5, down: 0 }],
  ['bottom', { across: 0.5, down: 1 }],
  ['top-left', { across: 0, down: 0 }],
  ['top-right', { across: 1, down: 0 }],
  ['bottom-left', { across: 0, down: 1 }],
  ['bottom-right', { across: 1, down: 1 }],
]);

/** Returns the alignment at an anchor. Expressions of a style may compute one that does not exist. */
export const alignmentOf = (anchor: Anchor): Alignment => alignments.get(anchor) ?? centered;
