/**
 * Measures static maps of 600 by 400 from the pool of drawing processes: one at a time, and concurrently.
 *
 * The basemap is the default one; streets are a dense tile of Florence. All views differ, but those of areas that are
 * drawn again with other markers. Tiles are warm: every map is drawn once before the measurement. Peers draw the same
 * views of streets.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pmtilesArchive } from '../../renderer/basemap/pmtiles-archive.js';
import { createMapRenderer } from '../../renderer/map.js';
import { createDrawingPool, type DrawingPool } from '../../renderer/pool/drawing-pool.js';
import { openArchive } from '../../renderer/sources/open.js';
import type { MapRequest, MarkerGroup } from '../../renderer/types.js';
import { worldPixel, worldPosition } from '../../renderer/view/projection.js';
import { createRandom } from '../../schemas/random.js';
import { placeBasemap } from '../basemap.js';
import { type BenchCase, type BenchOptions, percentile, type Row, timesRow } from '../case.js';
import { finishedMapRows } from '../finished-maps.js';
import { basemap, height, requestOf, type Scene, streets, type View, views, width } from '../map-scenes.js';
import { hasBrowser, mapLibreRows } from '../maplibre.js';
import { staticmapsRow } from '../staticmaps.js';

const processes = 2;
const inFlight = 4;

interface Targets {
  /** Target in milliseconds at scale 1 and 2. */
  readonly median: readonly [string, string];
  /** Target in milliseconds at scale 1. */
  readonly p95: string | undefined;
  /** Target in maps per second at scale 1 and 2. */
  readonly rate: readonly [string, string];
  /** Target in milliseconds at scale 1 and 2, of an area that was drawn before. */
  readonly drawnBefore: readonly [string, string];
}

type Aimed = Scene & { readonly targets: Targets };
const scenes: readonly Aimed[] = [
  { ...basemap, targets: { median: ['<= 12', ''], p95: '<= 25', rate: ['>= 350', '>= 80'], drawnBefore: ['', ''] } },
  {
    ...streets,
    targets: { median: ['<= 18', '<= 30'], p95: undefined, rate: ['>= 120', '>= 70'], drawnBefore: ['<= 8', '<= 16'] },
  },
];

const requests = (scene: Scene, scale: number, count: number, seed: number): MapRequest[] =>
  views(scene, count, seed).map((view) => requestOf(view, scale));

/** How many maps are drawn. */
interface Extent {
  readonly rounds: number;
  readonly oneByOne: number;
  readonly manyAtOnce: number;
  readonly scales: readonly number[];
  /** Number of areas in a round that are drawn again, and how often each is. */
  readonly sites: number;
  readonly perSite: number;
  /** Areas that were not seen before, and those among them that warm up. */
  readonly coldAreas: number;
  readonly warmUps: number;
  readonly images: number;
  readonly ofPeers: number;
}

const full: Extent = {
  rounds: 3,
  oneByOne: 60,
  manyAtOnce: 120,
  scales: [1, 2],
  sites: 4,
  perSite: 15,
  coldAreas: 12,
  warmUps: 3,
  images: 9,
  ofPeers: 10,
};
const small: Extent = {
  rounds: 1,
  oneByOne: 2,
  manyAtOnce: 4,
  scales: [1],
  sites: 1,
  perSite: 1,
  coldAreas: 1,
  warmUps: 0,
  images: 1,
  ofPeers: 1,
};

/** What is measured in a pool. */
interface Setting {
  readonly scene: Aimed;
  readonly scale: number;
  readonly extent: Extent;
}

const medianName = ({ what }: Scene, scale: number): string => `${what} @${scale}x: median`;

const roundsOf = (scene: Scene, scale: number, rounds: number, count: number, seed: number): MapRequest[][] =>
  Array.from({ length: rounds }, (_, round) => requests(scene, scale, count, seed + round));

/** Measures each map, one after the other, from the pool. */
async function oneByOne(pool: DrawingPool, { scene, scale, extent }: Setting): Promise<Row[]> {
  const maps = roundsOf(scene, scale, extent.rounds, extent.oneByOne, 1);
  await drawAll(pool, maps.flat());
  const rounds: number[][] = [];
  for (const round of maps) {
    const times: number[] = [];
    for (const request of round) {
      const startedAt = performance.now();
      await pool.draw('bench', request, new Map());
      times.push(performance.now() - startedAt);
    }
    rounds.push(times);
  }
  const row = (name: string, share: number, target: string | undefined): Row => ({
    what: name,
    unit: 'ms',
    rounds: rounds.map((times) => percentile(times, share)),
    ...(target && { target }),
  });
  const median = scene.targets.median[scale - 1];
  return [
    row(medianName(scene, scale), 0.5, median),
    row(`${scene.what} @${scale}x: p95`, 0.95, scale === 1 ? scene.targets.p95 : undefined),
  ];
}

