/**
 * Draws random maps for a given time, to detect growing memory of drawing processes.
 *
 * One process draws the basemap, and one each archive of the reference views, concurrently. Views, sizes, scales,
 * styles (more uploaded ones than are cached), languages, formats and overlays are random, so that every cache is
 * filled and evicted. Small maps come first, because they fill the caches fastest. Each reading is printed at once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { prepareDefaultBasemap } from '../../renderer/basemap/bake.js';
import { createDrawingPool, type DrawingPool } from '../../renderer/pool/drawing-pool.js';
import { type Query, readMapQuery } from '../../renderer/request/request.js';
import { builtInStyle } from '../../renderer/styles/built-in.js';
import type { TileSchema } from '../../renderer/types.js';
import { createRandom } from '../../schemas/random.js';
import type { BenchCase, Row } from '../case.js';
import { childProcesses, ownMemoryMib, slope } from '../memory.js';

interface Place {
  readonly name: string;
  readonly archive: string | null;
  readonly schema: TileSchema;
  /** West, south, east, north of the views' centres, and their zooms. */
  readonly box: readonly [number, number, number, number];
  readonly zooms: readonly [number, number];
}

const archives = 'renderer/reference/archives';
const places: readonly Place[] = [
  { name: 'basemap', archive: null, schema: 'fenceline', box: [-180, -60, 180, 75], zooms: [1, 9] },
  {
    name: 'Florence',
    archive: resolve(archives, 'florence.pmtiles'),
    schema: 'protomaps-v3',
    box: [11.25, 43.76, 11.27, 43.785],
    zooms: [11, 20],
  },
  {
    name: 'San Francisco',
    archive: resolve(archives, 'san-francisco.pmtiles'),
    schema: 'openmaptiles',
    box: [-122.41, 37.78, -122.39, 37.8],
    zooms: [12, 20],
  },
];

const defaultMinutes = 2;
const smokeMinutes = 0.1;
const minIntervalMs = 500;
const inFlightEach = 2;
const readings = 120;
/**
 * Number of small maps before the first reading. Caches of a process were full after 12,000, so an hour of soak starts
 * with more.
 */
const warmUpMapsPerMinute = 250;
/** Share of readings at the start that are ignored, because the largest maps come only then. */
const warmUpShare = 1 / 12;
const styles = ['svc-default-v1', 'svc-light-v1', 'svc-dark-v1'] as const;
/** Number of styles: more than a process caches. */
const uploadedStyles = 100;

type Random = () => number;
const between = (random: Random, low: number, high: number): number => low + (high - low) * random();
const oneOf = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

interface Size {
  readonly width: number;
  readonly height: number;
  readonly scales: readonly string[];
}
const minPx = 100;
const small: Size = { width: 300, height: 200, scales: ['1'] };
const anySize: Size = { width: 900, height: 700, scales: ['1', '2', '1.5', '3'] };

function randomQuery(
  { box: [west, south, east, north], zooms }: Place,
  random: Random,
  { width, height, scales }: Size,
): Query {
  const position = () => `${between(random, south, north)},${between(random, west, east)}`;
  return {
    width: `${Math.floor(between(random, minPx, width))}`,
    height: `${Math.floor(between(random, minPx, height))}`,
    scale: oneOf(random, scales),
    center: position(),
    zoom: `${between(random, ...zooms)}`,
    style: oneOf(random, styles),
    language: oneOf(random, ['en', 'de', 'ja', 'ar', 'ru', 'zh', 'native']),
    format: oneOf(random, ['png', 'png', 'webp', 'jpg']),
    ...(random() < 0.3 && { markers: [`color:red|${position()}|${position()}`] }),
    ...(random() < 0.3 && { path: [`width:5|${position()}|${position()}|${position()}`] }),
  };
}

async function drawOne(pool: DrawingPool, place: Place, random: Random, size = anySize): Promise<void> {
  const read = readMapQuery(randomQuery(place, random, size));
  if (!read.ok) throw new TypeError(`${read.problem.param} ${read.problem.rule}`);
  const request = { ...read.value.request, fences: [] };
  const uploaded = random() < 0.2 ? Math.floor(random() * uploadedStyles) : undefined;
  if (uploaded === undefined) {
    await pool.draw('bench', request, new Map());
    return;
  }
  const style = styles[uploaded % styles.length] as (typeof styles)[number];
  const json = JSON.stringify({ ...builtInStyle(style, place.schema), name: `soak ${uploaded}` });
  await pool.draw('bench', { ...request, style: `soak-${uploaded}` }, new Map(), { style: Buffer.from(json) });
}

