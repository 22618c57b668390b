/**
 * What our styles need to know of a tile schema: where each thing on a map comes from, and what it is called there.
 *
 * A style is a palette and the layers of `layers/`; a schema is one value of this type in `schemas/`. Neither knows the
 * other. Pure.
 */

import type { ExpressionSpecification } from '@maplibre/maplibre-gl-style-spec';

/** How ground is used, from bottom to top. */
export const zoneClasses = [
  ...([
    'farmland',
    'residential',
    'military',
    'airport',
    'railway',
    'industrial',
    'commercial',
    'education',
    'hospital',
  ] as const),
];

/** What covers it, from bottom to top: all of it lies above all zones. */
export const coverClasses = [
  ...([
    'grass',
    'park',
    'cemetery',
    'wood',
    'wetland',
    'rock',
    'sand',
    'ice',
    'pitch',
    'parking',
    'pedestrian',
  ] as const),
];

export type AreaClass = (typeof zoneClasses)[number] | (typeof coverClasses)[number];

/** From the least to the most important; a link is the ramp of a large road. */
export const roadClasses = [
  ...(['path', 'track', 'pedestrian', 'service', 'minor', 'tertiary', 'secondary', 'primary_link', 'primary'] as const),
  ...(['trunk', 'motorway_link', 'motorway'] as const),
];
export type RoadClass = (typeof roadClasses)[number];

export type RailClass = 'rail' | 'transit';
export type WaterwayClass = 'river' | 'stream';
export type AerowayClass = 'runway' | 'taxiway';
export type BorderClass = 'country' | 'state';
/** A microstate is a country that any city is larger than. */
export type PlaceClass = 'country' | 'microstate' | 'state' | 'city' | 'town' | 'village' | 'suburb' | 'neighbourhood';
export type PoiClass = 'airport' | 'transit' | 'green' | 'hospital' | 'education' | 'culture' | 'civic';

/** Some features of a layer. */
export interface Selected {
  readonly sourceLayer: string;
  readonly filter?: ExpressionSpecification;
}

/** Features of a layer by class. */
export interface Classified<Class extends string> extends Selected {
  /** What tells the class; a string. */
  readonly tag: ExpressionSpecification;
  /** The tag's values that mean each class; those that no class has are not drawn. */
  readonly values: Partial<Readonly<Record<Class, readonly string[]>>>;
}

/** Lines that may lie below ground or above water. */
export interface Levelled {
  readonly isTunnel: ExpressionSpecification;
  readonly isBridge: ExpressionSpecification;
}

export interface Schema {
  /** What is where a tile has nothing. */
  readonly background: 'land' | 'water';
  /** Where there is land, if the background is water. */
  readonly land: Selected | null;
  /** Drawn in this order. */
  readonly areas: readonly Classified<AreaClass>[];
  readonly water: readonly Selected[];
  readonly waterways: Classified<WaterwayClass> | null;
  /** What stands in the water and is walked upon. */
  readonly piers: readonly Selected[];
  readonly aeroways: Classified<AerowayClass> | null;
  readonly buildings: Selected | null;
  readonly roads: (Classified<RoadClass> & Levelled) | null;
  readonly rails: (Classified<RailClass> & Levelled) | null;
  readonly ferries: Selected | null;
  readonly borders: Readonly<Record<BorderClass, Selected | null>>;
  readonly labels: SchemaLabels;
}

export interface PlaceImportance {
  /** 1 for metropolises and the largest countries, to about 10: lower is larger and placed first. */
  readonly rank: ExpressionSpecification;
  /** Of a country. */
  readonly isCapital: ExpressionSpecification;
}

/** The name and what else is written of a feature. */
export interface SchemaLabels {
  /** The getter of a name; languages are put into it later (see `language.ts`). */
  readonly name: ExpressionSpecification;
  readonly places: readonly (Classified<PlaceClass> & PlaceImportance)[];
  readonly roads: (Classified<RoadClass> & { readonly ref: ExpressionSpecification }) | null;
  /** Points of lakes and seas. */
  readonly water: readonly Selected[];
  /** Lines of rivers. */
  readonly waterways: Classified<WaterwayClass> | null;
  readonly pois: readonly Classified<PoiClass>[];
  readonly houseNumbers: (Selected & { readonly number: ExpressionSpecification }) | null;
}
