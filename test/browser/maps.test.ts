/**
 * Interactive maps in a browser: MapLibre GL JS with the address of a style, and the published maps plugin of the web
 * SDK with only its `host` changed. The page has another origin than the API.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type MemoryServer, type ServedFile, serveFromMemory } from '../../testing/memory-server.js';
import { until } from '../../testing/until.js';
import type { Json } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';
import { closePages, hasBrowser, openPage, sharedBrowser } from './browser.js';

const isRunnable = hasBrowser();
const inBrowser = describe.runIf(isRunnable);

let server: SharedServer;
let browser: Browser;
let web: MemoryServer;

beforeAll(async () => {
  if (!isRunnable) return;
  [browser, web, server] = await Promise.all([
    sharedBrowser(),
    serveFromMemory(pageFiles()),
    SharedServer.newProject(),
  ]);
});

afterAll(async () => {
  await closePages();
  await web?.close();
});

function pageFiles(): Map<string, ServedFile> {
  const installed = (path: string): string => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
  const fileOf = (path: string): ServedFile => ({
    type: path.endsWith('.css') ? 'text/css' : 'text/javascript',
    bytes: readFileSync(path),
  });
  const library = installed('maplibre-gl/dist');
  const plugin = installed('@radarlabs/plugin-maps/cdn');
  const page = (head: string): ServedFile => ({
    type: 'text/html',
    bytes: Buffer.from(`<!doctype html><title>A shop</title>${head}
<div id="map" style="width: 600px; height: 400px"></div>`),
  });
  return new Map([
    ...readdirSync(library)
      .filter((name) => /\.(mjs|css)$/.test(name) && !name.includes('-dev'))
      .map((name): [string, ServedFile] => [`/${name}`, fileOf(join(library, name))]),
    ['/radar.js', fileOf(installed('radar-sdk-js/dist/radar.js'))],
    ['/radar-maps.js', fileOf(join(plugin, 'radar-maps.min.js'))],
    ['/radar-maps.css', fileOf(join(plugin, 'radar-maps.css'))],
    [
      '/maplibre',
      page(`<link rel="stylesheet" href="/maplibre-gl.css">
<script type="module">import * as maplibre from '/maplibre-gl.mjs'; globalThis.maplibre = maplibre;</script>`),
    ],
    [
      '/radar',
      page(`<link rel="stylesheet" href="/radar-maps.css">
<script type="module">
import Radar from '/radar.js';
globalThis.Radar = Radar;
const script = document.createElement('script');
script.src = '/radar-maps.js';
document.head.append(script);
</script>`),
    ],
  ]);
}

interface Opened {
  readonly page: Page;
  /** What the browser reports as wrong. */
  readonly problems: readonly string[];
  /** Paths of the API with their statuses. */
  readonly answers: ReadonlyMap<string, number>;
}

/** The plugin shows its maker's logo, which is not here. */
const isElsewhere = ({ protocol, hostname }: URL): boolean =>
  protocol.startsWith('http') && hostname !== new URL(server.address).hostname;

async function open(path: string, global: string, site = web.url): Promise<Opened> {
  const page = await openPage(browser, { viewport: { width: 640, height: 440 } });
  const problems: string[] = [];
  const answers = new Map<string, number>();
  await page.route(isElsewhere, (route) => route.fulfill({ contentType: 'image/svg+xml', body: '<svg/>' }));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text()))
      problems.push(message.text());
  });
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('response', (response) => {
    if (response.url().startsWith(server.address) && response.request().method() === 'GET')
      answers.set(new URL(response.url()).pathname, response.status());
  });
  await page.goto(`${site}${path}`);
  await page.waitForFunction(global);
  return { page, problems, answers };
}

/** Waits until the map of the page has loaded everything, and returns the number of different colours it shows. */
async function coloursOf(page: Page): Promise<number> {
  await page.waitForFunction('globalThis.map.loaded() && globalThis.map.areTilesLoaded()');
  const { data } = await sharp(await page.locator('canvas').screenshot())
    .resize(120, 80, { fit: 'fill' })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return new Set(Array.from({ length: data.length / 3 }, (_, i) => data.subarray(3 * i, 3 * i + 3).toString('hex')))
    .size;
}

