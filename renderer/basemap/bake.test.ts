import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import { feature, merge } from 'topojson-client';
import type { MultiPolygon as MultiPolygonObject } from 'topojson-specification';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPmtiles } from '../sources/pmtiles.js';
import { detectSchema } from '../sources/schema.js';
import { cachedBasemap } from '../testing/basemap-cache.js';
import { decodeVectorTile, type TileFeature, type VectorTile } from '../tiles/vector-tile.js';
import type { TileSource } from '../types.js';
import { tileSizePx, worldPixel } from '../view/projection.js';
import { bakeBasemap, basemapAttribution, openDefaultBasemap, prepareDefaultBasemap } from './bake.js';
import { countryLabels } from './countries.js';
import { southernIce } from './layers.js';
import { regionOf } from './names.js';
import { readWorld, type World, type WorldResolution } from './packages.js';
import { defaultBasemapName, findDefaultBasemap } from './recipe.js';
import { degreesToEdge, isInside, isInsideOnGlobe } from './testing/inside.js';

/** The basemap of the shared cache: the tests compare it with one that they bake. */
let baked: string;
let source: TileSource;

beforeAll(async () => {
  baked = await cachedBasemap();
  source = await openPmtiles(baked);
});

afterAll(() => source.close());

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-basemap-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const tiles = new Map<string, VectorTile | undefined>();

async function layerAt(name: string, zoom: number, x: number, y: number): Promise<readonly TileFeature[]> {
  const key = `${zoom}/${x}/${y}`;
  if (!tiles.has(key)) {
    const bytes = await source.tile(zoom, x, y);
    tiles.set(key, bytes ? decodeVectorTile(bytes) : undefined);
  }
  return tiles.get(key)?.layers.get(name)?.features ?? [];
}

/** Returns closed rings in tile units. */
function ringsOf(each: TileFeature): Position[][] {
  const { xy, ends } = each.coordinates();
  return ends.map((end, i) => {
    const start = ends[i - 1] ?? 0;
    const ring = Array.from({ length: (end - start) / 2 }, (_, k) => [xy[start + 2 * k]!, xy[start + 2 * k + 1]!]);
    return [...ring, ring[0]!];
  });
}

/** Returns positions evenly spread over the globe, always the same. */
function positions(count: number): Position[] {
  const golden = (Math.sqrt(5) - 1) / 2;
  return Array.from({ length: count }, (_, i) => {
    const latitude = (Math.asin((2 * (i + 0.5)) / count - 1) * 180) / Math.PI;
    return [360 * ((i * golden) % 1) - 180, latitude];
  }).filter(([, latitude]) => Math.abs(latitude!) < 85);
}

function landRings(resolution: WorldResolution): Position[][] {
  const world = readWorld(resolution);
  return merge(world, world.objects.countries.geometries as MultiPolygonObject[]).coordinates.flat();
}

/**
 * Distance from coasts within which tiles of a zoom may be wrong. Coasts are simplified by less than half a pixel, and
 * small islands are left out.
 */
const cases: readonly (readonly [
  WorldResolution,
  zooms: readonly (readonly [zoom: number, toleranceDegrees: number])[],
])[] = [
  [
    '110m',
    [
      [0, 1.5],
      [1, 0.1],
    ],
  ],
  [
    '50m',
    [
      [2, 0.5],
      [3, 0.05],
    ],
  ],
  [
    '10m',
    [
      [4, 0.15],
      [5, 0.08],
      [6, 0.01],
    ],
  ],
];

test.each(cases)('land matches the data at %s', async (resolution, zooms) => {
  const rings = landRings(resolution);
  const maxTolerance = Math.max(...zooms.map(([, tolerance]) => tolerance));
  const samples = positions(300).map((position) => ({
    position,
    distance: degreesToEdge(position, [...rings, ...southernIce], maxTolerance),
    isLand: isInside(position, southernIce) || isInsideOnGlobe(position, rings),
  }));
  for (const [zoom, tolerance] of zooms) {
    const certain = samples.filter(({ distance }) => distance > tolerance);
    expect(certain.length).toBeGreaterThan(200);
    for (const { position, isLand } of certain) {
      expect([zoom, position, await isLandAt(position, zoom)]).toEqual([zoom, position, isLand]);
    }
  }
});

