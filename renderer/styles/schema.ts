/**
 * The interface between styles and tile schemas: where each feature comes from, and its name there.
 *
 * A style is a palette and the layers of `layers/`. A schema is a value of this type in `schemas/`. Neither depends on
 * the other. Pure.
 */
import type { ExpressionSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { AreaAround } from '../style/placement-hints.js';

/** Land use, from bottom to top. */
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

/** Land cover, from bottom to top. It is drawn above all land use. */
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

/** What an area is, as far as styles tell areas apart. */
export type AreaClass = (typeof zoneClasses)[number] | (typeof coverClasses)[number];

/** Roads, the least important first. A link is the ramp of a large road. */
export const roadClasses = [
  ...(['path', 'track', 'pedestrian', 'service', 'minor', 'tertiary', 'secondary', 'primary_link', 'primary'] as const),
  ...(['trunk', 'motorway_link', 'motorway'] as const),
];
/** Kinds of roads, which {@link roadClasses} orders by importance. */
export type RoadClass = (typeof roadClasses)[number];

/** `transit`: subways and trams. */
export type RailClass = 'rail' | 'transit';
/** How wide a waterway is drawn. */
export type WaterwayClass = 'river' | 'stream';
type AerowayClass = 'runway' | 'taxiway';
type BorderClass = 'country' | 'state';
/** A microstate is a country smaller than any city. */
export type PlaceClass = 'country' | 'microstate' | 'state' | 'city' | 'town' | 'village' | 'suburb' | 'neighbourhood';
/** Styles of road shields. */
export type ShieldClass = 'motorway' | 'trunk' | 'national' | 'regional';
/** The kinds of points of interest. */
export type PoiClass =
  | ('airport' | 'station' | 'subway' | 'ferry')
  | (
      | 'attraction'
      | 'monument'
      | 'castle'
      | 'sight'
      | 'unranked'
      | 'museum'
      | 'theatre'
      | 'cinema'
      | 'stadium'
      | 'viewpoint'
      | 'worship'
    )
  | ('zoo' | 'peak' | 'beach' | 'park' | 'garden' | 'cemetery')
  | ('hospital' | 'university' | 'school' | 'library' | 'townhall' | 'police' | 'fire_station' | 'pharmacy' | 'post')
  | ('mall' | 'lodging' | 'food' | 'cafe' | 'supermarket' | 'fast_food' | 'bar' | 'bank' | 'fuel' | 'shop');

/** A selection of a layer's features. */
export interface Selected {
  readonly sourceLayer: string;
  readonly filter?: ExpressionSpecification;
}

/** Features of a layer by class. */
export interface Classified<Class extends string> extends Selected {
  /** Expression of the class; a string. */
  readonly tag: ExpressionSpecification;
  /** Values of the expression for each class. Other features are not drawn. */
  readonly values: Partial<Readonly<Record<Class, readonly string[]>>>;
}

/** Lines that may be tunnels or bridges. */
export interface Levelled {
  readonly isTunnel: ExpressionSpecification;
  readonly isBridge: ExpressionSpecification;
}

/** Yards, sidings and spurs beside main tracks. */
export interface SideTracks {
  readonly isSideTrack: ExpressionSpecification;
}

/** Where the vector tiles of one schema have what the built-in styles draw. Null: they have none of it. */
export interface Schema {
  /** Background where a tile has no features. */
  readonly background: 'land' | 'water';
  /** Land, if the background is water. */
  readonly land: Selected | null;
  /** Drawn in this order. */
  readonly areas: readonly Classified<AreaClass>[];
  readonly water: readonly Selected[];
  readonly waterways: Classified<WaterwayClass> | null;
  /** Piers and similar structures. */
  readonly piers: readonly Selected[];
  readonly aeroways: Classified<AerowayClass> | null;
  readonly buildings: Selected | null;
  readonly roads: (Classified<RoadClass> & Levelled) | null;
  readonly rails: (Classified<RailClass> & Levelled & SideTracks) | null;
  readonly ferries: Selected | null;
  readonly borders: Readonly<Record<BorderClass, Selected | null>>;
  readonly labels: SchemaLabels;
}

/** How the names of places are ranked, as expressions over their properties. */
export interface PlaceImportance {
  /** From 1 for metropolises and the largest countries to about 10. Lower ranks are larger and placed first. */
  readonly rank: ExpressionSpecification;
  /** Order within a class where the rank is too coarse: lower values are placed first, over the whole view. */
  readonly order?: ExpressionSpecification;
  /** First zoom of the name, where the schema has places earlier than they are readable. */
  readonly minZoom?: ExpressionSpecification;
  /** Whether the place is a capital of a country. */
  readonly isCapital: ExpressionSpecification;
}

/** References of roads, such as `A 1`. */
interface RoadReferences {
  /** The first reference; empty without one. */
  readonly text: ExpressionSpecification;
  /** Looks by the road's network. Other networks look like the road's class. */
  readonly networks?: {
    readonly tag: ExpressionSpecification;
    readonly values: Partial<Readonly<Record<ShieldClass, readonly string[]>>>;
  };
}

/** Area of waters that are small. */
export const smallWaterM2 = 20_000;

/** Label points or lines of lakes and seas. */
export interface WaterLabels extends Selected {
  /** Lower values are placed first. */
  readonly order?: ExpressionSpecification;
  /** Whether it is so small, such as a pond or fountain, that names of streets come first. */
  readonly isSmall?: ExpressionSpecification;
  /** Set when names lie along lines. */
  readonly isLine?: true;
}

/** Texts of features. */
export interface SchemaLabels {
  /** Getter of the name, localized later (see `language.ts`). */
  readonly name: ExpressionSpecification;
  readonly places: readonly (Classified<PlaceClass> & PlaceImportance)[];
  readonly roads: (Classified<RoadClass> & { readonly references: RoadReferences }) | null;
  readonly water: readonly WaterLabels[];
  /** Label points of squares, where their lines do not have the names. */
  readonly squares?: Selected;
  /** Label lines of rivers. */
  readonly waterways: Classified<WaterwayClass> | null;
  readonly pois: readonly (Classified<PoiClass> & {
    /** Order of points that start at one zoom. It adds to {@link orderOfClass}: lower values are placed first. */
    readonly order?: ExpressionSpecification;
    /** Whether visitors know the place: then sights, parks and universities start at zoom 14. */
    readonly isFamous?: ExpressionSpecification;
    /** Areas of parks, which tell how large a park is: then the large ones start at zoom 14. */
    readonly parks?: Omit<AreaAround, 'minPx2'>;
    /** Whether the tile does not tell what visitors know. Then the largest buildings start at zoom 14. */
    readonly isUnranked?: ExpressionSpecification;
  })[];
  readonly houseNumbers: (Selected & { readonly number: ExpressionSpecification }) | null;
}