const kindsOf = (answers: ReadonlyMap<string, number>): string[] =>
  [...new Set([...answers.keys()].map((path) => path.split('/').slice(1, 3).join('/')))].toSorted();

inBrowser('interactive maps', () => {
  it('MapLibre GL JS draws a style by its address, which has the key', async () => {
    const { page, problems, answers } = await open('/maplibre', 'globalThis.maplibre');
    await page.evaluate((style) => {
      const { maplibre } = globalThis as Json;
      (globalThis as Json).map = new maplibre.Map({ container: 'map', style, center: [11, 45], zoom: 4 });
    }, `${server.address}/maps/styles/svc-default-v1?publishableKey=${server.keys.test_publishable}`);
    expect(await coloursOf(page)).toBeGreaterThan(50);
    expect(problems).toEqual([]);
    expect(kindsOf(answers)).toEqual(['maps/glyphs', 'maps/sprites', 'maps/styles', 'maps/tiles']);
    expect(new Set(answers.values())).toEqual(new Set([200]));
    const labels = await page.evaluate('globalThis.map.queryRenderedFeatures().map(({ layer }) => layer.type)');
    expect(labels).toContain('symbol');
    await page.context().close();
  });

  it('Radar.ui.map of the web SDK draws the styles of its own names', async () => {
    const { page, problems, answers } = await open('/radar', 'globalThis.Radar?.ui?.map');
    await page.evaluate(
      ([key, host]) => {
        const { Radar } = globalThis as Json;
        Radar.initialize(key, { host });
        const map = Radar.ui.map({ container: 'map', style: 'radar-dark-v1', center: [11, 45], zoom: 4 });
        Radar.ui
          .marker({ popup: { text: 'Here' } })
          .setLngLat([11.25, 43.77])
          .addTo(map);
        (globalThis as Json).map = map;
      },
      [server.keys.test_publishable, server.address],
    );
    expect(await coloursOf(page)).toBeGreaterThan(50);
    expect(problems).toEqual([]);
    expect(answers.get('/maps/styles/radar-dark-v1')).toBe(200);
    expect(kindsOf(answers)).toEqual(expect.arrayContaining(['maps/glyphs', 'maps/styles', 'maps/tiles']));
    for (const style of ['radar-default-v1', 'radar-light-v1']) {
      await page.evaluate((style) => {
        const { Radar } = globalThis as Json;
        (globalThis as Json).map.remove();
        (globalThis as Json).map = Radar.ui.map({ container: 'map', style, center: [11, 45], zoom: 4 });
      }, style);
      expect([style, (await coloursOf(page)) > 20]).toEqual([style, true]);
      expect(answers.get(`/maps/styles/${style}`)).toBe(200);
    }
    expect(problems).toEqual([]);
    expect(new Set(answers.values())).toEqual(new Set([200]));
    await page.context().close();
  });

  it('the example of a store locator lists and marks the stores near a town', async () => {
    const child = spawn(process.execPath, ['examples/store-locator.mjs'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        ...process.env,
        FENCELINE: server.address,
        SK: server.keys.test_secret,
        PK: server.keys.test_publishable,
        PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes;
    });
    const site = await until(() => /http:\/\/\S+/.exec(output)?.[0]);
    const { page, problems, answers } = await open('/', 'document.querySelector("li")', site);
    expect(await page.locator('li').allTextContents()).toEqual([
      'Santa Maria Novella',
      'Piazza del Duomo',
      'Porta Romana',
      'Campo di Marte',
    ]);
    expect(await page.getByRole('status').textContent()).toMatch(/^4 stores within 10 km of Florence/);
    expect(await coloursOf(page)).toBeGreaterThan(20);
    await page.getByLabel('Near').fill('Pisa, Italy');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForFunction('document.querySelectorAll("li").length === 1');
    expect(await page.locator('.maplibregl-marker').count()).toBe(1);
    expect(problems).toEqual([]);
    expect(new Set(answers.values())).toEqual(new Set([200]));
    await page.context().close();
  });
});
