/** The schema of Shortbread 1.0: https://shortbread-tiles.org/schema/1.0/. */
import { expression, firstReference, isSideTrack, orderOfPopulation, rankOfPopulation } from '../expressions.js';
import { poiTag } from '../poi-tag.js';
import { taggedPois, unrankedAttractions } from '../pois.js';
import type { RoadClass, Schema } from '../schema.js';
import { smallWaterM2 } from '../schema.js';

const kind = expression('get', 'kind');
/** False values may be omitted. */
const is = (name: string) => expression('==', ['to-string', ['get', name]], 'true');

/** `way_area` is in hectares. */
const rankOfArea = expression('step', ['to-number', ['get', 'way_area'], 0], 6, 1e5, 5, 1e6, 4, 1e7, 3, 1e8, 2, 5e8, 1);

const waterM2 = expression('to-number', ['get', 'way_area'], 0);

const roads: Readonly<Partial<Record<RoadClass, readonly string[]>>> = {
  motorway: ['motorway'],
  motorway_link: ['motorway_link'],
  trunk: ['trunk'],
  primary_link: ['trunk_link', 'primary_link'],
  primary: ['primary'],
  secondary: ['secondary'],
  tertiary: ['tertiary', 'secondary_link', 'tertiary_link'],
  minor: ['residential', 'unclassified', 'living_street', 'busway', 'bus_guideway'],
  service: ['service'],
  pedestrian: ['pedestrian'],
  track: ['track'],
  path: ['path', 'footway', 'cycleway', 'steps'],
};

const parks = ['park', 'garden', 'golf_course', 'recreation_ground'];

const streetRails = {
  rail: ['rail'],
  transit: ['light_rail', 'tram', 'subway', 'narrow_gauge', 'funicular', 'monorail'],
};

/** Where the features of Shortbread come from. */
export const shortbreadSchema: Schema = {
  background: 'land',
  land: null,
  areas: [
    {
      sourceLayer: 'land',
      tag: kind,
      values: {
        residential: ['residential', 'garages'],
        farmland: ['farmland', 'farmyard', 'orchard', 'vineyard', 'greenhouse_horticulture', 'plant_nursery'],
        grass: ['grass', 'meadow', 'grassland', 'scrub', 'heath', 'village_green', 'allotments', 'greenfield'],
        wood: ['forest'],
        wetland: ['swamp', 'bog', 'string_bog', 'wet_meadow', 'marsh'],
        rock: ['bare_rock', 'scree', 'shingle'],
        sand: ['sand', 'beach'],
        railway: ['railway'],
        industrial: ['industrial', 'quarry', 'landfill', 'brownfield'],
        commercial: ['commercial', 'retail'],
        park: [...parks, 'miniature_golf'],
        cemetery: ['cemetery', 'grave_yard'],
        pitch: ['playground'],
      },
    },
    {
      sourceLayer: 'sites',
      tag: kind,
      values: {
        military: ['danger_area'],
        industrial: ['construction', 'prison'],
        education: ['university', 'college', 'school'],
        hospital: ['hospital'],
        pitch: ['sports_centre'],
        parking: ['parking', 'bicycle_parking'],
      },
    },
    { sourceLayer: 'water_polygons', tag: kind, values: { ice: ['glacier'] } },
    {
      sourceLayer: 'street_polygons',
      tag: kind,
      values: { pedestrian: ['pedestrian', 'service'], airport: ['runway', 'taxiway'] },
    },
  ],
  water: [{ sourceLayer: 'ocean' }, { sourceLayer: 'water_polygons', filter: expression('!=', kind, 'glacier') }],
  waterways: {
    sourceLayer: 'water_lines',
    filter: expression('!', is('tunnel')),
    tag: kind,
    values: { river: ['river', 'canal'], stream: ['stream', 'ditch'] },
  },
  piers: [{ sourceLayer: 'pier_polygons' }, { sourceLayer: 'pier_lines' }],
  aeroways: { sourceLayer: 'streets', tag: kind, values: { runway: ['runway'], taxiway: ['taxiway'] } },
  buildings: { sourceLayer: 'buildings' },
  roads: {
    sourceLayer: 'streets',
    filter: expression('!', is('rail')),
    tag: expression('case', is('link'), ['concat', kind, '_link'], kind),
    values: roads,
    isTunnel: is('tunnel'),
    isBridge: is('bridge'),
  },
  rails: {
    sourceLayer: 'streets',
    filter: is('rail'),
    tag: kind,
    values: streetRails,
    isTunnel: is('tunnel'),
    isBridge: is('bridge'),
    isSideTrack,
  },
  ferries: { sourceLayer: 'ferries' },
  borders: {
    country: {
      sourceLayer: 'boundaries',
      filter: expression('all', ['==', ['get', 'admin_level'], 2], ['!', is('maritime')]),
    },
    state: {
      sourceLayer: 'boundaries',
      filter: expression('all', ['==', ['get', 'admin_level'], 4], ['!', is('maritime')]),
    },
  },
  labels: {
    name: expression('get', 'name'),
    places: [
      {
        sourceLayer: 'boundary_labels',
        tag: expression('to-string', ['get', 'admin_level']),
        values: { country: ['2'], state: ['4'] },
        rank: rankOfArea,
        order: expression('-', 0, ['to-number', ['get', 'way_area'], 0]),
        isCapital: expression('literal', false),
      },
      {
        sourceLayer: 'place_labels',
        tag: kind,
        values: {
          city: ['capital', 'state_capital', 'city'],
          town: ['town'],
          village: ['village', 'island'],
          suburb: ['suburb'],
          neighbourhood: ['quarter', 'neighbourhood', 'hamlet'],
        },
        rank: rankOfPopulation,
        order: orderOfPopulation,
        isCapital: expression('==', kind, 'capital'),
      },
    ],
    roads: {
      sourceLayer: 'street_labels',
      tag: kind,
      values: roads,
      references: { text: firstReference(expression('get', 'ref')) },
    },
    water: [
      {
        sourceLayer: 'water_polygons_labels',
        filter: expression('!=', kind, 'glacier'),
        order: expression('-', 0, waterM2),
        isSmall: expression('<', waterM2, smallWaterM2),
      },
    ],
    squares: { sourceLayer: 'streets_polygons_labels' },
    waterways: {
      sourceLayer: 'water_lines_labels',
      tag: kind,
      values: { river: ['river', 'canal'], stream: ['stream'] },
    },
    pois: [
      {
        sourceLayer: 'public_transport',
        tag: expression('case', ['all', ['==', kind, 'station'], ['==', ['get', 'station'], 'subway']], 'subway', kind),
        values: taggedPois,
      },
      {
        sourceLayer: 'pois',
        tag: unrankedAttractions(poiTag('')),
        values: taggedPois,
        parks: { sourceLayer: 'land', only: { key: 'kind', values: parks } },
        isUnranked: expression('literal', true),
      },
    ],
    houseNumbers: { sourceLayer: 'addresses', number: expression('get', 'housenumber') },
  },
};