async function isLandAt([longitude, latitude]: Position, zoom: number): Promise<boolean> {
  const [px, py] = worldPixel([longitude!, latitude!], zoom);
  const [x, y] = [Math.floor(px / tileSizePx), Math.floor(py / tileSizePx)];
  const inTile = [(px / tileSizePx - x) * 4096, (py / tileSizePx - y) * 4096];
  return (await layerAt('land', zoom, x, y)).some((each) => isInside(inTile, ringsOf(each)));
}

test('shapes that cross the antimeridian do not run across the whole map', async () => {
  for (const name of ['land', 'lakes', 'rivers', 'states', 'borders']) {
    const features = await layerAt(name, 0, 0, 0);
    expect(features, name).not.toEqual([]);
    for (const each of features) {
      for (const ring of ringsOf(each).filter((part) => each.type === 3 || part.length > 2)) {
        const line = each.type === 3 ? ring : ring.slice(0, -1);
        for (let i = 1; i < line.length; i++) {
          const isAlongPole = line[i]![1]! >= 4096 && line[i - 1]![1]! >= 4096;
          if (!isAlongPole) expect(Math.abs(line[i]![0]! - line[i - 1]![0]!)).toBeLessThan(2048);
        }
      }
    }
  }
});

test('Fiji, Chukotka and Antarctica lie on both sides of the antimeridian', async () => {
  const places: readonly [number, number][] = [
    ...([
      [179.3, -16.6],
      [-179.98, -16.78],
      [178, -17.8],
    ] as [number, number][]),
    ...([
      [179.5, 68],
      [-179.5, 68],
      [-175, 67],
    ] as [number, number][]),
    ...([
      [179.9, -84.9],
      [-179.9, -84.9],
      [0, -84.9],
      [90, -80],
    ] as [number, number][]),
  ];
  for (const place of places) expect([place, await isLandAt(place, 6)]).toEqual([place, true]);
  expect(await isLandAt([-170, -10], 6)).toBe(false);
});

/** Returns the rings of each shape of each country. */
function shapesByRegion(worlds: readonly World[]): Map<string, Position[][][]> {
  const shapes = new Map<string, Position[][][]>();
  for (const { id, properties, geometry } of worlds.flatMap(
    (world) => feature(world, world.objects.countries).features,
  )) {
    const region = properties.name === 'Kosovo' ? 'XK' : id === undefined ? '' : regionOf(String(id));
    const parts =
      geometry.type === 'Polygon' ? [(geometry as Polygon).coordinates] : (geometry as MultiPolygon).coordinates;
    shapes.set(region, [...(shapes.get(region) ?? []), parts.flat()]);
  }
  return shapes;
}

test("every country's label lies in that country", () => {
  const worlds = [readWorld('50m'), readWorld('10m')];
  const shapes = shapesByRegion(worlds);
  const labels = countryLabels(worlds);
  expect(labels.length).toBeGreaterThan(230);
  for (const { properties, geometry } of labels) {
    const { iso_a2: region } = properties!;
    const inside = shapes.get(region)!.some((rings) => isInsideOnGlobe(geometry.coordinates, rings));
    expect([region, inside]).toEqual([region, true]);
  }
});

test('countries are named in many languages and in their own', async () => {
  const labels = await Promise.all(
    [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ].map(([x, y]) => layerAt('country_labels', 1, x!, y!)),
  );
  const byRegion = new Map(labels.flat().map(({ properties }) => [properties.iso_a2, properties]));
  expect(byRegion.get('DE')).toMatchObject({
    name: 'Deutschland',
    'name:en': 'Germany',
    'name:fr': 'Allemagne',
    'name:ja': 'ドイツ',
  });
  expect(byRegion.get('JP')).toMatchObject({
    name: '日本',
    'name:en': 'Japan',
    'name:de': 'Japan',
    'name:ru': 'Япония',
  });
  expect(byRegion.get('US')).toMatchObject({ name: 'United States', 'name:es': 'Estados Unidos', rank: 1 });
});

