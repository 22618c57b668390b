/**
 * The peer MapLibre GL JS in headless Chromium, without a graphics card as servers are: the same style, tiles and
 * views.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openArchive } from '../renderer/sources/open.js';
import { detectSchema } from '../renderer/sources/schema.js';
import { builtInStyle } from '../renderer/styles/built-in.js';
import { localizeStyle } from '../renderer/styles/language.js';
import type { TileSource } from '../renderer/types.js';
import { coverTiles, tileZoom } from '../renderer/view/projection.js';
import { percentile, type Row } from './case.js';
import { height, type Scene, type View, views, width } from './map-scenes.js';
import { type ServedFile, serveFromMemory } from './memory-server.js';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const software = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];
const flags = [
  '--no-sandbox',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  ...software,
];

export function hasBrowser(): boolean {
  if (existsSync(executablePath)) return true;
  console.warn(`MapLibre GL JS is not measured: no browser at ${executablePath}; CHROMIUM_PATH names another`);
  return false;
}

const page = `<!doctype html><title>Maps</title><link rel="stylesheet" href="/maplibre-gl.css">
<div id="map" style="width: ${width}px; height: ${height}px"></div>
<script type="module">
import * as maplibre from '/maplibre-gl.mjs';
let map;
const idle = () => new Promise((resolve, reject) => {
  map.once('idle', resolve);
  map.once('error', ({ error }) => reject(error));
});
const image = () => new Promise((resolve) => map.getCanvas().toBlob(resolve));
globalThis.fresh = async (style, view, pixelRatio) => {
  map?.remove();
  const startedAt = performance.now();
  const canvas = { canvasContextAttributes: { preserveDrawingBuffer: true } };
  map = new maplibre.Map({ container: 'map', style: JSON.parse(style), ...view, pixelRatio, fadeDuration: 0, interactive: false, ...canvas });
  await idle();
  const { size } = await image();
  return { ms: performance.now() - startedAt, size };
};
globalThis.jump = async (view) => {
  const startedAt = performance.now();
  map.jumpTo(view);
  await idle();
  const { size } = await image();
  return { ms: performance.now() - startedAt, size };
};
</script>`;

interface Drawn {
  readonly ms: number;
  /** Of the PNG, in bytes. */
  readonly size: number;
}
/** What the page has. */
interface Peer {
  /** `style` is JSON. */
  fresh(style: string, view: View, scale: number): Promise<Drawn>;
  jump(view: View): Promise<Drawn>;
}

/**
 * Milliseconds from the order to a PNG: a map that is there and moves on, and a new one. The browser's own start isn't
 * counted.
 */
export async function mapLibreRows(
  scene: Scene & { readonly archive: string },
  scale: number,
  count: number,
): Promise<Row[]> {
  const { chromium } = await import('playwright-core');
  const source = await openArchive(scene.archive);
  const all = Array.from({ length: 3 }, (_, round) => views(scene, count, 1 + round));
  const files = new Map([...libraryFiles(), ...(await tilesOf(source, all.flat()))]);
  files.set('/', { type: 'text/html', bytes: Buffer.from(page) });
  const server = await serveFromMemory(files);
  const browser = await chromium.launch({ executablePath, headless: true, args: flags });
  try {
    const tab = await browser.newPage({ viewport: { width, height } });
    await tab.goto(server.url);
    await tab.waitForFunction('globalThis.jump');
    const style = JSON.stringify(styleOf(source, server.url));
    const fresh = (view: View) =>
      tab.evaluate((order) => (globalThis as unknown as Peer).fresh(order.style, order.view, order.scale), {
        style,
        view,
        scale,
      });
    const jump = (view: View) => tab.evaluate((view) => (globalThis as unknown as Peer).jump(view), view);
    const [first] = all[0] as [View];
    const freshMs: number[] = [];
    for (let i = 0; i < 4; i++) freshMs.push((await fresh(first)).ms);
    for (const view of all[0] as View[]) await jump(view);
    const medians: number[] = [];
    for (const round of all) {
      const times: number[] = [];
      for (const view of round) times.push((await jump(view)).ms);
      medians.push(percentile(times, 0.5));
    }
    return [
      { what: `${scene.what} @${scale}x: MapLibre GL JS in Chromium, median`, unit: 'ms', rounds: medians },
      { what: `${scene.what} @${scale}x: the same, a new map each`, unit: 'ms', rounds: freshMs.slice(1) },
    ];
  } finally {
    await browser.close();
    await server.close();
    await source.close();
  }
}

function libraryFiles(): Map<string, ServedFile> {
  const folder = dirname(createRequire(import.meta.url).resolve('maplibre-gl/dist/maplibre-gl.css'));
  const names = readdirSync(folder).filter((name) => /\.(mjs|css)$/.test(name) && !name.includes('-dev'));
  const typeOf = (name: string) => (name.endsWith('.css') ? 'text/css' : 'text/javascript');
  return new Map(names.map((name) => [`/${name}`, { type: typeOf(name), bytes: readFileSync(join(folder, name)) }]));
}

const tilePath = (zoom: number, x: number, y: number): string => `/tiles/${zoom}/${x}/${y}`;

async function tilesOf(source: TileSource, all: readonly View[]): Promise<Map<string, ServedFile>> {
  const tiles = new Map<string, ServedFile>();
  for (const view of all) {
    const places = coverTiles({ ...view, width, height, scale: 1 }, tileZoom(view.zoom, source) ?? 0);
    for (const { zoom, x, y } of places) {
      const bytes = await source.tile(zoom, x, y);
      if (bytes) tiles.set(tilePath(zoom, x, y), { type: 'application/x-protobuf', bytes });
    }
  }
  return tiles;
}

function styleOf(source: TileSource, url: string) {
  const style = localizeStyle(builtInStyle('svc-default-v1', detectSchema(source) ?? 'openmaptiles'), 'en');
  const tiles = [`${url}${tilePath(0, 0, 0).replace('/0/0/0', '/{z}/{x}/{y}')}`];
  return { ...style, sources: { map: { type: 'vector', tiles, minzoom: source.minZoom, maxzoom: source.maxZoom } } };
}
