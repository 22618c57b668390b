/** OpenStreetMap elements as layers of Shortbread 1.0: https://shortbread-tiles.org/schema/1.0/. Pure. */
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

type Table = Readonly<Record<string, number>>;

const table = (minZoom: number, ...kinds: readonly string[]): Table =>
  Object.fromEntries(kinds.map((kind) => [kind, minZoom]));

/** First zooms of land by kind. Kinds are values of `landuse`, `natural`, `leisure`, `wetland` and `amenity`. */
const land: Table = {
  ...table(7, 'forest'),
  ...table(10, 'residential', 'industrial', 'commercial', 'retail', 'railway', 'landfill', 'brownfield', 'greenfield'),
  ...table(10, 'farmland', 'farmyard', 'sand', 'beach', 'quarry', 'garages'),
  ...table(11, 'grass', 'meadow', 'orchard', 'vineyard', 'allotments', 'village_green', 'recreation_ground'),
  ...table(11, 'grassland', 'scrub', 'heath', 'bare_rock', 'scree', 'shingle', 'greenhouse_horticulture'),
  ...table(11, 'plant_nursery', 'golf_course', 'park', 'garden', 'playground', 'miniature_golf'),
  ...table(11, 'swamp', 'bog', 'string_bog', 'wet_meadow', 'marsh'),
  ...table(13, 'cemetery', 'grave_yard'),
};
const siteKinds = ['danger_area', 'sports_centre', 'university', 'college', 'school', 'hospital', 'prison', 'parking'];
const sites = [...siteKinds, 'bicycle_parking', 'construction'];

/** First zooms of streets by value of `highway`. Links have the zoom of their street. */
const streets: Table = {
  ...table(5, 'motorway'),
  ...table(6, 'trunk'),
  ...table(8, 'primary'),
  ...table(9, 'secondary'),
  ...table(10, 'tertiary'),
  ...table(12, 'unclassified', 'residential', 'busway', 'bus_guideway', 'living_street'),
  ...table(12, 'pedestrian', 'service'),
  ...table(13, 'track', 'footway', 'steps', 'path', 'cycleway'),
};
const rails: Table = {
  ...table(8, 'rail', 'narrow_gauge'),
  ...table(10, 'tram', 'light_rail', 'funicular', 'subway', 'monorail'),
};
const places: Table = {
  ...table(4, 'capital'),
  ...table(6, 'city'),
  ...table(7, 'town'),
  ...table(10, 'village', 'hamlet', 'suburb', 'neighbourhood'),
  ...table(10, 'isolated_dwelling', 'farm', 'island', 'locality', 'quarter'),
};
const publicTransport: Table = {
  ...table(11, 'aerodrome', 'ferry_terminal', 'station'),
  ...table(13, 'halt', 'bus_station'),
  ...table(14, 'tram_stop', 'bus_stop'),
};
const poiKeys = ['amenity', 'leisure', 'tourism', 'shop', 'man_made', 'historic', 'emergency', 'office'];
const populations: Table = { city: 100_000, town: 5_000, village: 100, hamlet: 50, suburb: 1_000, neighbourhood: 100 };

/** Returns all layers. The extract's land is closed at the bounds. */
export function shortbreadLayers(elements: readonly Element[], bounds: Bounds, maxZoom: number): Layers {
  const layers = new Layers(maxZoom);
  const coastlines = elements.flatMap(({ tags, geometry }) =>
    tags.natural === 'coastline' && geometry.type === 'LineString' ? [geometry.coordinates] : [],
  );
  if (coastlines.length > 0) layers.add('ocean', 0, oceanOf(landOf(coastlines, bounds), bounds), {});
  for (const element of elements) {
    for (const add of [addGround, addWater, addStreet, addBuilding, addBoundary, addLabels]) add(layers, element);
  }
  return layers;
}

/** The bounds without the land. */
function oceanOf(land: ReturnType<typeof landOf>, [west, south, east, north]: Bounds): Geometry {
  const all = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: 'Polygon', coordinates: [all, ...land.map(([outer]) => outer!.toReversed())] };
}

