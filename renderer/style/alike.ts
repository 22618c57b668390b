/**
 * Features that a style can't tell apart: of one type, with the same values under the names that it reads. A dense tile
 * has thousands of features of a few dozen kinds, so what a filter or a property says is asked once for each kind.
 */

import type { TileFeature, TileLayer } from '../tiles/vector-tile.js';
import type { Reads } from './reads.js';

/**
 * Answers as `ask` does; alike features are asked for once. `ask` must read nothing of a feature but its type and what
 * `reads` names.
 */
export function askedOnce<Answer>(
  layer: TileLayer,
  reads: Reads,
  ask: (feature: TileFeature) => Answer,
): (feature: TileFeature) => Answer {
  if (!reads) return ask;
  const kinds = layer.kinds(reads);
  const answers: Answer[] = [];
  return (feature) => {
    const kind = kinds[feature.order]!;
    answers[kind] ??= ask(feature);
    return answers[kind];
  };
}
