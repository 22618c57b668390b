/** Orders symbols of a layer that may overlap each other, as the style says. Pure. */
import type { StyleLayer } from '../../style/compile.js';
import type { PlacedLabel } from '../label.js';
import { mayOverlap } from './rules.js';

/** What ranks follow from. */
interface Stacked {
  readonly sortKey: number;
  /** Position in the image, downwards. */
  readonly y: number;
}

/** Returns what ranks a layer's symbols. Undefined where none may overlap another. */
export function rankOf(layer: StyleLayer, zoom: number): ((symbol: Stacked) => number) | undefined {
  if (!mayOverlap(layer, zoom)) return undefined;
  const order = layer.property<string>('symbol-z-order').at(zoom);
  if (order !== 'viewport-y' && layer.property('symbol-sort-key').text !== '') return ({ sortKey }) => sortKey;
  return order === 'source' ? () => 0 : ({ y }) => y;
}

/** Returns the labels with those of each layer in its places, the uppermost first. Of equal ranks that is the last. */
export function inStacks(labels: readonly PlacedLabel[]): PlacedLabel[] {
  const stacks = new Map<StyleLayer, PlacedLabel[]>();
  for (const label of labels) {
    const { stacking } = label.candidate;
    if (!stacking) continue;
    const stack = stacks.get(stacking.layer);
    if (stack) stack.push(label);
    else stacks.set(stacking.layer, [label]);
  }
  if (stacks.size === 0) return [...labels];
  for (const stack of stacks.values()) stack.sort((a, b) => a.candidate.stacking!.rank - b.candidate.stacking!.rank);
  return labels.map((label) => {
    const { stacking } = label.candidate;
    return stacking ? stacks.get(stacking.layer)!.pop()! : label;
  });
}