/** Opens a pool of one process. Returns it with the process id. */
async function open(place: Place, cacheFolder: string): Promise<{ readonly pool: DrawingPool; readonly pid: number }> {
  const before = childProcesses();
  const pool = createDrawingPool({
    module: new URL('../../renderer/pool/drawing-process.js', import.meta.url),
    start: { archive: place.archive, cacheFolder, userAgent: 'bench' },
    maxProcesses: 1,
    maxPixelsInFlight: 100_000_000,
    timeoutMs: 600_000,
    answerTimeoutMs: 600_000,
    startTimeoutMs: 600_000,
    onProblem: (reason) => console.error(reason),
  });
  await drawOne(pool, place, createRandom(1).next);
  return { pool, pid: childProcesses().find((pid) => !before.includes(pid)) as number };
}

async function warmUp(pool: DrawingPool, place: Place, maps: number): Promise<void> {
  const random = createRandom(2).next;
  for (let drawn = 0; drawn < maps; drawn++) await drawOne(pool, place, random, small);
}

/** Readings of one place. */
interface Soaked {
  readonly name: string;
  readonly mib: number[];
  maps: number;
}

/** Measures the memory. Throws when a process was replaced, because its memory cannot be compared. */
async function soak(
  minutes: number,
  cacheFolder: string,
): Promise<{ readonly hours: number[]; readonly soaked: Soaked[] }> {
  const hours: number[] = [];
  const soaked: Soaked[] = places.map(({ name }) => ({ name, mib: [], maps: 0 }));
  const opened: { readonly pool: DrawingPool; readonly pid: number }[] = [];
  for (const place of places) opened.push(await open(place, cacheFolder));
  await Promise.all(opened.map(({ pool }, i) => warmUp(pool, places[i] as Place, minutes * warmUpMapsPerMinute)));
  const startedAt = performance.now();
  const endAt = startedAt + minutes * 60_000;

  const drawers = opened.flatMap(({ pool }, i) =>
    Array.from({ length: inFlightEach }, async (_, drawer) => {
      const random = createRandom(100 * i + drawer).next;
      for (; performance.now() < endAt; (soaked[i] as Soaked).maps++) await drawOne(pool, places[i] as Place, random);
    }),
  );
  const timer = setInterval(read, Math.max(minIntervalMs, (minutes * 60_000) / readings));
  try {
    await Promise.all(drawers);
  } finally {
    clearInterval(timer);
    await Promise.all(opened.map(({ pool }) => pool.close()));
  }
  return { hours, soaked };

  function read(): void {
    hours.push((performance.now() - startedAt) / 3_600_000);
    for (const [i, { mib }] of soaked.entries()) mib.push(ownMemoryMib((opened[i] as { pid: number }).pid));
    const each = soaked.map(({ name, mib, maps }) => `${name} ${mib.at(-1)?.toFixed(0)} MiB after ${maps} maps`);
    console.log(`${(60 * (hours.at(-1) as number)).toFixed(1)} min: ${each.join(', ')}`);
  }
}

function rowsOf(hours: readonly number[], { name, mib, maps }: Soaked): Row[] {
  const from = Math.floor(warmUpShare * mib.length);
  const warm = mib.slice(from);
  const growth = slope(hours.slice(from), warm);
  return [
    { what: `${name}: memory after ${maps} maps`, unit: 'MiB', rounds: warm, target: '<= 300' },
    {
      what: `${name}: growth, with two standard errors less and more`,
      unit: 'MiB/h',
      rounds: [-2, 0, 2].map((errors) => growth.slope + errors * growth.error),
    },
  ];
}

/** Random maps for as long as `--minutes` says. */
export const mapsSoakCase: BenchCase = {
  name: 'maps-soak',
  about: 'random maps, and the memory of the processes that draw them; --minutes N',
  isLong: true,
  async run({ smoke, minutes }) {
    const cacheFolder = mkdtempSync(join(tmpdir(), 'fenceline-bench-maps-'));
    try {
      // Drawing processes of a node never bake: it takes 500 MB.
      await prepareDefaultBasemap(join(cacheFolder, 'basemap'));
      const { hours, soaked } = await soak(minutes ?? (smoke ? smokeMinutes : defaultMinutes), cacheFolder);
      return soaked.flatMap((each) => rowsOf(hours, each));
    } finally {
      rmSync(cacheFolder, { recursive: true, force: true });
    }
  },
};