/** Maps of a site before its maps are measured: a drawing process keeps the pixels of a view with its second map. */
const mapsBefore = 3;

/** Measures maps of the same areas at whole zooms, each with two markers at other places. */
async function drawnBefore(pool: DrawingPool, { scene, scale, extent }: Setting): Promise<Row[]> {
  const random = createRandom(20).next;
  const rounds: number[] = [];
  for (let round = 0; round < extent.rounds; round++) {
    const sites = views(scene, extent.sites, 20 + round).map((view) => ({ ...view, zoom: Math.round(view.zoom) }));
    const times: number[] = [];
    for (let i = 0; i < mapsBefore + extent.perSite; i++) {
      for (const site of sites) {
        const request = { ...requestOf(site, scale), markers: [markersNear(site, random)] };
        const startedAt = performance.now();
        await pool.draw('bench', request, new Map());
        if (i >= mapsBefore) times.push(performance.now() - startedAt);
      }
    }
    rounds.push(percentile(times, 0.5));
  }
  const target = scene.targets.drawnBefore[scale - 1];
  const name = `${scene.what} @${scale}x, whole zoom, area drawn before, other markers: median`;
  return [{ what: name, unit: 'ms', rounds, ...(target && { target }) }];
}

function markersNear({ center, zoom }: View, random: () => number): MarkerGroup {
  const [x, y] = worldPixel(center, zoom);
  const place = () => worldPosition([x + width * (random() - 0.5), y + height * (random() - 0.5)], zoom);
  return { color: [228, 0, 43, 1], size: 'normal', icon: null, locations: [place(), place()] };
}

const openPool = (scene: Scene, maxProcesses: number, cacheFolder: string): DrawingPool =>
  createDrawingPool({
    module: new URL('../../renderer/pool/drawing-process.js', import.meta.url),
    start: { archive: scene.archive, cacheFolder, userAgent: 'bench' },
    maxProcesses,
    maxPixelsInFlight: 100_000_000,
    timeoutMs: 60_000,
    answerTimeoutMs: 60_000,
    startTimeoutMs: 120_000,
    onProblem: (reason) => console.error(reason),
  });

async function drawAll(pool: DrawingPool, maps: readonly MapRequest[]): Promise<void> {
  const remaining = maps[Symbol.iterator]();
  const drawer = async (): Promise<void> => {
    for (const map of remaining) await pool.draw('bench', map, new Map());
  };
  await Promise.all(Array.from({ length: inFlight }, drawer));
}

/** Measures maps per second of two processes with four concurrent maps. */
async function manyAtOnce(pool: DrawingPool, { scene, scale, extent }: Setting): Promise<Row[]> {
  const maps = roundsOf(scene, scale, extent.rounds, extent.manyAtOnce, 10);
  // Twice, so that both processes have drawn most of them.
  for (const warmUp of [maps, maps]) await drawAll(pool, warmUp.flat());
  const rounds: number[] = [];
  for (const round of maps) {
    const startedAt = performance.now();
    await drawAll(pool, round);
    rounds.push((round.length / (performance.now() - startedAt)) * 1_000);
  }
  const target = scene.targets.rate[scale - 1];
  return [{ what: `${scene.what} @${scale}x: two processes`, unit: 'maps/s', rounds, ...(target && { target }) }];
}

const inPoolsOfTheirOwn = [
  { maxProcesses: 1, measurements: [oneByOne] },
  { maxProcesses: 1, measurements: [drawnBefore] },
  { maxProcesses: processes, measurements: [manyAtOnce] },
];
/** Of a smoke run: each process that starts takes half a second. */
const inOnePool = [{ maxProcesses: processes, measurements: [oneByOne, drawnBefore, manyAtOnce] }];

async function pooled(setting: Setting, { smoke }: BenchOptions, cacheFolder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { maxProcesses, measurements } of smoke ? inOnePool : inPoolsOfTheirOwn) {
    const pool = openPool(setting.scene, maxProcesses, cacheFolder);
    try {
      for (const measure of measurements) rows.push(...(await measure(pool, setting)));
    } finally {
      await pool.close();
    }
  }
  return rows;
}

