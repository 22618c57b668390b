/** The schema of the Protomaps basemap, versions 2 and 3: kinds are `pmap:kind`, beside OpenStreetMap tags. */
import {
  countriesByPopulation,
  expression,
  firstReference,
  isSideTrack,
  orderOfPopulation,
  rankOfPopulation,
} from '../expressions.js';
import { poiTag } from '../poi-tag.js';
import { isFamous, isKnown, taggedPois, withoutUnknownAttractions } from '../pois.js';
import type { RoadClass, Schema } from '../schema.js';
import { smallWaterM2 } from '../schema.js';

const kind = expression('get', 'pmap:kind');
/** Water without an area, such as a sea, counts as large. */
const waterM2 = expression('to-number', ['get', 'pmap:area'], smallWaterM2);
const areaM2 = expression('to-number', ['get', 'pmap:area'], 0);
const isPolygon = expression('==', ['geometry-type'], 'Polygon');
const isTunnel = expression('<', ['coalesce', ['get', 'pmap:level'], 0], 0);
const isBridge = expression('>', ['coalesce', ['get', 'pmap:level'], 0], 0);

/** Largest areas first, within a class. */
const orderOfArea = expression('-', 0, ['min', ['/', areaM2, 10_000], 999]);
/** Parks so large that they are landmarks, and areas so small that they appear last. */
const [landmarkM2, smallM2] = [500_000, 15_000];

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

const { airport, hospital, stadium, zoo, park, university, garden, cemetery, school } = taggedPois;
const namedAreas = { airport, hospital, stadium, zoo, park, university, garden, cemetery, school };

const named = expression('concat', ['get', 'name'], ' ', ['coalesce', ['get', 'name:en'], '']);
const isNamed = (...words: readonly string[]) => ['any', ...words.map((word) => ['in', word, named])];
/** Buildings have no tag of their use, so words in their names choose the icon: first those of museums in churches. */
const buildingTag = expression(
  'case',
  isNamed('Museo', 'Museum', 'Musée', 'Galleria', 'Gallery', 'Galerie'),
  'museum',
  isNamed(
    ...['Basilica', 'Chiesa', 'Duomo', 'Santa Maria', 'Battistero', 'Abbazia', 'Basilique', 'Église', 'Cathédrale'],
    ...['Iglesia', 'Igreja', 'Catedral', 'Kirche', 'Kerk', 'Kościół', 'Church', 'Cathedral', 'Chapel', 'Abbey'],
  ),
  'church',
  'sight',
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

/** Where the features of Protomaps 2 and 3 come from. */
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
        rank: rankOfPopulation,
        order: orderOfPopulation,
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
      {
        sourceLayer: 'pois',
        tag: withoutUnknownAttractions(poiTag(kind)),
        values: taggedPois,
        isFamous,
      },
      // Points are nodes of OpenStreetMap only. Most sights, parks and hospitals are mapped as areas.
      {
        sourceLayer: 'buildings',
        filter: expression('all', ['has', 'name'], isKnown),
        tag: buildingTag,
        values: { sight: ['sight'], worship: ['church'], museum: ['museum'] },
        isFamous,
      },
      {
        sourceLayer: 'landuse',
        filter: expression('all', isPolygon, ['has', 'name'], ['any', ['>=', ['zoom'], 16], ['>=', areaM2, smallM2]]),
        tag: landTag,
        values: namedAreas,
        order: orderOfArea,
        isFamous: expression('any', isFamous, ['all', ['==', kind, 'park'], ['>=', areaM2, landmarkM2]]),
      },
    ],
    houseNumbers: null,
  },
};
