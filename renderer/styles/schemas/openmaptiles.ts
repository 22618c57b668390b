/** The schema of OpenMapTiles: https://openmaptiles.org/schema/. */
import { microstateZoom } from '../country-ranks.js';
import { byCountry, expression, firstReference, isSideTrack } from '../expressions.js';
import { isFamous, isKnown, taggedPois } from '../pois.js';

import type { AreaClass, RoadClass, Schema } from '../schema.js';

/** Two letters of a country; other countries have none. */
const region = expression('coalesce', ['get', 'iso_a2'], '');
const brunnel = expression('get', 'brunnel');
const classTag = expression('get', 'class');
/** Ramps have the class of their road. */
const roadTag = expression('case', ['==', ['get', 'ramp'], 1], ['concat', classTag, '_ramp'], classTag);

const roads: Readonly<Partial<Record<RoadClass, readonly string[]>>> = {
  motorway: ['motorway'],
  motorway_link: ['motorway_ramp'],
  trunk: ['trunk'],
  primary: ['primary'],
  primary_link: ['trunk_ramp', 'primary_ramp'],
  secondary: ['secondary'],
  tertiary: ['tertiary', 'secondary_ramp', 'tertiary_ramp', 'busway'],
  minor: ['minor', 'raceway', 'bus_guideway'],
  service: ['service'],
  track: ['track'],
  path: ['path'],
};

const landcover: Readonly<Partial<Record<AreaClass, readonly string[]>>> = {
  farmland: ['farmland'],
  grass: ['grass'],
  park: ['park'],
  wood: ['wood'],
  wetland: ['wetland'],
  rock: ['rock'],
  sand: ['sand'],
  ice: ['ice'],
};

const parks = ['park', 'garden', 'golf_course', 'village_green', 'recreation_ground'];

/** Parks are a kind of grass in the land cover. */
const landcoverTag = expression('case', ['match', ['get', 'subclass'], parks, true, false], 'park', classTag);

const landuse: Readonly<Partial<Record<AreaClass, readonly string[]>>> = {
  residential: ['residential', 'suburb', 'neighbourhood', 'quarter'],
  military: ['military'],
  railway: ['railway', 'bus_station'],
  industrial: ['industrial', 'garages', 'quarry', 'dam'],
  commercial: ['commercial', 'retail'],
  education: ['school', 'university', 'college', 'kindergarten', 'library'],
  hospital: ['hospital'],
  park: ['zoo', 'theme_park'],
  cemetery: ['cemetery'],
  pitch: ['pitch', 'playground', 'stadium', 'track'],
};

const orderOfWater = expression('match', classTag, 'ocean', 0, 'sea', 1, ['bay', 'strait'], 2, 'lake', 3, 4);

/** All features of the schema have this name, but tiles of tilemaker have no names of other languages. */
const hasLanguages = expression('has', 'name_int');
const attraction = ['case', isKnown, 'attraction', hasLanguages, 'sight', 'unranked'];
const poiTag = expression(
  'match',
  classTag,
  // The subclass of a place of worship is its religion.
  ['place_of_worship', 'harbor', 'park', 'cemetery'],
  classTag,
  // They have the class of their station.
  ['bus', 'entrance'],
  '',
  [
    'let',
    'tag',
    // Named buildings have no class. Without a string, each of them would be an error, which takes time.
    ['coalesce', ['get', 'subclass'], classTag, ''],
    ['case', ['match', ['var', 'tag'], ['attraction', 'theme_park'], true, false], attraction, ['var', 'tag']],
  ],
);

const onLand = expression('!=', ['get', 'maritime'], 1);

