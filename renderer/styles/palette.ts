/** The type of a style's colours. All styles have the same entries, so each style is a table. */
import type { AreaClass, RoadClass, ShieldClass } from './schema.js';

/** A CSS colour. */
export type PaletteColor = string;

/** Colours of a road's fill and casing. */
interface RoadColors {
  readonly fill: PaletteColor;
  readonly casing: PaletteColor;
}

/** The colours of a text. */
export interface LabelColors {
  readonly text: PaletteColor;
  readonly halo: PaletteColor;
}

/** Colours of a road shield. */
export interface ShieldColors {
  readonly fill: PaletteColor;
  readonly border: PaletteColor;
  readonly text: PaletteColor;
}

/** Groups of points of interest with one colour. */
export type PoiColor = 'airport' | 'transit' | 'green' | 'hospital' | 'education' | 'culture' | 'civic';

/** All colours of a style. */
export interface Palette {
  readonly land: PaletteColor;
  readonly water: PaletteColor;
  readonly areas: Readonly<Record<AreaClass, PaletteColor>>;
  readonly building: PaletteColor;
  readonly buildingEdge: PaletteColor;
  readonly pier: PaletteColor;
  readonly runway: PaletteColor;
  readonly roads: Readonly<Record<RoadClass, RoadColors>>;
  /** Roads in views of countries, where they are lines in the background. */
  readonly distantRoad: PaletteColor;
  /** Opacity of roads in tunnels, 0 to 1. */
  readonly tunnelOpacity: number;
  readonly rail: PaletteColor;
  readonly transit: PaletteColor;
  readonly ferry: PaletteColor;
  readonly border: PaletteColor;
  readonly stateBorder: PaletteColor;
  readonly shields: Readonly<Record<ShieldClass, ShieldColors>>;
  readonly labels: {
    readonly country: LabelColors;
    readonly state: LabelColors;
    readonly city: LabelColors;
    /** Towns, villages and parts of them. */
    readonly place: LabelColors;
    readonly road: LabelColors;
    readonly water: LabelColors;
    readonly houseNumber: LabelColors;
    readonly pois: Readonly<Record<PoiColor, LabelColors>>;
  };
}
