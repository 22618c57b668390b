/** The schema of the Protomaps basemap, version 4: https://docs.protomaps.com/basemaps/layers. */
import {
  countriesByPopulation,
  expression,
  firstReference,
  isSideTrack,
  orderOfPopulation,
  rankOfPopulation,
} from '../expressions.js';
import { isFamous, taggedPois, withoutUnknownAttractions } from '../pois.js';

import type { RoadClass, Schema } from '../schema.js';

const kind = expression('get', 'kind');
/** Value of the OpenStreetMap tag of a kind. */
const detail = expression('coalesce', ['get', 'kind_detail'], kind);
const parks = ['park', 'garden', 'golf_course', 'recreation_ground'];
const isSubway = expression('in', 'subway', [
  'concat',
  ['to-string', ['get', 'kind_detail']],
  ['to-string', ['get', 'station']],
]);
const isPolygon = expression('==', ['geometry-type'], 'Polygon');
const isLine = expression('==', ['geometry-type'], 'LineString');
const isPoint = expression('==', ['geometry-type'], 'Point');

/** First zoom of a feature, which follows from its size or importance. */
const minZoom = expression('to-number', ['get', 'min_zoom'], 20);

/** By detail. Low zooms have no detail, and the kind is sufficient. */
const roads: Readonly<Partial<Record<RoadClass, readonly string[]>>> = {
  motorway: ['motorway', 'highway'],
  motorway_link: ['motorway_link'],
  trunk: ['trunk'],
  primary_link: ['trunk_link', 'primary_link'],
  primary: ['primary', 'major_road'],
  secondary: ['secondary'],
  tertiary: ['tertiary', 'secondary_link', 'tertiary_link', 'medium_road'],
  minor: ['residential', 'unclassified', 'living_street', 'road', 'raceway', 'minor_road'],
  service: ['service', 'driveway', 'parking_aisle', 'alley', 'drive-through'],
  pedestrian: ['pedestrian'],
  track: ['track'],
  // Pavements and crossings beside streets would clutter the map.
  path: ['path', 'footway', 'cycleway', 'bridleway', 'steps', 'corridor', 'other'],
};

