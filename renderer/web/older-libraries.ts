/**
 * Rewrites styles for MapLibre GL JS before 3.3, which refuses a style with `text-variable-anchor-offset`, and for
 * MapLibre Native before 6.8 (iOS) and 11.6 (Android), which ignores it. Pure.
 */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';

/** Anchors of a text, each followed by its offset from the point in ems. */
type AnchorOffsets = readonly (string | readonly [x: number, y: number])[];

const pairedOffsets = 'text-variable-anchor-offset';
const anchor = /^(center|left|right|(top|bottom)(-left|-right)?)$/;

/** Returns the style with anchors that have one distance from the point, in place of anchors with offsets. */
export const forOlderLibraries = (style: StyleSpecification): StyleSpecification => ({
  ...style,
  layers: style.layers.map((layer) => {
    if (layer.type !== 'symbol' || layer.layout?.[pairedOffsets] === undefined) return layer;
    const { [pairedOffsets]: offsets, ...layout } = layer.layout;
    const older = {
      'text-variable-anchor': withEach(offsets, (pairs) => ['literal', anchorsOf(pairs)]),
      'text-radial-offset': withEach(offsets, distanceOf),
    };
    return { ...layer, layout: { ...layout, ...(older as object) } };
  }),
});

/** Returns the value or expression with what `read` makes of each list of anchors and offsets in it. */
function withEach(value: unknown, read: (pairs: AnchorOffsets) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  if (value[0] === 'literal') return read(value[1]);
  return anchor.test(String(value[0])) ? read(value as AnchorOffsets) : value.map((part) => withEach(part, read));
}

const anchorsOf = (pairs: AnchorOffsets): string[] => [
  ...new Set(pairs.filter((part): part is string => typeof part === 'string')),
];

/** Returns the distance of the first anchor beside the point. A text in the middle has none. */
function distanceOf(pairs: AnchorOffsets): number {
  const beside = pairs.findIndex((part) => typeof part === 'string' && part !== 'center');
  return beside === -1 ? 0 : Math.hypot(...(pairs[beside + 1] as [number, number]));
}