/** Where the features of OpenMapTiles come from. */
export const openMapTilesSchema: Schema = {
  background: 'land',
  land: null,
  areas: [
    { sourceLayer: 'park', tag: expression('literal', 'park'), values: { grass: ['park'] } },
    { sourceLayer: 'landcover', tag: landcoverTag, values: landcover },
    { sourceLayer: 'landuse', tag: classTag, values: landuse },
    {
      sourceLayer: 'aeroway',
      filter: expression('==', ['geometry-type'], 'Polygon'),
      tag: classTag,
      values: { airport: ['aerodrome', 'apron', 'runway', 'taxiway', 'heliport', 'helipad'] },
    },
    {
      sourceLayer: 'transportation',
      filter: expression('==', ['geometry-type'], 'Polygon'),
      tag: classTag,
      values: { pedestrian: ['path', 'pedestrian', 'platform', 'bridge'] },
    },
  ],
  water: [{ sourceLayer: 'water', filter: expression('!=', brunnel, 'tunnel') }],
  waterways: {
    sourceLayer: 'waterway',
    filter: expression('!=', brunnel, 'tunnel'),
    tag: classTag,
    values: { river: ['river', 'canal'], stream: ['stream', 'drain', 'ditch'] },
  },
  piers: [{ sourceLayer: 'transportation', filter: expression('==', classTag, 'pier') }],
  aeroways: {
    sourceLayer: 'aeroway',
    filter: expression('==', ['geometry-type'], 'LineString'),
    tag: classTag,
    values: { runway: ['runway'], taxiway: ['taxiway'] },
  },
  buildings: { sourceLayer: 'building' },
  roads: {
    sourceLayer: 'transportation',
    filter: expression('==', ['geometry-type'], 'LineString'),
    tag: roadTag,
    values: roads,
    isTunnel: expression('==', brunnel, 'tunnel'),
    isBridge: expression('==', brunnel, 'bridge'),
  },
  rails: {
    sourceLayer: 'transportation',
    tag: classTag,
    // Producers of this schema differ: some use `transit` for everything except main lines.
    values: {
      rail: ['rail'],
      transit: ['transit', 'light_rail', 'tram', 'subway', 'narrow_gauge', 'funicular', 'monorail'],
    },
    isTunnel: expression('==', brunnel, 'tunnel'),
    isBridge: expression('==', brunnel, 'bridge'),
    isSideTrack,
  },
  ferries: { sourceLayer: 'transportation', filter: expression('==', classTag, 'ferry') },
  borders: {
    country: { sourceLayer: 'boundary', filter: expression('all', ['==', ['get', 'admin_level'], 2], onLand) },
    state: {
      sourceLayer: 'boundary',
      filter: expression('all', ['match', ['get', 'admin_level'], [3, 4], true, false], onLand),
    },
  },
  labels: {
    name: expression('coalesce', ['get', 'name'], ['get', 'name:latin']),
    places: [
      {
        sourceLayer: 'place',
        filter: expression('==', classTag, 'country'),
        // The schema's ranks are equal for most of Europe.
        tag: byCountry(region, ({ minZoom }) => (minZoom < microstateZoom ? 'country' : 'microstate'), 'microstate'),
        values: { country: ['country'], microstate: ['microstate'] },
        rank: byCountry(region, ({ rank }) => rank, 6),
        order: byCountry(region, ({ position }) => position, 999),
        minZoom: byCountry(region, ({ minZoom }) => minZoom, microstateZoom),
        isCapital: expression('literal', false),
      },
      {
        sourceLayer: 'place',
        tag: classTag,
        values: {
          state: ['state', 'province'],
          city: ['city'],
          town: ['town'],
          village: ['village', 'island'],
          suburb: ['suburb', 'borough'],
          neighbourhood: ['quarter', 'neighbourhood', 'hamlet', 'isolated_dwelling', 'islet'],
        },
        rank: expression('coalesce', ['get', 'rank'], 10),
        isCapital: expression('==', ['get', 'capital'], 2),
      },
    ],
    roads: {
      sourceLayer: 'transportation_name',
      tag: classTag,
      values: { ...roads, path: ['path'] },
      references: {
        text: firstReference(expression('get', 'ref')),
        networks: {
          tag: expression('to-string', ['get', 'network']),
          values: {
            motorway: ['us-interstate', 'gb-motorway', 'ca-transcanada', 'gr-motorway'],
            trunk: ['gb-trunk', 'gr-national'],
            national: ['us-highway', 'gb-primary'],
            regional: ['us-state', 'ca-provincial', 'ca-provincial-arterial'],
          },
        },
      },
    },
    // Large lakes have a line, and the others a point.
    water: [
      {
        sourceLayer: 'water_name',
        filter: expression('==', ['geometry-type'], 'Point'),
        order: orderOfWater,
        // Ponds and fountains have the class of lakes, and appear last.
        isSmall: expression('all', ['>=', orderOfWater, 3], ['>=', ['zoom'], 14]),
      },
      { sourceLayer: 'water_name', filter: expression('==', ['geometry-type'], 'LineString'), isLine: true },
    ],
    waterways: { sourceLayer: 'waterway', tag: classTag, values: { river: ['river', 'canal'], stream: ['stream'] } },
    pois: [
      { sourceLayer: 'aerodrome_label', tag: expression('literal', 'airport'), values: { airport: ['airport'] } },
      {
        sourceLayer: 'poi',
        tag: poiTag,
        values: taggedPois,
        order: expression('min', ['coalesce', ['get', 'rank'], 999], 999),
        isFamous,
        parks: { sourceLayer: 'landcover', only: { key: 'subclass', values: parks } },
        isUnranked: expression('!', hasLanguages),
      },
    ],
    houseNumbers: { sourceLayer: 'housenumber', number: expression('get', 'housenumber') },
  },
};