/** Where the features of Protomaps 4 come from. */
export const protomapsSchema: Schema = {
  background: 'water',
  land: { sourceLayer: 'earth', filter: isPolygon },
  areas: [
    {
      sourceLayer: 'landcover',
      tag: kind,
      values: {
        residential: ['urban_area'],
        farmland: ['farmland'],
        grass: ['grassland', 'scrub'],
        wood: ['forest'],
        rock: ['barren'],
        ice: ['glacier'],
      },
    },
    {
      sourceLayer: 'landuse',
      filter: isPolygon,
      tag: kind,
      values: {
        residential: ['residential'],
        farmland: ['farmland', 'orchard', 'vineyard', 'farmyard'],
        grass: [
          'grass',
          'grassland',
          'meadow',
          'scrub',
          'heath',
          'village_green',
          'allotments',
          'national_park',
          'nature_reserve',
          'protected_area',
        ],
        wood: ['wood', 'forest'],
        wetland: ['wetland'],
        rock: ['bare_rock', 'scree'],
        sand: ['sand', 'beach'],
        ice: ['glacier'],
        military: ['military', 'naval_base', 'airfield'],
        airport: ['aerodrome', 'runway', 'taxiway'],
        railway: ['railway'],
        industrial: ['industrial', 'quarry', 'dam'],
        commercial: ['commercial', 'retail'],
        education: ['school', 'university', 'college', 'kindergarten', 'library'],
        hospital: ['hospital'],
        park: [...parks, 'zoo', 'dog_park'],
        cemetery: ['cemetery'],
        pitch: ['pitch', 'playground', 'stadium'],
        pedestrian: ['pedestrian', 'platform'],
      },
    },
  ],
  water: [{ sourceLayer: 'water', filter: isPolygon }],
  waterways: {
    sourceLayer: 'water',
    filter: expression('all', isLine, ['!', ['has', 'tunnel']]),
    tag: kind,
    values: { river: ['river', 'canal'], stream: ['stream', 'drain', 'ditch'] },
  },
  piers: [
    { sourceLayer: 'landuse', filter: expression('==', kind, 'pier') },
    { sourceLayer: 'roads', filter: expression('==', detail, 'pier') },
  ],
  aeroways: {
    sourceLayer: 'roads',
    filter: expression('==', kind, 'aeroway'),
    tag: detail,
    values: { runway: ['runway'], taxiway: ['taxiway'] },
  },
  buildings: { sourceLayer: 'buildings', filter: isPolygon },
  roads: {
    sourceLayer: 'roads',
    filter: expression(
      'match',
      kind,
      ['highway', 'major_road', 'medium_road', 'minor_road', 'path', 'other'],
      true,
      false,
    ),
    tag: detail,
    values: roads,
    isTunnel: expression('has', 'is_tunnel'),
    isBridge: expression('has', 'is_bridge'),
  },
  rails: {
    sourceLayer: 'roads',
    filter: expression('==', kind, 'rail'),
    tag: detail,
    values: { rail: ['rail'], transit: ['light_rail', 'tram', 'subway', 'narrow_gauge', 'funicular', 'monorail'] },
    isTunnel: expression('has', 'is_tunnel'),
    isBridge: expression('has', 'is_bridge'),
    isSideTrack,
  },
  ferries: { sourceLayer: 'roads', filter: expression('==', kind, 'ferry') },
  borders: {
    country: { sourceLayer: 'boundaries', filter: expression('==', kind, 'country') },
    state: { sourceLayer: 'boundaries', filter: expression('match', kind, ['region', 'macroregion'], true, false) },
  },
  labels: {
    name: expression('get', 'name'),
    places: [
      { sourceLayer: 'places', filter: expression('==', kind, 'country'), ...countriesByPopulation },
      {
        sourceLayer: 'places',
        // Localities are classified by the value of their tag.
        tag: expression('case', ['==', kind, 'locality'], detail, kind),
        values: {
          state: ['region'],
          city: ['city'],
          town: ['town'],
          village: ['village', 'locality', 'hamlet'],
          suburb: ['macrohood', 'borough'],
          neighbourhood: ['neighbourhood', 'isolated_dwelling', 'farm', 'allotments'],
        },
        rank: rankOfPopulation,
        order: orderOfPopulation,
        isCapital: expression('==', ['to-string', ['get', 'capital']], 'yes'),
      },
    ],
    roads: {
      sourceLayer: 'roads',
      tag: detail,
      values: roads,
      references: {
        text: firstReference(expression('coalesce', ['get', 'shield_text'], ['get', 'ref'])),
        networks: {
          tag: expression('to-string', ['get', 'network']),
          values: { motorway: ['US:I'], national: ['US:US'] },
        },
      },
    },
    water: [
      {
        sourceLayer: 'water',
        filter: isPoint,
        order: minZoom,
        isSmall: expression('>=', minZoom, 14),
      },
    ],
    waterways: {
      sourceLayer: 'water',
      filter: isLine,
      tag: kind,
      values: { river: ['river', 'canal'], stream: ['stream'] },
    },
    pois: [
      {
        sourceLayer: 'pois',
        tag: withoutUnknownAttractions(
          expression('case', ['all', ['==', kind, 'station'], isSubway], 'subway', ['to-string', kind]),
        ),
        values: taggedPois,
        order: minZoom,
        isFamous,
        parks: { sourceLayer: 'landuse', only: { key: 'kind', values: parks } },
      },
    ],
    houseNumbers: {
      sourceLayer: 'buildings',
      filter: expression('==', kind, 'address'),
      number: expression('get', 'addr_housenumber'),
    },
  },
};
