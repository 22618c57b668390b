/** Compares shapes of reference views with MapLibre GL JS in headless Chromium. Labels are turned off. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MapLibre, missingBrowser, openMapLibre } from '../../testing/maplibre.js';
import type { ServedFile } from '../../testing/memory-server.js';
import { createRenderer } from '../render.js';
import { readMapQuery } from '../request/request.js';
import { openArchive } from '../sources/open.js';
import { detectSchema } from '../sources/schema.js';
import { compileStyle } from '../style/compile.js';
import { builtInStyle } from '../styles/built-in.js';
import { isBuiltInStyle } from '../styles/names.js';
import { cachedBasemap } from '../testing/basemap-cache.js';
import { Picture, pictureOf } from '../testing/pictures.js';
import type { TileSource, Viewport } from '../types.js';
import { coverTiles, tileZoom } from '../view/projection.js';
import { parsed, referenceFolder } from './draw.js';
import type { ReferenceArchive } from './view.js';
import { referenceViews } from './views.js';

/**
 * Views, with the maximum share of wrong pixels: about twice what was measured. Coasts at small zooms and the phase of
 * dashes differ most.
 */
const views: readonly (readonly [name: string, maxWrongShare: number])[] = [
  ['world-light', 0.002],
  ['europe-4', 0.008],
  ['florence-12', 0.006],
  ['florence-14', 0.001],
  ['florence-15-dark', 0.001],
  ['florence-17-scale-2', 0.005],
  ['san-francisco-14', 0.001],
  ['san-francisco-16-light', 0.001],
];
/** Larger than every view. */
const pageSize = { width: 600, height: 600 };

/** Difference of a channel, of 255, beyond which a pixel counts as wrong. Antialiasing rarely reaches it. */
const channelTolerance = 32;

/** Without a browser the comparison is skipped with its reason; in CI it runs and fails. */
const isSkipped = missingBrowser !== undefined && !process.env.CI;
if (isSkipped) process.stderr.write(`SKIPPED: comparison with MapLibre GL JS: ${missingBrowser}\n`);

interface Compared {
  readonly archive: ReferenceArchive;
  readonly view: Viewport & { readonly style: string };
}

function viewOf(name: string): Compared {
  const view = referenceViews.find((each) => each.name === name);
  const read = view && readMapQuery(parsed(view.query));
  if (!read?.ok) throw new TypeError(`no reference view ${name}`);
  const { camera, width, height, scale, style } = read.value.request;
  return { archive: view!.archive, view: { center: camera.center!, zoom: camera.zoom!, width, height, scale, style } };
}

/** Returns a built-in style without labels. */
function styleOf(name: string, source: TileSource) {
  if (!isBuiltInStyle(name)) throw new TypeError(`${name} is not built in`);
  const style = builtInStyle(name, detectSchema(source)!);
  return { ...style, layers: style.layers.filter(({ type }) => type !== 'symbol') };
}

describe.skipIf(isSkipped)('shapes are drawn like MapLibre GL JS draws them', () => {
  const sources = new Map<ReferenceArchive, TileSource>();
  const renderer = createRenderer();
  let peer: MapLibre;

  beforeAll(async () => {
    const files = new Map<string, ServedFile>();
    for (const { archive, view } of views.map(([name]) => viewOf(name))) {
      const source = sources.get(archive) ?? (await openArchive(await pathOf(archive)));
      sources.set(archive, source);
      for (const { zoom, x, y } of coverTiles(view, tileZoom(view.zoom, source) ?? 0)) {
        const bytes = await source.tile(zoom, x, y);
        if (bytes) files.set(`/${archive}/${zoom}/${x}/${y}`, { type: 'application/x-protobuf', bytes });
      }
    }
    peer = await openMapLibre(files, { ...pageSize, antialias: true });
  });
  afterAll(async () => {
    await peer?.close();
    await Promise.all([...sources.values()].map((source) => source.close()));
  });

  test.each(views)('%s', async (name, maxWrongShare) => {
    const { archive, view } = viewOf(name);
    const source = sources.get(archive)!;
    const style = styleOf(view.style, source);
    const scene = { view, labels: null, overlays: null, format: 'png' as const };
    const ours = await pictureOf(
      (await renderer.render({ ...scene, style: compileStyle(style), sources: new Map([['map', source]]) })).bytes,
    );
    const { minZoom: minzoom, maxZoom: maxzoom } = source;
    const tiles = [`${peer.url}/${archive}/{z}/{x}/{y}`];
    const peerStyle = { ...style, sources: { map: { type: 'vector', tiles, minzoom, maxzoom } } };
    const { center, zoom, scale, ...size } = view;
    const theirs = await pictureOf((await peer.fresh(JSON.stringify(peerStyle), { center, zoom }, scale, size)).png);
    expect([ours.width, ours.height]).toEqual([theirs.width, theirs.height]);
    expect(wrongShare(ours, theirs)).toBeLessThan(maxWrongShare);
    // The bound is tight enough to notice a shift by one CSS pixel.
    expect(wrongShare(shifted(ours, Math.ceil(scale)), theirs)).toBeGreaterThan(maxWrongShare);
  });
});

const pathOf = async (archive: ReferenceArchive): Promise<string> =>
  archive === 'basemap' ? cachedBasemap() : join(referenceFolder, 'archives', `${archive}.pmtiles`);

/** Returns the picture moved right by so many pixels. */
function shifted({ pixels, width, height }: Picture, shift: number): Picture {
  const moved = new Uint8Array(pixels.length);
  for (let i = 0; i < pixels.length; i++) moved[i] = pixels[Math.max(0, i - 3 * shift)]!;
  return new Picture(moved, width, height);
}

const wrongShare = (a: Picture, b: Picture): number => a.differences(b, channelTolerance) / (a.width * a.height);
