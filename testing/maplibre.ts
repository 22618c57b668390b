/**
 * MapLibre GL JS in headless Chromium, with software rendering as on servers: the peer of the renderer. The bench
 * measures it, and tests compare geometry with it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumPath, softwareGraphics } from './chromium.js';
import { type ServedFile, serveFromMemory } from './memory-server.js';

const flags = [
  '--no-sandbox',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  ...softwareGraphics,
];

interface MapLibreOptions {
  /** Size of the page in CSS pixels, and of maps without a size of their own. */
  readonly width: number;
  readonly height: number;
  /** Multisampling, which the library leaves off by default. */
  readonly antialias?: boolean;
  /**
   * Minimum time between frames. A map draws a frame for each tile and glyph range that arrives, and only the last one
   * counts, so fewer frames take less processor time. Default: as often as the browser draws.
   */
  readonly frameEveryMs?: number;
}

/** The camera of a map. */
export interface PeerView {
  readonly center: readonly [longitude: number, latitude: number];
  readonly zoom: number;
}

interface PeerSize {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

interface PeerImage {
  /** Time from the call to the PNG. */
  readonly ms: number;
  readonly png: Uint8Array;
}

/** A text that the current map shows. Lengths are CSS pixels of the map. */
export interface PeerLabel {
  /** Id of the style's layer. */
  readonly layer: string;
  readonly text: string;
  /** Whether it lies along a line. */
  readonly isAlongLine: boolean;
  /** The collision box, without padding around a text along a line. */
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A page with MapLibre GL JS. */
export interface MapLibre {
  /** The origin that serves the given files. */
  readonly url: string;
  /** Draws a new map of the style, which is JSON. */
  fresh(style: string, view: PeerView, scale: number, size?: PeerSize): Promise<PeerImage>;
  /** Draws another style on the current map, or a new one. Shaders stay compiled, which takes a third of the time. */
  restyle(style: string, view: PeerView, scale: number, size?: PeerSize): Promise<PeerImage>;
  /** Moves the current map. */
  jump(view: PeerView): Promise<PeerImage>;
  /**
   * Returns the texts of the current map, as its collision index has them, and makes the map forget them. Otherwise
   * they would keep their anchors in the next view.
   */
  labels(): Promise<PeerLabel[]>;
  close(): Promise<void>;
}

const pageOf = ({ width, height, antialias = false, frameEveryMs }: MapLibreOptions): string => `<!doctype html>
<title>Maps</title>
<link rel="stylesheet" href="/maplibre-gl.css">
<div id="map" style="width: ${width}px; height: ${height}px"></div>
<script>${frameEveryMs === undefined ? '' : slowFrames(frameEveryMs)}</script>
<script type="module">
import * as maplibre from '/maplibre-gl.mjs';
let map;
let blob;
const idle = () => new Promise((resolve, reject) => {
  map.once('idle', resolve);
  map.once('error', ({ error }) => reject(error));
});
const draw = async (startedAt) => {
  await idle();
  blob = await new Promise((resolve) => map.getCanvas().toBlob(resolve));
  return performance.now() - startedAt;
};
globalThis.fresh = (style, view, pixelRatio, { width, height }) => {
  map?.remove();
  document.getElementById('map').style = \`width: \${width}px; height: \${height}px\`;
  const startedAt = performance.now();
  map = new maplibre.Map({
    container: 'map', style: JSON.parse(style), ...view, pixelRatio, fadeDuration: 0, interactive: false,
    canvasContextAttributes: { preserveDrawingBuffer: true, antialias: ${antialias} },
  });
  return draw(startedAt);
};
globalThis.restyle = (style, view, pixelRatio, size) => {
  if (!map) return fresh(style, view, pixelRatio, size);
  const startedAt = performance.now();
  document.getElementById('map').style = \`width: \${size.width}px; height: \${size.height}px\`;
  map.setPixelRatio(pixelRatio);
  map.resize();
  map.jumpTo(view);
  map.setStyle(JSON.parse(style), { diff: false });
  return draw(startedAt);
};
globalThis.jump = (view) => {
  const startedAt = performance.now();
  map.jumpTo(view);
  return draw(startedAt);
};
globalThis.png = async () => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
};
globalThis.labels = () => {
  const { placement } = map.style;
  const index = placement.collisionIndex;
  const layers = map.getStyle().layers.filter(({ type }) => type === 'symbol').map(({ id }) => id);
  const labels = new Map();
  const add = (key, left, top, right, bottom, isAlongLine) => {
    const name = [key.bucketInstanceId, key.featureIndex, isAlongLine ? 'line' : labels.size].join();
    const known = labels.get(name) ?? { key, left, top, right, bottom, isAlongLine };
    known.left = Math.min(known.left, left);
    known.top = Math.min(known.top, top);
    known.right = Math.max(known.right, right);
    known.bottom = Math.max(known.bottom, bottom);
    labels.set(name, known);
  };
  const edge = (index.gridRightBoundary - map.getContainer().clientWidth) / 2;
  for (const { boxKeys, bboxes, circleKeys, circles } of [index.grid, index.ignoredGrid]) {
    boxKeys.forEach((key, i) => add(key, ...bboxes.slice(4 * i, 4 * i + 4).map((side) => side - edge), false));
    circleKeys.forEach((key, i) => {
      const [x, y, radius] = circles.slice(3 * i, 3 * i + 3);
      add(key, x - radius - edge, y - radius - edge, x + radius - edge, y + radius - edge, true);
    });
  }
  const query = index.queryRenderedSymbols;
  const featuresOf = ({ bucketInstanceId, featureIndex }) => {
    index.queryRenderedSymbols = () => ({ [bucketInstanceId]: [featureIndex] });
    return map.queryRenderedFeatures([0, 0], { layers });
  };
  const all = [...labels.values()].flatMap(({ key, ...box }) =>
    featuresOf(key)
      .filter(({ layer }) => layer.paint['text-opacity'] !== 0)
      .map(({ layer, properties }) => {
        const text = String(layer.layout['text-field'] ?? '');
        return { layer: layer.id, text: text.replace(/{([^{}]+)}/g, (_, name) => properties[name] ?? ''), ...box };
      })
      .filter(({ text }) => text !== ''),
  );
  index.queryRenderedSymbols = query;
  Object.assign(placement, { placements: {}, opacities: {}, variableOffsets: {} });
  return all;
};
</script>`;

/** Replaces the browser's frames by a timer, before the library reads the function. */
const slowFrames = (everyMs: number): string => `
globalThis.requestAnimationFrame = (callback) => setTimeout(() => callback(performance.now()), ${everyMs});
globalThis.cancelAnimationFrame = clearTimeout;
`;

/** The functions of the page. Both draw and return milliseconds. */
interface Page {
  fresh(style: string, view: PeerView, scale: number, size: PeerSize): Promise<number>;
  restyle(style: string, view: PeerView, scale: number, size: PeerSize): Promise<number>;
  jump(view: PeerView): Promise<number>;
  /** Returns the last image in Base64. */
  png(): Promise<string>;
  labels(): PeerLabel[];
}

/** Opens a page with a map. It serves the library and the files, by path. */
export async function openMapLibre(
  files: ReadonlyMap<string, ServedFile>,
  options: MapLibreOptions,
): Promise<MapLibre> {
  const { width, height } = options;
  const page = { type: 'text/html', bytes: Buffer.from(pageOf(options)) };
  const server = await serveFromMemory(new Map([...libraryFiles(), ...files, ['/', page]]));
  const browser = await chromium
    .launch({ executablePath: chromiumPath, headless: true, args: flags })
    .catch(async (error) => {
      await server.close();
      throw error;
    });
  const tab = await browser.newPage({ viewport: { width, height } });
  await tab.goto(server.url);
  await tab.waitForFunction('globalThis.png');
  const imageAfter = async (ms: number): Promise<PeerImage> => {
    const png = await tab.evaluate(() => (globalThis as unknown as Page).png());
    return { ms, png: Buffer.from(png, 'base64') };
  };
  const drawBy =
    (name: 'fresh' | 'restyle'): MapLibre['fresh'] =>
    async (style, view, scale, size = { width, height }) =>
      imageAfter(
        await tab.evaluate(
          (each) => (globalThis as unknown as Page)[each.name](each.style, each.view, each.scale, each.size),
          { name, style, view, scale, size },
        ),
      );
  return {
    url: server.url,
    fresh: drawBy('fresh'),
    restyle: drawBy('restyle'),
    async jump(view) {
      return imageAfter(await tab.evaluate((each) => (globalThis as unknown as Page).jump(each), view));
    },
    labels() {
      return tab.evaluate(() => (globalThis as unknown as Page).labels());
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

function libraryFiles(): Map<string, ServedFile> {
  const folder = dirname(createRequire(import.meta.url).resolve('maplibre-gl/dist/maplibre-gl.css'));
  const names = readdirSync(folder).filter((name) => /\.(mjs|css)$/.test(name) && !name.includes('-dev'));
  const typeOf = (name: string) => (name.endsWith('.css') ? 'text/css' : 'text/javascript');
  return new Map(names.map((name) => [`/${name}`, { type: typeOf(name), bytes: readFileSync(join(folder, name)) }]));
}
