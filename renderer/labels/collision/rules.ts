/** Reads the collision rules of a layer's texts and icons from the style. Pure. */

import type { Padding as PaddingValue } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import type { CollisionRules, Overlap, TextCollisionRules } from '../label.js';
import { evenPadding } from './boxes.js';

/**
 * Returns the rules of texts. Texts that may overlap may also repeat, because some styles draw points as a character.
 */
export function textRulesOf(layer: StyleLayer, zoom: number, minRepeatPx: number): TextCollisionRules {
  const collisionRules = commonRulesOf(layer, zoom, 'text');
  const padding = evenPadding(layer.property<number>('text-padding').at(zoom));
  return { ...collisionRules, padding, minRepeatPx: collisionRules.overlap === 'never' ? minRepeatPx : 0 };
}

export function iconRulesOf(layer: StyleLayer, zoom: number, feature: TileFeature): CollisionRules {
  const [top, right, bottom, left] = layer.property<PaddingValue>('icon-padding').at(zoom, feature).values;
  return { ...commonRulesOf(layer, zoom, 'icon'), padding: { top, right, bottom, left } };
}

function commonRulesOf(layer: StyleLayer, zoom: number, part: 'text' | 'icon'): Omit<CollisionRules, 'padding'> {
  const layout = <T>(name: string): T => layer.property<T>(`${part}-${name}`).at(zoom);
  const allowed = layout<boolean>('allow-overlap') ? 'always' : 'never';
  return {
    overlap: layout<Overlap | undefined>('overlap') ?? allowed,
    isObstacle: !layout<boolean>('ignore-placement'),
    isOptional: layout('optional'),
  };
}
