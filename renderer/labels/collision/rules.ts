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
  return { padding, minRepeatPx: collisionRules.overlap === 'never' ? minRepeatPx : 0, ...collisionRules };
}

/** Returns the rules of a feature's icon. Padding is in CSS pixels. */
export function iconRulesOf(layer: StyleLayer, zoom: number, feature: TileFeature): CollisionRules {
  const [top, right, bottom, left] = layer.property<PaddingValue>('icon-padding').at(zoom, feature).values;
  return { padding: { top, right, bottom, left }, ...commonRulesOf(layer, zoom, 'icon') };
}

/** Returns whether a layer's symbols may overlap each other. */
export const mayOverlap = (layer: StyleLayer, zoom: number): boolean =>
  (['text', 'icon'] as const).some((part) => {
    const { overlap, isObstacle } = commonRulesOf(layer, zoom, part);
    return overlap !== 'never' || !isObstacle;
  });

const properties = {
  text: {
    allows: 'text-allow-overlap',
    overlap: 'text-overlap',
    ignores: 'text-ignore-placement',
    optional: 'text-optional',
  },
  icon: {
    allows: 'icon-allow-overlap',
    overlap: 'icon-overlap',
    ignores: 'icon-ignore-placement',
    optional: 'icon-optional',
  },
};

function commonRulesOf(layer: StyleLayer, zoom: number, part: 'text' | 'icon'): Omit<CollisionRules, 'padding'> {
  const { allows, overlap, ignores, optional } = properties[part];
  const layout = <T>(name: string): T => layer.property<T>(name).at(zoom);
  const allowed = layout<boolean>(allows) ? 'always' : 'never';
  return {
    overlap: layout<Overlap | undefined>(overlap) ?? allowed,
    isObstacle: !layout<boolean>(ignores),
    isOptional: layout(optional),
  };
}
