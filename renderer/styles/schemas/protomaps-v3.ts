/** The schema of the Protomaps basemap, versions 2 and 3: kinds are `pmap:kind`, beside OpenStreetMap tags. */

import {
  countriesByPopulation,
  expression,
  firstReference,
  isSideTrack,
  orderOfPopulation,
  rankOfPopulation,
  renown,
} from '../expressions.js';
import { poiTag } from '../poi-tag.js';
import { taggedPois } from '../pois.js';
import type { RoadClass, Schema } from '../schema.js';
import { smallWaterM2 } from '../schema.js';

const kind = expression('get', 'pmap:kind');
/** Water without an area, such as a sea, counts as large. */
const waterM2 = expression('to-number', ['get', 'pmap:area'], smallWaterM2);
const isPolygon = expression('==', ['geometry-type'], 'Polygon');
const isTunnel = expression('<', ['coalesce', ['get', 'pmap:level'], 0], 0);
const isBridge = expression('>', ['coalesce', ['get', 'pmap:level'], 0], 0);

/** Languages of a name that tell a sight from a building, and a landmark from a sight. */
const [knownFrom, famousFrom] = [2, 4];
const leastRenownLast = expression('-', 0, renown);
/** Entrances, courtyards and businesses are tagged as attractions, too. */
const poiTagByRenown = expression('let', 'tag', poiTag(kind), [
  'case',
  ['all', ['==', ['var', 'tag'], 'attraction'], ['<', renown, knownFrom]],
  'sight',
  ['var', 'tag'],
]);

/** Below zoom 10 roads have no tag, only a kind. */
const roadTag = expression('coalesce', ['get', 'highway'], kind);

const roads: Readonly<Partial<Record<RoadClass, readonly string[]>>> = {
  motorway: ['motorway', 'highway'],
  motorway_link: ['motorway_link'],
  trunk: ['trunk'],
  primary_link: ['trunk_link', 'primary_link'],
  primary: ['primary', 'major_road'],
  secondary: ['secondary', 'medium_road'],
  tertiary: ['tertiary', 'secondary_link', 'tertiary_link'],
  minor: ['residential', 'unclassified', 'living_street', 'road', 'raceway', 'minor_road'],
  service: ['service'],
  pedestrian: ['pedestrian'],
  track: ['track'],
  path: ['path', 'footway', 'cycleway', 'bridleway', 'steps'],
};

const landTag = expression(
  'coalesce',
  ...['leisure', 'landuse', 'natural', 'amenity', 'aeroway', 'highway', 'tourism', 'place'].map((tag) => ['get', tag]),
  kind,
);

const cover = {
  residential: ['residential', 'neighbourhood'],
  farmland: ['farmland', 'orchard', 'vineyard', 'farmyard'],
  grass: [
    'grass',
    'meadow',
    'grassland',
    'scrub',
    'heath',
    'village_green',
    'allotments',
    'greenery',
    'common',
    'nature_reserve',
  ],
  wood: ['wood', 'forest'],
  wetland: ['wetland'],
  rock: ['bare_rock', 'scree'],
  sand: ['sand', 'beach'],
  ice: ['glacier'],
  military: ['military'],
  airport: ['aerodrome'],
  railway: ['railway'],
  industrial: ['industrial', 'quarry', 'brownfield'],
  commercial: ['commercial', 'retail'],
  education: ['school', 'university', 'college', 'kindergarten'],
  hospital: ['hospital'],
  park: ['park', 'garden', 'golf_course', 'zoo', 'recreation_ground', 'dog_park'],
  cemetery: ['cemetery', 'grave_yard'],
  pitch: ['pitch', 'playground', 'track', 'stadium'],
  pedestrian: ['pedestrian', 'marketplace', 'bridge'],
};

