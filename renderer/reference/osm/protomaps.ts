/** OpenStreetMap elements as layers of the Protomaps basemap 4: https://docs.protomaps.com/basemaps/layers. Pure. */
import type { Geometry } from 'geojson';
import type { Element, Tags } from './extract.js';
import {
  areaM2,
  firstTag,
  flag,
  isLine,
  isPolygon,
  isYes,
  Layers,
  type Properties,
  pointOf,
  zoomOfArea,
} from './layers.js';
import { type Bounds, landOf } from './rings.js';

/** [kind, first zoom, order] of roads by value of `highway`, without `_link`. */
const roads: Readonly<Record<string, readonly [kind: string, minZoom: number, sortRank: number]>> = {
  motorway: ['highway', 3, 399],
  trunk: ['major_road', 6, 394],
  primary: ['major_road', 7, 392],
  secondary: ['major_road', 9, 390],
  tertiary: ['major_road', 9, 389],
  residential: ['minor_road', 12, 385],
  unclassified: ['minor_road', 12, 385],
  living_street: ['minor_road', 12, 385],
  road: ['minor_road', 12, 385],
  raceway: ['minor_road', 12, 385],
  service: ['minor_road', 13, 384],
  pedestrian: ['path', 12, 380],
  track: ['path', 12, 380],
  path: ['path', 13, 380],
  cycleway: ['path', 13, 380],
  bridleway: ['path', 13, 380],
  footway: ['path', 13, 380],
  steps: ['path', 13, 380],
  corridor: ['path', 14, 380],
};

/** Values of `landuse`, `natural`, `leisure`, `amenity`, `aeroway`, `man_made`, `military` and `tourism`. */
const landUses = new Set([
  ...['residential', 'farmland', 'orchard', 'vineyard', 'farmyard', 'grass', 'grassland', 'meadow', 'scrub', 'heath'],
  ...['village_green', 'allotments', 'nature_reserve', 'wood', 'forest', 'wetland', 'bare_rock', 'scree', 'sand'],
  ...['beach', 'glacier', 'military', 'naval_base', 'airfield', 'aerodrome', 'runway', 'taxiway', 'railway'],
  ...['industrial', 'quarry', 'dam', 'commercial', 'retail', 'school', 'university', 'college', 'kindergarten'],
  ...['library', 'hospital', 'park', 'garden', 'golf_course', 'zoo', 'recreation_ground', 'dog_park', 'cemetery'],
  ...['pitch', 'playground', 'stadium', 'pedestrian', 'platform', 'pier'],
]);
const landKeys = ['landuse', 'natural', 'leisure', 'amenity', 'aeroway', 'man_made', 'military', 'tourism'];

/** First zooms of points of interest by kind. Others with a name appear at 16, which the last zoom includes. */
const pois: Readonly<Record<string, number>> = {
  aerodrome: 11,
  ...Object.fromEntries(
    ['station', 'ferry_terminal', 'university', 'park', 'zoo', 'stadium'].map((kind) => [kind, 13]),
  ),
  ...Object.fromEntries(['hospital', 'museum', 'attraction', 'library', 'peak', 'theatre'].map((kind) => [kind, 14])),
  ...Object.fromEntries(['college', 'school', 'townhall', 'beach', 'garden', 'marina'].map((kind) => [kind, 15])),
};
const poiKeys = [
  'railway',
  'aeroway',
  'tourism',
  'leisure',
  'amenity',
  'shop',
  'natural',
  'historic',
  'landuse',
  'highway',
];
/** Not points of interest. */
const ignored = new Set([
  ...['parking', 'pitch', 'rail', 'switch', 'level_crossing', 'crossing', 'traffic_signals', 'tree', 'water', 'stop'],
  ...[
    'residential',
    'commercial',
    'retail',
    'industrial',
    'railway',
    'construction',
    'grass',
    'swimming_pool',
    'buffer_stop',
  ],
  ...[
    'parking_space',
    'parking_entrance',
    'street_lamp',
    'bay',
    'coastline',
    'railway_crossing',
    'signal',
    'tram_crossing',
  ],
]);