/** Bytes of a PNG of streets at scale 2. */
async function pngBytes(cacheFolder: string, count: number): Promise<Row> {
  const renderer = await createMapRenderer({ archive: streets.archive, cacheFolder });
  const sizes: number[] = [];
  for (const request of requests(streets, 2, count, 3))
    sizes.push((await renderer.render(request)).bytes.length / 1_024);
  await renderer.close();
  return { what: 'streets @2x: PNG', unit: 'KiB', rounds: sizes, target: '<= 280' };
}

/** The dense tile, and where its copies lie. */
const dense = { zoom: 14, x: 8_704, y: 5_971 };

/** An archive of four tiles around a corner, each the dense one. */
async function fourDenseTiles(folder: string): Promise<string> {
  const source = await openArchive(streets.archive as string);
  const bytes = (await source.tile(dense.zoom, dense.x, dense.y)) as Uint8Array;
  await source.close();
  const tiles = [0, 1, 2, 3].map((i) => ({ zoom: dense.zoom, x: dense.x + (i & 1), y: dense.y + (i >> 1), bytes }));
  const path = join(folder, 'dense.pmtiles');
  const metadata = { vector_layers: source.layers?.map((id) => ({ id })) };
  writeFileSync(path, pmtilesArchive(tiles, { metadata, bounds: [11, 43, 12, 44] }));
  return path;
}

/** An area that nobody has looked at before: four dense tiles to read, decode and lay out. Code and styles are warm. */
async function coldArea(cacheFolder: string, { coldAreas, warmUps }: Extent): Promise<Row> {
  const archive = await fourDenseTiles(cacheFolder);
  const corner = worldPosition([512 * (dense.x + 1), 512 * (dense.y + 1)], dense.zoom);
  const times: number[] = [];
  for (let i = 0; i < coldAreas; i++) {
    const renderer = await createMapRenderer({ archive, cacheFolder });
    await renderer.render(requestOf({ center: [0, 0], zoom: 14.3 }, 2));
    const startedAt = performance.now();
    await renderer.render(requestOf({ center: corner, zoom: 14.3 }, 2));
    times.push(performance.now() - startedAt);
    await renderer.close();
  }
  return {
    what: 'streets @2x: four dense tiles, not seen before',
    unit: 'ms',
    rounds: times.slice(warmUps),
    target: '<= 100',
  };
}

/** `own` has the medians of the same views. */
async function peers(
  own: readonly Row[],
  staticmaps: string | undefined,
  extent: Extent,
  cacheFolder: string,
): Promise<Row[]> {
  const rows: Row[] = [];
  const { rounds, ofPeers } = extent;
  const withBrowser = hasBrowser();
  for (const scale of extent.scales) {
    if (staticmaps !== undefined) rows.push(await staticmapsRow(staticmaps, streets, scale, ofPeers, cacheFolder));
    if (!withBrowser) continue;
    const [warm, fresh] = await mapLibreRows(streets, scale, rounds, ofPeers);
    const median = own.find(({ what }) => what === medianName(streets, scale))!;
    rows.push(warm, timesRow(`streets @${scale}x: MapLibre GL JS divided by ours`, warm, median, '>= 4'), fresh);
  }
  return rows;
}

/** Times of static maps. */
export const mapsCase: BenchCase = {
  name: 'maps',
  about: '600 by 400, a random view each; --staticmaps NODE_MODULES measures that peer too',
  async run(options: BenchOptions) {
    const { smoke, staticmaps } = options;
    const extent = smoke ? small : full;
    const cacheFolder = mkdtempSync(join(tmpdir(), 'fenceline-bench-maps-'));
    try {
      await placeBasemap(cacheFolder);
      const rows: Row[] = [];
      for (const scene of scenes) {
        for (const scale of extent.scales) {
          rows.push(...(await pooled({ scene, scale, extent }, options, cacheFolder)));
        }
      }
      rows.push(
        await coldArea(cacheFolder, extent),
        await pngBytes(cacheFolder, extent.images),
        ...(await finishedMapRows(options)),
      );
      return [...rows, ...(await peers(rows, staticmaps, extent, cacheFolder))];
    } finally {
      rmSync(cacheFolder, { recursive: true, force: true });
    }
  },
};
