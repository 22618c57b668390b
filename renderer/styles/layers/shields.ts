/** The layer of road shields: references, upright on their plates, spaced along the road. */
import type { ExpressionSpecification, LayerSpecification } from '@maplibre/maplibre-gl-style-spec';
import { byClass, byZoom, expression, from, isOneOf } from '../expressions.js';
import type { Palette } from '../palette.js';
import { type RoadClass, roadClasses, type Schema, type SchemaLabels, type ShieldClass } from '../schema.js';
import { shieldImage } from '../shields.js';

/** Roads with a shield, from this zoom on, and its look. */
const shieldTiers: readonly (readonly [minZoom: number, look: ShieldClass, classes: readonly RoadClass[]])[] = [
  [6, 'motorway', ['motorway']],
  [8, 'trunk', ['trunk']],
  [10, 'national', ['primary']],
  [12, 'regional', ['secondary']],
  [13, 'regional', ['tertiary']],
];
/** Longer references would cover the map. */
const maxReferenceLength = 10;

/**
 * Returns the layers of road shields: above all names of roads, so that a large road has its reference where it is too
 * short for both.
 */
export function shieldLayers({ labels: { roads } }: Schema, palette: Palette): LayerSpecification[] {
  return roads ? [shieldLayer(roads, palette)] : [];
}

function shieldLayer(roads: NonNullable<SchemaLabels['roads']>, palette: Palette): LayerSpecification {
  const { text, networks } = roads.references;
  const classesAt = shieldTiers.flatMap(([zoom], i) => {
    const shown = isOneOf(
      roads,
      shieldTiers.slice(0, i + 1).flatMap(([, , classes]) => classes),
    );
    return i === 0 ? [shown] : [zoom, shown];
  });
  const byRoad = <Value>(valueFor: (look: ShieldClass) => Value) =>
    byClass(roads, (name) => valueFor(lookOf(name)), valueFor('regional'));
  const byLook = <Value>(valueFor: (look: ShieldClass) => Value) =>
    networks ? byClass<ShieldClass, unknown>(networks, valueFor, byRoad(valueFor)) : byRoad(valueFor);
  return {
    id: 'label-road-shield',
    type: 'symbol',
    minzoom: shieldTiers[0]![0],
    ...from(
      roads,
      expression('step', ['zoom'], ...classesAt),
      expression('all', ['>', ['length', text], 0], ['<=', ['length', text], maxReferenceLength]),
    ),
    layout: {
      'symbol-placement': 'line',
      'symbol-spacing': 380,
      'symbol-sort-key': byClass(roads, (name) => -roadClasses.indexOf(name), 0),
      'text-field': text,
      'text-font': ['Fenceline Sans Medium'],
      'text-size': byZoom({ 6: 9, 12: 10, 18: 11 }),
      'text-rotation-alignment': 'viewport',
      'text-padding': 4,
      'icon-image': expression('image', byLook(shieldImage)),
      'icon-text-fit': 'both',
      'icon-rotation-alignment': 'viewport',
      'icon-padding': 4,
    },
    paint: { 'text-color': byLook((look) => palette.shields[look].text) as ExpressionSpecification },
  };
}

function lookOf(name: RoadClass): ShieldClass {
  return shieldTiers.find(([, , classes]) => classes.includes(name))?.[1] ?? 'regional';
}