/** [kind, first zoom, population] of places. */
const places: Readonly<Record<string, readonly [kind: string, minZoom: number, population: number]>> = {
  city: ['locality', 4, 100_000],
  town: ['locality', 8, 10_000],
  village: ['locality', 10, 1_000],
  hamlet: ['locality', 11, 200],
  suburb: ['macrohood', 10, 5_000],
  quarter: ['neighbourhood', 11, 2_000],
  neighbourhood: ['neighbourhood', 12, 1_000],
};

const languages = ['en', 'de', 'fr', 'it', 'es', 'ja', 'zh', 'ru', 'ar', 'ko'];

/** Returns all layers. Land is closed at the bounds. */
export function protomapsLayers(elements: readonly Element[], bounds: Bounds, maxZoom: number): Layers {
  const layers = new Layers(maxZoom);
  const coastlines = elements.flatMap(({ tags, geometry }) =>
    tags.natural === 'coastline' && geometry.type === 'LineString' ? [geometry.coordinates] : [],
  );
  for (const coordinates of landOf(coastlines, bounds))
    layers.add('earth', 0, { type: 'Polygon', coordinates }, { kind: 'earth' });
  for (const element of elements) {
    for (const add of [addLandUse, addWater, addRoad, addBuilding, addBoundary, addPlace, addPoi]) add(layers, element);
  }
  return layers;
}

const names = (tags: Tags): Properties => ({
  name: tags.name,
  ...Object.fromEntries(languages.map((language) => [`name:${language}`, tags[`name:${language}`]])),
});

function addLandUse(layers: Layers, { tags, geometry }: Element): void {
  if (!isPolygon(geometry)) return;
  const values = landKeys.map((key) => tags[key]);
  const kind = tags.highway === 'pedestrian' ? 'pedestrian' : values.find((value) => landUses.has(value ?? ''));
  if (kind) layers.add('landuse', zoomOfArea(areaM2(geometry), 5, 14), geometry, { kind, sort_rank: 189 });
}

function addWater(layers: Layers, { tags, geometry }: Element): void {
  const { waterway = '' } = tags;
  if (isLine(geometry)) {
    if (!['river', 'canal', 'stream', 'drain', 'ditch'].includes(waterway)) return;
    const levels = {
      tunnel: isYes(tags.tunnel) ? tags.tunnel : undefined,
      intermittent: flag(tags.intermittent === 'yes'),
    };
    layers.add('water', waterway === 'river' ? 9 : 12, geometry, {
      kind: waterway,
      ...names(tags),
      ...levels,
      sort_rank: 200,
    });
    return;
  }
  if (!isPolygon(geometry)) return;
  const isBasin = tags.landuse === 'reservoir' || tags.landuse === 'basin';
  if (tags.natural !== 'water' && waterway !== 'riverbank' && waterway !== 'dock' && !isBasin) return;
  const kind = ['lake', 'river', 'canal', 'reservoir', 'basin'].includes(tags.water ?? '') ? tags.water! : 'water';
  const area = areaM2(geometry);
  layers.add('water', zoomOfArea(area, 5, 14), geometry, { kind, sort_rank: 200 });
  if (tags.name) layers.add('water', zoomOfArea(area, 8, 14), pointOf(geometry), { kind, ...names(tags) });
}

