/** What a style wants of a layer's labels when they meet others. Pure. */

import type { StyleLayer } from '../style/compile.js';
import type { Overlap, Rules } from './label.js';

/** Labels that may overlap may repeat: a style letters its points with a sign. */
export function rulesOf(layer: StyleLayer, zoom: number, minRepeatPx: number): Rules {
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom);
  const allowed = layout<boolean>('text-allow-overlap') ? 'always' : 'never';
  const overlap = layout<Overlap | undefined>('text-overlap') ?? allowed;
  return {
    paddingPx: layout('text-padding'),
    overlap,
    isObstacle: !layout<boolean>('text-ignore-placement'),
    minRepeatPx: overlap === 'never' ? minRepeatPx : 0,
  };
}
