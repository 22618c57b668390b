/**
 * The dashboard's map with 100,000 geofences and 20,000 beacons in Chromium without a graphics card: how long it loads,
 * and how long frames of the page and of the map take while the map is pulled and zoomed. The map leaves out frames
 * while its last one is drawn, so it has fewer than the page. The processor draws here, the map beneath the places
 * included, so an empty project is measured beside it.
 */
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { grouped } from '../../schemas/wording.js';
import { chromiumPath, softwareGraphics } from '../../testing/chromium.js';
import { type BenchCase, percentile, type Row } from '../case.js';
import { hasBrowser } from '../maplibre.js';
import { BenchServer } from '../server.js';
import { type FenceMix, realisticVertices } from '../workload.js';

const viewport = { width: 1280, height: 800 };
const rounds = 2;
const moves = 60;

const mixOf = (count: number): FenceMix => ({
  count,
  radiusM: 120,
  polygons: 0.4,
  seed: 5,
  vertices: (random) => Math.min(60, realisticVertices(random)),
});

/** Centres of the workload's box, at which many places and single shapes are seen. */
const scenes = [
  { what: 'all places', at: '37.55,-122.2,9' },
  { what: 'a city', at: '37.55,-122.2,11.5' },
  { what: 'streets', at: '37.55,-122.2,14' },
] as const;

async function signIn(server: BenchServer): Promise<BrowserContext> {
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    args: ['--no-sandbox', ...softwareGraphics, '--enable-precise-memory-info'],
  });
  const context = await browser.newContext({ viewport });
  // A browser on a busy machine takes long.
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  await page.goto(`${server.address}/account${new URL(await server.signInLink()).hash}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.close();
  return context;
}

/** Resolves to the milliseconds until the map shows all places. */
async function loadMap(page: Page, url: string, count: number): Promise<number> {
  const startedAt = performance.now();
  await page.goto(url);
  await page.locator('.map-canvas[aria-busy=false]').waitFor();
  await page.getByText(new RegExp(`^${grouped(count)} geofences`)).waitFor();
  await page.locator('.map-count:not(:has(.spinner))').waitFor();
  return performance.now() - startedAt;
}

/** Milliseconds between two frames. */
interface FrameTimes {
  readonly page: readonly number[];
  /** While the view moves. */
  readonly map: readonly number[];
}

/** Begins to note the times between frames. The dashboard keeps its map at the element that shows it. */
async function watchFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    interface WatchedMap {
      on(type: 'movestart' | 'render', listener: () => void): void;
      isMoving(): boolean;
    }
    const { requestAnimationFrame, document } = globalThis as unknown as {
      requestAnimationFrame(frame: () => void): void;
      document: { querySelector(selectors: string): { readonly map: WatchedMap } };
    };
    const frames = { page: [] as number[], map: [] as number[] };
    Object.assign(globalThis, { frames });
    const { map } = document.querySelector('.map-canvas');
    let drawnMs: number | undefined;
    map.on('movestart', () => {
      drawnMs = undefined;
    });
    map.on('render', () => {
      const now = performance.now();
      if (map.isMoving() && drawnMs !== undefined) frames.map.push(now - drawnMs);
      drawnMs = map.isMoving() ? now : undefined;
    });
    let before = performance.now();
    const frame = (): void => {
      const now = performance.now();
      frames.page.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

/** Pulls the map to and fro and zooms it. */
async function framesOf(page: Page): Promise<FrameTimes> {
  await page.evaluate(() => {
    const { frames } = globalThis as unknown as { frames: Record<string, number[]> };
    for (const times of Object.values(frames)) times.length = 0;
  });
  const [x, y] = [viewport.width / 2 + 100, viewport.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let move = 1; move <= moves; move++) {
    const angle = (2 * Math.PI * move) / moves;
    await page.mouse.move(x + 250 * Math.sin(angle), y + 150 * Math.sin(2 * angle));
  }
  await page.mouse.up();
  for (const step of [-240, -240, 240, 240]) {
    await page.mouse.wheel(0, step);
    await page.waitForTimeout(400);
  }
  return page.evaluate(() => (globalThis as unknown as { frames: FrameTimes }).frames);
}

async function rowsOf(context: BrowserContext, server: BenchServer, count: number, beacons: number): Promise<Row[]> {
  const what = count === 0 ? 'no places' : `${grouped(count)} geofences`;
  const rows: Row[] = [];
  for (const scene of scenes) {
    const page = await context.newPage();
    const loadMs = await loadMap(page, `${server.address}/map?at=${scene.at}`, count);
    const frames: FrameTimes[] = [];
    await watchFrames(page);
    for (let round = 0; round < rounds; round++) {
      frames.push(await framesOf(page));
    }
    const row = (name: string, unit: string, measure: (times: FrameTimes) => number): Row => ({
      what: `${what}, ${scene.what}: ${name}`,
      unit,
      rounds: frames.map(measure),
    });
    const timeRow = (of: keyof FrameTimes, name: string, share: number): Row =>
      row(`frame time of the ${of}, ${name}`, 'ms', (times) => percentile(times[of], share));
    if (scene === scenes[0]) {
      rows.push({ what: `${what} and ${grouped(beacons)} beacons: loaded`, unit: 'ms', rounds: [loadMs] });
      const heap = await page.evaluate(
        () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1_048_576,
      );
      rows.push({ what: `${what}: memory of the page's scripts, without workers`, unit: 'MiB', rounds: [heap] });
    }
    rows.push(
      row('frames of the map', 'frames/s', ({ map }) => (1_000 * map.length) / map.reduce((sum, ms) => sum + ms, 0)),
      timeRow('map', 'p95', 0.95),
      timeRow('page', 'median', 0.5),
      timeRow('page', 'p95', 0.95),
      timeRow('page', 'max', 1),
    );
    await page.close();
  }
  return rows;
}

/** The map of the dashboard. It has no rows where Chromium is missing. */
export const dashboardMapCase: BenchCase = {
  name: 'dashboard-map',
  about: "the dashboard's map with many places, drawn by the processor",
  isLong: true,
  async run({ smoke }) {
    if (!hasBrowser()) return [];
    const [count, beacons] = smoke ? [200, 20] : [100_000, 20_000];
    const rows: Row[] = [];
    for (const [geofenceCount, beaconCount] of [
      [0, 0],
      [count, beacons],
    ] as const) {
      const server = await BenchServer.withPlaces(mixOf(geofenceCount), beaconCount);
      const context = await signIn(server);
      try {
        rows.push(...(await rowsOf(context, server, geofenceCount, beaconCount)));
      } finally {
        await context.browser()?.close();
        await server.dispose();
      }
    }
    return rows;
  },
};