function addRoad(layers: Layers, { tags, geometry }: Element): void {
  if (!isLine(geometry)) return;
  const levels = { is_tunnel: flag(isYes(tags.tunnel)), is_bridge: flag(isYes(tags.bridge)) };
  const road = roads[tags.highway?.replace(/_link$/, '') ?? ''];
  if (road) {
    const [kind, minZoom, sortRank] = road;
    const { service, ref, footway } = tags;
    const network = ref?.startsWith('I ') ? 'US:I' : ref?.startsWith('US ') ? 'US:US' : ref && 'other';
    layers.add('roads', minZoom, geometry, {
      kind,
      kind_detail:
        service && tags.highway === 'service'
          ? service
          : footway && tags.highway === 'footway'
            ? footway
            : tags.highway,
      ...names(tags),
      ref,
      network,
      shield_text: ref?.split(';')[0]?.replace(/^(I|US|CA) /, ''),
      is_link: flag(tags.highway!.endsWith('_link')),
      oneway: tags.oneway === 'yes' ? 'yes' : undefined,
      ...levels,
      sort_rank: sortRank,
    });
  } else if (
    ['rail', 'light_rail', 'tram', 'subway', 'narrow_gauge', 'funicular', 'monorail'].includes(tags.railway ?? '')
  ) {
    const { service } = tags;
    layers.add('roads', service ? 13 : 11, geometry, {
      kind: 'rail',
      kind_detail: tags.railway,
      service,
      ...levels,
      sort_rank: 361,
    });
  } else if (tags.route === 'ferry') {
    layers.add('roads', 11, geometry, { kind: 'ferry', kind_detail: 'ferry', ...names(tags) });
  } else if (tags.aeroway === 'runway' || tags.aeroway === 'taxiway') {
    layers.add('roads', 10, geometry, { kind: 'aeroway', kind_detail: tags.aeroway, ref: tags.ref });
  } else if (tags.man_made === 'pier') {
    layers.add('roads', 13, geometry, { kind: 'path', kind_detail: 'pier' });
  }
}

function addBuilding(layers: Layers, { tags, geometry }: Element): void {
  const isPart = isYes(tags['building:part']);
  if (isPolygon(geometry) && (isYes(tags.building) || isPart)) {
    const height =
      Number.parseFloat(tags.height ?? '') || 3 * Number.parseFloat(tags['building:levels'] ?? '') || undefined;
    layers.add('buildings', 14, geometry, { kind: isPart ? 'building_part' : 'building', height, sort_rank: 400 });
  }
  const number = tags['addr:housenumber'];
  if (number) layers.add('buildings', 14, pointOf(geometry), { kind: 'address', addr_housenumber: number });
}

function addBoundary(layers: Layers, { tags, geometry }: Element): void {
  if (tags.boundary !== 'administrative' || geometry.type !== 'MultiPolygon') return;
  const kind = { '2': 'country', '4': 'region', '6': 'county' }[tags.admin_level ?? ''];
  if (!kind) return;
  const lines: Geometry = { type: 'MultiLineString', coordinates: geometry.coordinates.flat() };
  layers.add('boundaries', kind === 'country' ? 0 : 5, lines, { kind, kind_detail: Number(tags.admin_level) });
}

/** Upper ends of populations by rank, from 1. */
const rankEnds = [200, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8];

function addPlace(layers: Layers, { tags, geometry }: Element): void {
  const place = places[tags.place ?? ''];
  if (!place || !tags.name || isLine(geometry)) return;
  const [kind, minZoom, usual] = place;
  const population = Number.parseInt(tags.population ?? '', 10) || usual;
  const rank = rankEnds.findIndex((end) => population < end);
  const importance = {
    population,
    population_rank: rank < 0 ? rankEnds.length : rank,
    sort_key: minZoom * 1000 - rank,
  };
  const capital = tags.capital === 'yes' ? 'yes' : undefined;
  layers.add('places', minZoom, pointOf(geometry), {
    kind,
    kind_detail: tags.place,
    ...names(tags),
    ...importance,
    capital,
  });
}

function addPoi(layers: Layers, { tags, geometry }: Element): void {
  if (isLine(geometry)) return;
  const found = firstTag(tags, poiKeys);
  if (!found || ignored.has(found[1]) || (!tags.name && found[1] !== 'toilets')) return;
  const kind = found[1];
  const size = isPolygon(geometry) ? zoomOfArea(areaM2(geometry), 12, 16) : 16;
  layers.add('pois', Math.min(pois[kind] ?? 16, size), pointOf(geometry), {
    kind,
    ...names(tags),
    sport: tags.sport,
    religion: tags.religion,
  });
}
