/** Kinds of points of interest: their tier, colour and icon, and how OpenStreetMap tags them. Pure. */

import type { PoiColor } from './palette.js';
import type { PoiGlyph } from './poi-glyphs.js';
import type { PoiClass } from './schema.js';

interface PoiStyle {
  readonly minZoom: number;
  readonly color: PoiColor;
  readonly glyph: PoiGlyph;
  /** Values of tags such as `amenity`, `tourism`, `historic`, `leisure`, `railway`. */
  readonly tagged: readonly string[];
}

const poi = (minZoom: number, color: PoiColor, glyph: PoiGlyph, ...tagged: readonly string[]): PoiStyle => ({
  minZoom,
  color,
  glyph,
  tagged,
});

/** The most important first: within a zoom, they are placed in this order. */
export const poiStyles: Readonly<Record<PoiClass, PoiStyle>> = {
  airport: poi(10, 'airport', 'airport', 'aerodrome'),
  station: poi(13, 'transit', 'station', 'station', 'train_station'),
  // No tag says what is widely known; only some schemas tell.
  landmark: poi(14, 'culture', 'attraction'),
  attraction: poi(14, 'culture', 'attraction', 'attraction', 'theme_park', 'landmark'),
  monument: poi(14, 'culture', 'monument', 'monument', 'triumphal_arch', 'archaeological_site', 'ruins'),
  castle: poi(14, 'culture', 'castle', 'castle', 'palace', 'fort', 'city_gate'),
  subway: poi(15, 'transit', 'subway', 'subway', 'halt', 'light_rail'),
  ferry: poi(15, 'transit', 'ferry', 'ferry_terminal', 'harbor', 'ferry'),
  museum: poi(15, 'culture', 'museum', 'museum'),
  hospital: poi(15, 'hospital', 'hospital', 'hospital'),
  stadium: poi(15, 'culture', 'stadium', 'stadium'),
  zoo: poi(15, 'green', 'zoo', 'zoo', 'aquarium'),
  viewpoint: poi(15, 'culture', 'viewpoint', 'viewpoint'),
  peak: poi(15, 'green', 'mountain', 'peak', 'volcano'),
  beach: poi(15, 'green', 'beach', 'beach', 'beach_resort'),
  park: poi(15, 'green', 'park', 'park', 'national_park', 'nature_reserve', 'forest', 'golf_course', 'water_park'),
  theatre: poi(16, 'culture', 'theatre', 'theatre', 'arts_centre', 'opera'),
  worship: poi(15, 'culture', 'worship', 'place_of_worship', 'cathedral', 'church', 'mosque', 'synagogue', 'temple'),
  // Attractions and buildings that fewer people know.
  sight: poi(15, 'culture', 'attraction', 'sight'),
  university: poi(16, 'education', 'college', 'university', 'college'),
  townhall: poi(16, 'civic', 'town-hall', 'townhall', 'courthouse', 'parliament'),
  garden: poi(16, 'green', 'park', 'garden'),
  cemetery: poi(16, 'green', 'cemetery', 'cemetery', 'grave_yard'),
  library: poi(16, 'education', 'library', 'library'),
  mall: poi(16, 'civic', 'shop', 'mall', 'department_store', 'marketplace'),
  school: poi(17, 'education', 'school', 'school'),
  police: poi(17, 'civic', 'police', 'police'),
  fire_station: poi(17, 'civic', 'fire-station', 'fire_station'),
  lodging: poi(17, 'civic', 'lodging', 'hotel', 'hostel'),
  food: poi(17, 'civic', 'restaurant', 'restaurant'),
  cafe: poi(17, 'civic', 'cafe', 'cafe', 'ice_cream'),
  shop: poi(17, 'civic', 'shop', 'supermarket'),
  fast_food: poi(18, 'civic', 'restaurant', 'fast_food', 'food_court'),
};

export const poiClasses = Object.keys(poiStyles) as PoiClass[];

/** Values of tags for each class that has some. */
export const taggedPois: Partial<Readonly<Record<PoiClass, readonly string[]>>> = Object.fromEntries(
  poiClasses.map((name) => [name, poiStyles[name].tagged] as const).filter(([, tagged]) => tagged.length > 0),
);

export const poiImage = (name: PoiClass): string => `poi-${poiStyles[name].color}-${poiStyles[name].glyph}`;
