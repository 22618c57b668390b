/** Where a label stands to its point: anchors and offsets of the style specification. Pure. */

import type { VariableAnchorOffsetCollection } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';

/** The part of the label that is nearest to its point, such as `top-left`. */
export type Anchor = 'center' | Vertical | Horizontal | `${Vertical}-${Horizontal}`;
type Vertical = 'top' | 'bottom';
type Horizontal = 'left' | 'right';

/** A way for a label to stand. */
export interface Stand {
  readonly anchor: Anchor;
  /** How far the anchor is moved from the point, right and down, in widths of an em. */
  readonly offset: readonly [x: number, y: number];
}

/**
 * The specification's distances above and below text are to its letters; the rows that text is set in are taller than
 * these by so much.
 */
const rowSlackEm = 7 / 24;

/** Those that a feature's label may take, the one that the style prefers first. */
export function standsOf(layer: StyleLayer, feature: TileFeature, zoom: number): readonly Stand[] {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
  const pairs = layout<VariableAnchorOffsetCollection | undefined>('text-variable-anchor-offset')?.values;
  if (pairs) return pairedStands(pairs);

  const radius = layout<number>('text-radial-offset');
  const offset = layout<readonly [number, number]>('text-offset');
  const variable = layout<readonly Anchor[] | undefined>('text-variable-anchor');
  if (variable)
    return variable.map((anchor) => ({ anchor, offset: radius ? radial(anchor, radius) : away(anchor, offset) }));
  const anchor = layout<Anchor>('text-anchor');
  return [{ anchor, offset: radius ? radial(anchor, radius) : offset }];
}

/** Anchors and offsets in turn; here a distance to the left or up is negative. */
function pairedStands(pairs: VariableAnchorOffsetCollection['values']): Stand[] {
  const stands: Stand[] = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const anchor = pairs[i] as Anchor;
    const [x, y] = pairs[i + 1] as [number, number];
    stands.push({ anchor, offset: [x, y - (1 - 2 * shareOf(anchor).down) * rowSlackEm] });
  }
  return stands;
}

/** A distance away from the point on the anchor's side. */
function radial(anchor: Anchor, radius: number): [x: number, y: number] {
  const distance = Math.max(0, radius);
  const isDiagonal = anchor.includes('-');
  return away(anchor, isDiagonal ? [distance * Math.SQRT1_2, distance * Math.SQRT1_2] : [distance, distance]);
}

/** Distances of which only the direction away from the point counts. */
function away(anchor: Anchor, [x, y]: readonly [number, number]): [x: number, y: number] {
  const { across, down } = shareOf(anchor);
  return [(1 - 2 * across) * Math.abs(x), (1 - 2 * down) * (Math.abs(y) - rowSlackEm)];
}

/** Which share of a label is left of and above its anchor: 0, a half or 1. */
export function shareOf(anchor: Anchor): { readonly across: number; readonly down: number } {
  const across = anchor.endsWith('left') ? 0 : anchor.endsWith('right') ? 1 : 0.5;
  const down = anchor.startsWith('top') ? 0 : anchor.startsWith('bottom') ? 1 : 0.5;
  return { across, down };
}