export const protomapsV3Schema: Schema = {
  background: 'water',
  land: { sourceLayer: 'earth', filter: isPolygon },
  areas: [
    { sourceLayer: 'natural', filter: isPolygon, tag: landTag, values: cover },
    { sourceLayer: 'landuse', filter: isPolygon, tag: landTag, values: cover },
  ],
  water: [{ sourceLayer: 'water', filter: isPolygon }],
  waterways: {
    sourceLayer: 'physical_line',
    tag: expression('get', 'waterway'),
    values: { river: ['river', 'canal'], stream: ['stream', 'drain', 'ditch'] },
  },
  piers: [{ sourceLayer: 'landuse', filter: expression('==', ['get', 'man_made'], 'pier') }],
  aeroways: {
    sourceLayer: 'transit',
    tag: expression('get', 'aeroway'),
    values: { runway: ['runway'], taxiway: ['taxiway'] },
  },
  buildings: { sourceLayer: 'buildings', filter: isPolygon },
  roads: { sourceLayer: 'roads', tag: roadTag, values: roads, isTunnel, isBridge },
  rails: {
    sourceLayer: 'transit',
    tag: expression('get', 'railway'),
    values: { rail: ['rail'], transit: ['light_rail', 'tram', 'subway', 'narrow_gauge', 'funicular', 'monorail'] },
    isTunnel: expression('<', ['to-number', ['get', 'layer'], 0], 0),
    isBridge: expression('>', ['to-number', ['get', 'layer'], 0], 0),
    isSideTrack,
  },
  ferries: { sourceLayer: 'transit', filter: expression('==', kind, 'ferry') },
  borders: {
    country: {
      sourceLayer: 'boundaries',
      filter: expression('<=', ['coalesce', ['get', 'pmap:min_admin_level'], 9], 2),
    },
    state: {
      sourceLayer: 'boundaries',
      filter: expression('match', ['get', 'pmap:min_admin_level'], [3, 4], true, false),
    },
  },
  labels: {
    name: expression('get', 'name'),
    places: [
      { sourceLayer: 'places', filter: expression('==', kind, 'country'), ...countriesByPopulation },
      {
        sourceLayer: 'places',
        tag: expression('match', kind, ['state', 'region'], kind, ['coalesce', ['get', 'place'], kind]),
        values: {
          state: ['state', 'region'],
          city: ['city'],
          town: ['town'],
          village: ['village'],
          suburb: ['suburb', 'borough'],
          neighbourhood: ['neighbourhood', 'quarter', 'hamlet'],
        },
        rank: rankOfPopulation('population'),
        order: orderOfPopulation('population'),
        isCapital: expression('==', ['to-string', ['get', 'capital']], 'yes'),
      },
    ],
    roads: {
      sourceLayer: 'roads',
      tag: roadTag,
      values: roads,
      references: { text: firstReference(expression('coalesce', ['get', 'shield_text'], ['get', 'ref'])) },
    },
    water: [
      {
        sourceLayer: 'physical_point',
        filter: expression('==', kind, 'water'),
        order: expression('-', 0, waterM2),
        isSmall: expression('<', waterM2, smallWaterM2),
      },
      { sourceLayer: 'physical_point', filter: expression('match', ['get', 'place'], ['sea', 'ocean'], true, false) },
    ],
    waterways: {
      sourceLayer: 'physical_line',
      tag: expression('get', 'waterway'),
      values: { river: ['river', 'canal'], stream: ['stream'] },
    },
    pois: [
      { sourceLayer: 'pois', tag: poiTagByRenown, values: taggedPois, order: leastRenownLast },
      {
        // Points are nodes of OpenStreetMap only. Most sights are mapped as areas.
        sourceLayer: 'buildings',
        filter: expression('all', ['has', 'name'], ['>=', renown, knownFrom]),
        tag: expression('case', ['>=', renown, famousFrom], 'famous', 'sight'),
        values: { landmark: ['famous'], sight: ['sight'] },
        order: leastRenownLast,
      },
    ],
    houseNumbers: null,
  },
};
