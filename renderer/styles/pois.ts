/** Kinds of points of interest: their tier, colour and icon, and how OpenStreetMap tags them. Pure. */
import type { ExpressionSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expression, renown } from './expressions.js';
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

/** Shops that people look for by name. */
const shops = [
  ...['bakery', 'beauty', 'bicycle', 'books', 'boutique', 'butcher', 'chemist', 'clothes', 'convenience', 'cosmetics'],
  ...['deli', 'electronics', 'florist', 'furniture', 'gift', 'hairdresser', 'hardware', 'jewelry', 'mobile_phone'],
  ...['optician', 'pastry', 'perfumery', 'shoes', 'sports', 'stationery', 'toys', 'wine'],
];

const poi = (minZoom: number, color: PoiColor, glyph: PoiGlyph, ...tagged: readonly string[]): PoiStyle => ({
  minZoom,
  color,
  glyph,
  tagged,
});

/** First zoom of what visitors know, and the last one of kinds that visitors may know. */
export const famousZoom = 14;
const lastFamousZoom = 16;

/** The most important first: within a zoom, they are placed in this order. */
export const poiStyles: Readonly<Record<PoiClass, PoiStyle>> = {
  airport: poi(10, 'airport', 'airport', 'aerodrome'),
  station: poi(13, 'transit', 'station', 'station', 'train_station'),
  attraction: poi(14, 'culture', 'attraction', 'attraction', 'theme_park', 'landmark'),
  castle: poi(14, 'culture', 'castle', 'castle', 'palace', 'fort', 'city_gate'),
  museum: poi(15, 'culture', 'museum', 'museum'),
  stadium: poi(15, 'culture', 'stadium', 'stadium'),
  zoo: poi(15, 'green', 'zoo', 'zoo', 'aquarium'),
  hospital: poi(15, 'hospital', 'hospital', 'hospital'),
  subway: poi(15, 'transit', 'subway', 'subway', 'halt', 'light_rail'),
  // Before monuments, which often stand in the middle of one.
  park: poi(15, 'green', 'park', 'park', 'national_park', 'nature_reserve', 'forest', 'golf_course', 'water_park'),
  monument: poi(15, 'culture', 'monument', 'monument', 'triumphal_arch', 'archaeological_site', 'ruins'),
  // Attractions in tiles that do not tell which of them visitors know. Some are stops, plaques or crossings.
  unranked: poi(15, 'culture', 'attraction', 'unranked'),
  // Attractions and buildings that fewer people know.
  sight: poi(15, 'culture', 'attraction', 'sight'),
  ferry: poi(15, 'transit', 'ferry', 'ferry_terminal', 'harbor', 'ferry'),
  viewpoint: poi(15, 'culture', 'viewpoint', 'viewpoint'),
  peak: poi(15, 'green', 'mountain', 'peak', 'volcano'),
  beach: poi(15, 'green', 'beach', 'beach', 'beach_resort'),
  worship: poi(15, 'culture', 'worship', 'place_of_worship', 'cathedral', 'church', 'mosque', 'synagogue', 'temple'),
  theatre: poi(16, 'culture', 'theatre', 'theatre', 'arts_centre', 'opera'),
  university: poi(16, 'education', 'college', 'university', 'college'),
  townhall: poi(16, 'civic', 'town-hall', 'townhall', 'courthouse', 'parliament'),
  mall: poi(16, 'civic', 'shop', 'mall', 'department_store', 'marketplace'),
  garden: poi(16, 'green', 'park', 'garden'),
  cemetery: poi(16, 'green', 'cemetery', 'cemetery', 'grave_yard'),
  cinema: poi(16, 'culture', 'cinema', 'cinema'),
  library: poi(16, 'education', 'library', 'library'),
  school: poi(16, 'education', 'school', 'school'),
  lodging: poi(16, 'civic', 'lodging', 'hotel', 'hostel'),
  post: poi(16, 'civic', 'post', 'post_office'),
  police: poi(16, 'civic', 'police', 'police'),
  supermarket: poi(16, 'civic', 'shop', 'supermarket'),
  food: poi(16, 'civic', 'restaurant', 'restaurant'),
  cafe: poi(16, 'civic', 'cafe', 'cafe', 'ice_cream'),
  pharmacy: poi(17, 'hospital', 'pharmacy', 'pharmacy'),
  fire_station: poi(17, 'civic', 'fire-station', 'fire_station'),
  fast_food: poi(17, 'civic', 'restaurant', 'fast_food', 'food_court'),
  bar: poi(17, 'civic', 'bar', 'bar', 'pub', 'biergarten', 'nightclub'),
  bank: poi(18, 'civic', 'bank', 'bank'),
  fuel: poi(18, 'civic', 'fuel', 'fuel'),
  shop: poi(18, 'civic', 'shop', ...shops),
};

/** All kinds. Of two that start at one zoom, the earlier one comes first. */
export const poiClasses = Object.keys(poiStyles) as PoiClass[];

/** Values of tags for each class. */
export const taggedPois = Object.fromEntries(poiClasses.map((name) => [name, poiStyles[name].tagged])) as Readonly<
  Record<PoiClass, readonly string[]>
>;

/** Kinds that start early where visitors know the place: sights, parks and universities. */
export const famousClasses = poiClasses.filter((name) => {
  const { minZoom, color } = poiStyles[name];
  return minZoom >= famousZoom && minZoom <= lastFamousZoom && ['culture', 'green', 'education'].includes(color);
});

/** Distance of classes in {@link orderOfClass}. */
const classStep = 1_000;
/** Returns the order of a class among those that start at one zoom. */
export const orderOfClass = (name: PoiClass): number => classStep * (1 + poiClasses.indexOf(name));
/** Adds to the order: each language in which a place is named counts as much as four classes. */
export const orderOfRenown = expression('*', -4 * classStep, renown);

/** Languages of a name that tell a sight from a building, and what visitors know from a sight. */
const [knownFrom, famousFrom] = [2, 3];
/** Tests whether a feature's name has enough languages for a sight. */
export const isKnown = expression('>=', renown, knownFrom);
/** Tests whether a feature's name has enough languages for a sight that visitors know. */
export const isFamous = expression('>=', renown, famousFrom);
/** Entrances, courtyards and businesses are tagged as attractions, too. */
export const withoutUnknownAttractions = (tag: ExpressionSpecification): ExpressionSpecification =>
  expression('let', 'tag', tag, [
    'case',
    ['all', ['match', ['var', 'tag'], ['attraction', 'theme_park'], true, false], ['!', isKnown]],
    'sight',
    ['var', 'tag'],
  ]);

/**
 * Returns the tag without the rank of attractions. In tiles without languages, an attraction may be the pyramid of a
 * museum or the stop of a bus.
 */
export const unrankedAttractions = (tag: ExpressionSpecification): ExpressionSpecification =>
  expression('let', 'tag', tag, ['match', ['var', 'tag'], ['attraction', 'theme_park'], 'unranked', ['var', 'tag']]);

/** Returns the name of the image in the sprite. */
export const poiImage = (name: PoiClass): string => `poi-${poiStyles[name].color}-${poiStyles[name].glyph}`;