const names = (tags: Tags): Properties => ({
  name: tags.name,
  name_en: tags['name:en'] ?? tags.name,
  name_de: tags['name:de'] ?? tags.name,
});

function addGround(layers: Layers, { tags, geometry }: Element): void {
  if (!isPolygon(geometry)) return;
  const forest = tags.natural === 'wood' ? 'forest' : undefined;
  const kinds = [tags.landuse, forest, tags.natural, tags.leisure, tags.wetland, tags.amenity];
  const kind = kinds.find((value) => value !== undefined && value in land);
  if (kind) layers.add('land', land[kind]!, geometry, { kind });
  const site = [tags.amenity, tags.leisure, tags.military, tags.landuse].find((value) => sites.includes(value ?? ''));
  if (site) layers.add('sites', 14, geometry, { kind: site });
  if (tags.man_made === 'pier') layers.add('pier_polygons', 12, geometry, { kind: 'pier' });
  if (tags.man_made === 'bridge') layers.add('bridges', 12, geometry, { kind: 'bridge' });
}

function addWater(layers: Layers, { tags, geometry }: Element): void {
  const line = tags.waterway ?? '';
  if (isLine(geometry)) {
    if (tags.man_made === 'pier') layers.add('pier_lines', 12, geometry, { kind: 'pier' });
    if (!['river', 'canal', 'stream', 'ditch'].includes(line)) return;
    const minZoom = line === 'river' || line === 'canal' ? 9 : 14;
    const levels = { tunnel: isYes(tags.tunnel), bridge: isYes(tags.bridge) };
    layers.add('water_lines', minZoom, geometry, { kind: line, ...levels });
    if (tags.name)
      layers.add('water_lines_labels', Math.max(12, minZoom), geometry, { kind: line, ...names(tags), ...levels });
    return;
  }
  if (!isPolygon(geometry)) return;
  const kind = waterKind(tags);
  if (!kind) return;
  const area = areaM2(geometry);
  const properties = { kind, way_area: Math.round(area) };
  layers.add('water_polygons', zoomOfArea(area, 4, 14), geometry, properties);
  if (tags.name) layers.add('water_polygons_labels', 14, pointOf(geometry), { ...properties, ...names(tags) });
}

function waterKind(tags: Tags): string | undefined {
  if (tags.natural === 'glacier') return 'glacier';
  if (tags.waterway === 'riverbank' || tags.water === 'river') return 'river';
  if (tags.waterway === 'dock' || tags.waterway === 'canal') return tags.waterway;
  if (tags.landuse === 'reservoir' || tags.landuse === 'basin') return tags.landuse;
  return tags.natural === 'water' ? 'water' : undefined;
}

function addStreet(layers: Layers, { tags, geometry }: Element): void {
  const isLink = tags.highway?.endsWith('_link') ?? false;
  const highway = tags.highway?.replace(/_link$/, '');
  const levels = { tunnel: isYes(tags.tunnel), bridge: isYes(tags.bridge) };
  if (isPolygon(geometry)) {
    if (
      !['pedestrian', 'service', 'footway'].includes(highway ?? '') &&
      !['runway', 'taxiway'].includes(tags.aeroway ?? '')
    )
      return;
    const kind = tags.aeroway ?? highway!;
    layers.add('street_polygons', 14, geometry, { kind, rail: false, ...levels });
    if (tags.name) layers.add('streets_polygons_labels', 14, pointOf(geometry), { kind, ...names(tags) });
    return;
  }
  if (tags.highway === 'motorway_junction')
    layers.add('street_labels_points', 12, geometry, { kind: tags.highway, ref: tags.ref, ...names(tags) });
  if (!isLine(geometry)) return;
  if (highway && highway in streets) {
    const minZoom = streets[highway]!;
    const properties = { kind: highway, link: isLink, rail: false, ...levels };
    const service = highway === 'service' ? tags.service : undefined;
    layers.add('streets', service ? 14 : minZoom, geometry, { ...properties, ...more(tags), service });
    if (tags.name || tags.ref) {
      const ref = tags.ref && { ref: tags.ref.replaceAll(';', '\n'), ref_cols: tags.ref.length, ref_rows: 1 };
      layers.add('street_labels', Math.max(10, minZoom), geometry, { ...properties, ...names(tags), ...(ref || {}) });
    }
  } else if (tags.railway && tags.railway in rails) {
    const { service } = tags;
    const minZoom = service ? 13 : rails[tags.railway]!;
    layers.add('streets', minZoom, geometry, { kind: tags.railway, link: false, rail: true, ...levels, service });
  } else if (tags.aeroway === 'runway' || tags.aeroway === 'taxiway') {
    layers.add('streets', 11, geometry, { kind: tags.aeroway, rail: false, link: false, ...levels });
  }
  if (tags.route === 'ferry') layers.add('ferries', 10, geometry, { kind: 'ferry', ...names(tags) });
  if (tags.aerialway) layers.add('aerialways', 12, geometry, { kind: tags.aerialway });
}

