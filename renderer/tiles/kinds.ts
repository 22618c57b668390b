/** Groups features of a layer that have equal values of chosen keys, without reading their properties. Pure. */

import type { Integers } from './coordinates.js';

interface Tagged {
  readonly type: number;
  /** Alternating numbers of keys and values. */
  tags(): Integers;
}

/** Kinds are numbered by type first, then in order of appearance. */
const types = 4;

/**
 * Returns a number for each feature, equal for features of one type with the same values of the chosen keys (a 1 at the
 * number of each). Features whose keys have another order may get another number.
 *
 * The search tree has one node for each known prefix of a feature's chosen keys and values.
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
