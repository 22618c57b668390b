/** Groups features of a layer that have equal values of chosen keys, without reading their properties. Pure. */
import type { Integers } from './coordinates.js';

interface Tagged {
  /** Index in the layer's features. */
  readonly order: number;
  readonly type: number;
  /** Alternating numbers of keys and values. */
  tags(): Integers;
}

/** Kinds are numbered by type first, then in order of appearance. */
const types = 4;

/**
 * Numbers that are equal for features of one type with the same values of the chosen keys. Features whose keys have
 * another order may have another number. Each is found when it is first asked for.
 */
export class Kinds {
  /** The number of each feature plus 1; 0 before it is known. */
  private readonly known: Int32Array;
  /** A search tree with one node for each known prefix of a feature's chosen keys and values. */
  private readonly nodes = new Map<number, number>();
  private count = types;
  private readonly values = new WeakMap<object, unknown[]>();

  /** Rank of each chosen key by its number, from 1 on; 0 for the other keys. */
  private readonly ranks: Int32Array;

  /** `chosen` are numbers of keys. The layer has `keyCount` keys and `valueCount` values. */
  constructor(
    featureCount: number,
    private readonly chosen: readonly number[],
    keyCount: number,
    private readonly valueCount: number,
  ) {
    this.known = new Int32Array(featureCount);
    this.ranks = new Int32Array(keyCount);
    for (const [i, key] of chosen.entries()) this.ranks[key] = i + 1;
  }

  /** Returns the number of a feature's kind. */
  of(feature: Tagged): number {
    const known = this.known[feature.order]!;
    if (known > 0) return known - 1;
    const kind = this.find(feature);
    this.known[feature.order] = kind + 1;
    return kind;
  }

  /** Returns the list of what a function returns for features of each kind. The caller fills it. */
  valuesOf<Value>(evaluate: (feature: never) => Value): (Value | undefined)[] {
    let values = this.values.get(evaluate);
    if (!values) {
      values = [];
      this.values.set(evaluate, values);
    }
    return values as (Value | undefined)[];
  }

  private find(feature: Tagged): number {
    const { ranks, valueCount, chosen } = this;
    if (chosen.length === 0) return feature.type;
    const tags = feature.tags();
    let node = feature.type;
    while (!tags.done) {
      const rank = ranks[tags.next()] ?? 0;
      const value = tags.next();
      if (rank > 0 && value >= 0 && value < valueCount) node = this.next(node, rank, value);
    }
    return node;
  }

  private next(node: number, rank: number, value: number): number {
    const step = (node * (this.chosen.length + 1) + rank) * this.valueCount + value;
    let next = Number.isSafeInteger(step) ? this.nodes.get(step) : undefined;
    if (next === undefined) {
      next = this.count++;
      this.nodes.set(step, next);
    }
    return next;
  }
}