test('cities are named in many languages and in their own', async () => {
  const named = async (zoom: number, x: number, y: number, english: string) =>
    (await layerAt('places', zoom, x, y)).find(
      ({ properties }) => (properties['name:en'] ?? properties.name) === english,
    )?.properties;
  expect(await named(4, 14, 6, 'Tokyo')).toMatchObject({ name: '東京', 'name:en': 'Tokyo', 'name:de': 'Tokio' });
  expect(await named(4, 8, 5, 'Munich')).toMatchObject({ name: 'München', 'name:it': 'Monaco di Baviera' });
});

test('no place is one of the known wrong entries of the data', async () => {
  const near = await layerAt('places', 6, 41, 26);
  expect(near.map(({ properties }) => properties['name:en'] ?? properties.name)).not.toContain('Pasragad Branch');
});

test('each zoom has the places that it shows, and the last zoom has all of them', async () => {
  const far = await layerAt('places', 0, 0, 0);
  expect(far.length).toBeLessThan(64);
  for (const { properties } of far) expect(properties.min_zoom).toBe(0);
  const near = await layerAt('places', 6, 34, 23);
  expect(near.map(({ properties }) => properties.name)).toContain('Firenze');
  expect(near.some(({ properties }) => Number(properties.min_zoom) > 6)).toBe(true);
});

test('the archive has its schema and attribution', () => {
  expect(source).toMatchObject({ kind: 'vector', minZoom: 0, maxZoom: 6, attribution: basemapAttribution });
  expect(basemapAttribution).not.toMatch(/OpenStreetMap/);
  expect(detectSchema(source)).toBe('fenceline');
});

test('the basemap is baked once, and replaces earlier versions', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'basemap-0123456789abcdef.pmtiles'), 'an earlier version');
  await writeFile(join(folder, 'other.pmtiles'), 'another file');
  let bakes = 0;
  const bake = async (path: string): Promise<void> => {
    bakes++;
    await copyFile(baked, path);
  };
  const path = await prepareDefaultBasemap(folder, bake);
  expect(path).toBe(join(folder, await defaultBasemapName()));
  expect((await readdir(folder)).sort()).toEqual([basename(path), 'other.pmtiles'].sort());
  expect(await prepareDefaultBasemap(folder, bake)).toBe(path);
  await (await openDefaultBasemap(folder)).close();
  expect(bakes).toBe(1);
});

test('processes that bake at the same time, after a crash, leave one whole file', async () => {
  const folder = await newFolder();
  const name = await defaultBasemapName();
  const abandoned = join(folder, `${name}.00000000-0000-4000-8000-000000000000`);
  await writeFile(abandoned, 'half of it');
  await utimes(abandoned, 0, 0);
  /** Writes and renames like `bakeBasemap`, but copies the bytes. */
  const copy = async (path: string): Promise<void> => {
    const unfinished = `${path}.${randomUUID()}`;
    await copyFile(baked, unfinished);
    await rename(unfinished, path);
  };
  const paths = await Promise.all([prepareDefaultBasemap(folder, copy), prepareDefaultBasemap(folder, copy)]);
  expect(new Set(paths)).toEqual(new Set([join(folder, name)]));
  expect(await readdir(folder)).toEqual([name]);
  expect(await findDefaultBasemap(folder)).toBe(join(folder, name));
});

// Reference images are drawn from a basemap of another run, and differ if this one does.
test.runIf(process.env.TEST_LONG)('baking is deterministic', { timeout: 120_000 }, async () => {
  const path = join(await newFolder(), 'again.pmtiles');
  await bakeBasemap(path);
  expect((await readFile(path)).equals(await readFile(baked))).toBe(true);
});
