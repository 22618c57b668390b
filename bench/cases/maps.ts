/**
 * Static maps of 600 by 400: one at a time in one thread, and many at once through the pool of drawing processes.
 *
 * The basemap is the one that comes with Fenceline; streets are the reference views' extract of Florence, one dense tile of zoom 14, which the
 * views show parts of at zoom 15 to 16. Each view is another one, tiles are warm.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createMapRenderer } from '../../renderer/map.js';
import { createPool, type Pool } from '../../renderer/pool/pool.js';
import { readMapQuery } from '../../renderer/request/request.js';
import type { MapRequest } from '../../renderer/types.js';
import { type BenchCase, percentile, type Row, seeded } from '../case.js';

const processes = 2;
const inFlight = 4;

interface Scene {
  readonly what: string;
  readonly archive: string | null;
  /** `center` and `zoom` of a random view. */
  readonly camera: (random: () => number) => { readonly center: string; readonly zoom: string };
  /** Milliseconds at scale 1 and 2: median, and at scale 1 the 95th percentile. */
  readonly targets: {
    readonly median: readonly [string, string];
    readonly p95: string | undefined;
    readonly rate: readonly [string, string];
  };
}

const between = (random: () => number, low: number, high: number): number => low + (high - low) * random();

const scenes: readonly Scene[] = [
  {
    what: 'basemap',
    archive: null,
    camera: (random) => ({
      center: `${between(random, -50, 65)},${between(random, -170, 170)}`,
      zoom: `${between(random, 2, 6)}`,
    }),
    targets: { median: ['<= 12', ''], p95: '<= 25', rate: ['>= 170', '>= 80'] },
  },
  {
    what: 'streets',
    archive: resolve('renderer/reference/archives/florence.pmtiles'),
    camera: (random) => ({
      center: `${between(random, 43.776, 43.782)},${between(random, 11.257, 11.265)}`,
      zoom: `${between(random, 15, 16)}`,
    }),
    targets: { median: ['<= 40', '<= 70'], p95: undefined, rate: ['>= 45', '>= 30'] },
  },
];

function requests({ camera }: Scene, scale: number, count: number, seed: number): MapRequest[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => {
    const read = readMapQuery({ width: '600', height: '400', scale: `${scale}`, ...camera(random) });
    if (!read.ok) throw new TypeError(`${read.problem.param} ${read.problem.rule}`);
    return { ...read.value.request, fences: [] };
  });
}

/** Milliseconds of each map, drawn one after the other on this thread. */
async function oneByOne(scene: Scene, scale: number, count: number, cacheFolder: string): Promise<Row[]> {
  const renderer = await createMapRenderer({ archive: scene.archive, cacheFolder });
  try {
    const rounds: number[][] = [];
    for (let round = 0; round < 4; round++) {
      const times: number[] = [];
      for (const request of requests(scene, scale, count, 1 + round)) {
        const startedAt = performance.now();
        await renderer.render(request);
        times.push(performance.now() - startedAt);
      }
      // The first round warms up.
      if (round > 0) rounds.push(times);
    }
    const row = (name: string, share: number, target: string | undefined): Row => ({
      what: `${scene.what} @${scale}x: ${name}`,
      unit: 'ms',
      rounds: rounds.map((times) => percentile(times, share)),
      ...(target && { target }),
    });
    const median = scene.targets.median[scale - 1];
    return [row('median', 0.5, median), row('p95', 0.95, scale === 1 ? scene.targets.p95 : undefined)];
  } finally {
    await renderer.close();
  }
}

async function drawAll(pool: Pool, maps: readonly MapRequest[]): Promise<void> {
  const remaining = maps[Symbol.iterator]();
  const drawer = async (): Promise<void> => {
    for (const map of remaining) await pool.draw(map, new Map());
  };
  await Promise.all(Array.from({ length: inFlight }, drawer));
}

/** Maps a second of two processes with four maps in flight, and the memory of a process. */
async function manyAtOnce(scene: Scene, scale: number, count: number, cacheFolder: string): Promise<Row> {
  const pool = createPool({
    module: new URL('../../renderer/pool/drawing-process.js', import.meta.url),
    start: { archive: scene.archive, cacheFolder, userAgent: 'bench' },
    maxProcesses: processes,
    maxPixelsInFlight: 100_000_000,
    timeoutMs: 60_000,
    startTimeoutMs: 120_000,
    onProblem: (reason) => console.error(reason),
  });
  try {
    const rounds: number[] = [];
    for (let round = 0; round < 4; round++) {
      const maps = requests(scene, scale, count, 10 + round);
      const startedAt = performance.now();
      await drawAll(pool, maps);
      if (round > 0) rounds.push((count / (performance.now() - startedAt)) * 1_000);
    }
    const target = scene.targets.rate[scale - 1];
    return { what: `${scene.what} @${scale}x: two processes`, unit: 'maps/s', rounds, ...(target && { target }) };
  } finally {
    await pool.close();
  }
}

/** Bytes of a PNG of streets at scale 2. */
async function pngBytes(cacheFolder: string): Promise<Row> {
  const streets = scenes[1] as Scene;
  const renderer = await createMapRenderer({ archive: streets.archive, cacheFolder });
  const sizes: number[] = [];
  for (const request of requests(streets, 2, 9, 3)) sizes.push((await renderer.render(request)).bytes.length / 1_024);
  await renderer.close();
  return { what: 'streets @2x: PNG', unit: 'KiB', rounds: sizes, target: '<= 280' };
}

export const mapsCase: BenchCase = {
  name: 'maps',
  about: '600 by 400, a random view each',
  async run({ smoke }) {
    const cacheFolder = mkdtempSync(join(tmpdir(), 'fenceline-bench-maps-'));
    try {
      const rows: Row[] = [];
      for (const scene of scenes) {
        for (const scale of [1, 2]) {
          const count = smoke ? 3 : 60;
          rows.push(...(await oneByOne(scene, scale, count, cacheFolder)));
          rows.push(await manyAtOnce(scene, scale, smoke ? 4 : 120, cacheFolder));
        }
      }
      rows.push(await pngBytes(cacheFolder));
      return rows;
    } finally {
      rmSync(cacheFolder, { recursive: true, force: true });
    }
  },
};
