/** What a style wants of a layer's texts and icons when they meet others. Pure. */

import type { Padding as PaddingValue } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { evenPadding } from './boxes.js';
import type { Overlap, Room, Rules } from './label.js';

/** Texts that may overlap may repeat: a style letters its points with a sign. */
export function rulesOf(layer: StyleLayer, zoom: number, minRepeatPx: number): Rules {
  const room = roomOf(layer, zoom, 'text');
  const padding = evenPadding(layer.property<number>('text-padding').at(zoom));
  return { ...room, padding, minRepeatPx: room.overlap === 'never' ? minRepeatPx : 0 };
}

export function iconRoomOf(layer: StyleLayer, zoom: number, feature: TileFeature): Room {
  const [top, right, bottom, left] = layer.property<PaddingValue>('icon-padding').at(zoom, feature).values;
  return { ...roomOf(layer, zoom, 'icon'), padding: { top, right, bottom, left } };
}

function roomOf(layer: StyleLayer, zoom: number, part: 'text' | 'icon'): Omit<Room, 'padding'> {
  const layout = <T>(name: string): T => layer.property<T>(`${part}-${name}`).at(zoom);
  const allowed = layout<boolean>('allow-overlap') ? 'always' : 'never';
  return {
    overlap: layout<Overlap | undefined>('overlap') ?? allowed,
    isObstacle: !layout<boolean>('ignore-placement'),
    isOptional: layout('optional'),
  };
}
