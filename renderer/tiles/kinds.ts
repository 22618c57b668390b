/** Features of a layer that are alike as far as some of its keys tell, without reading their properties. Pure. */

import type { Integers } from './coordinates.js';

interface Tagged {
  readonly type: number;
  /** The numbers of its keys and values, in turn. */
  tags(): Integers;
}

/** Types come first; further kinds are numbered as they are met. */
const types = 4;

/**
 * For each feature a number, equal for those of one type with the same values under the chosen keys (a 1 at the number
 * of each). Few that are alike have different ones: those whose keys are not in the same order.
 *
 * What is known of a feature is a node of a tree; its next chosen key and value lead on to another.
 */
export function kindsOf(features: readonly Tagged[], chosen: Uint8Array, valueCount: number): Int32Array {
  const nodes = new Map<number, number>();
  let count = types;
  return Int32Array.from(features, (feature) => {
    const tags = feature.tags();
    let node = feature.type as number;
    while (!tags.done) {
      const key = tags.next();
      const value = tags.next();
      if (chosen[key] !== 1 || value < 0 || value >= valueCount) continue;
      const step = (node * chosen.length + key) * valueCount + value;
      const known = Number.isSafeInteger(step) ? nodes.get(step) : undefined;
      node = known ?? count++;
      if (known === undefined) nodes.set(step, node);
    }
    return node;
  });
}