const more = (tags: Tags): Properties => ({
  oneway: flag(tags.oneway === 'yes' || tags.oneway === '1' || tags.junction === 'roundabout'),
  oneway_reverse: flag(tags.oneway === '-1'),
  surface: tags.surface,
  tracktype: tags.tracktype,
  bicycle: tags.bicycle,
  horse: tags.horse,
});

function addBuilding(layers: Layers, { tags, geometry }: Element): void {
  if (isPolygon(geometry) && isYes(tags.building)) layers.add('buildings', 14, geometry, { dummy: 1 });
  const { 'addr:housenumber': housenumber, 'addr:housename': housename } = tags;
  if (housenumber || housename) layers.add('addresses', 14, pointOf(geometry), { housenumber, housename });
}

function addBoundary(layers: Layers, { tags, geometry }: Element): void {
  if (tags.boundary !== 'administrative' || (tags.admin_level !== '2' && tags.admin_level !== '4')) return;
  const level = Number(tags.admin_level);
  const properties = { admin_level: level, maritime: isYes(tags.maritime), disputed: isYes(tags.disputed) };
  if (geometry.type !== 'MultiPolygon') return;
  const lines: Geometry = { type: 'MultiLineString', coordinates: geometry.coordinates.flat() };
  layers.add('boundaries', level === 2 ? 0 : 7, lines, properties);
  const area = Math.round(areaM2(geometry) / 1e4);
  layers.add('boundary_labels', 2, pointOf(geometry), { admin_level: level, way_area: area, ...names(tags) });
}

function addLabels(layers: Layers, { tags, geometry }: Element): void {
  const { place } = tags;
  if (place && tags.name && place in places && !isLine(geometry)) {
    const kind = tags.capital === 'yes' ? 'capital' : place;
    const population = Number.parseInt(tags.population ?? '', 10) || populations[place] || 0;
    layers.add('place_labels', places[kind]!, pointOf(geometry), { kind, population, ...names(tags) });
  }
  if (isLine(geometry)) return;
  const stop = [tags.railway, tags.aeroway, tags.amenity, tags.highway].find(
    (value) => (value ?? '') in publicTransport,
  );
  if (stop) {
    const properties = { kind: stop, iata: tags.iata, station: tags.station, ...names(tags) };
    layers.add('public_transport', publicTransport[stop]!, pointOf(geometry), properties);
  } else {
    addPoi(layers, tags, geometry);
  }
}

function addPoi(layers: Layers, tags: Tags, geometry: Geometry): void {
  const found = firstTag(tags, poiKeys);
  if (!found || ['parking', 'pitch', 'garden', 'surveillance', 'street_lamp'].includes(found[1])) return;
  if (!tags.name && isPolygon(geometry)) return;
  const [key, value] = found;
  const { cuisine, religion, denomination, sport, information } = tags;
  const more = { cuisine, religion, denomination, sport, information };
  layers.add('pois', 14, pointOf(geometry), { [key]: value, ...names(tags), ...more });
}
