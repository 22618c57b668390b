/**
 * Compares shapes and labels with MapLibre GL JS in headless Chromium. It draws four public styles in ten views each,
 * and shapes of two dark and the built-in styles. Decision 043 explains the differences. Only with TEST_LONG: it takes
 * minutes of processor time, and `reference.test.ts` shows without a browser whether a map or a label has changed
 * since.
 */
import { join } from 'node:path';
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBrowser } from '../../testing/chromium.js';
import { type MapLibre, openMapLibre, type PeerView } from '../../testing/maplibre.js';
import type { ServedFile } from '../../testing/memory-server.js';
import type { PlacedLabel } from '../labels/label.js';
import { preparedLabels } from '../labels/labels.js';
import { createRenderer } from '../render.js';
import { readMapQuery } from '../request/request.js';
import { openArchive } from '../sources/open.js';
import { detectSchema } from '../sources/schema.js';
import { compileStyle } from '../style/compile.js';
import { builtInStyle } from '../styles/built-in.js';
import { onArchive } from '../styles/custom.js';
import { localizeStyle } from '../styles/language.js';
import { isBuiltInStyle } from '../styles/names.js';
import { cachedBasemap } from '../testing/basemap-cache.js';
import { Picture, pictureOf } from '../testing/pictures.js';
import type { TileSource, Viewport } from '../types.js';
import { coverTiles, tileZoom } from '../view/projection.js';
import { meanErrorOf } from './compare.js';
import { parsed, referenceFolder } from './draw.js';
import {
  type Agreement,
  compareLabels,
  fontFiles,
  type LabelAgreement,
  labelBox,
  noAgreement,
  peerStyle,
} from './peer.js';
import { publicStyles } from './public-styles.js';
import type { ReferenceArchive } from './view.js';
import { referenceViews } from './views.js';

/** Limits are about twice what was measured. */
interface ShapeLimits {
  /** Maximum share of wrong pixels. */
  readonly wrong: number;
  /** Maximum mean difference of all channels, of 255. */
  readonly mean: number;
}

/** Minimum shares of labels that both draw; the missing share is about twice what was measured. */
interface LabelLimits {
  readonly ourPoints: number;
  readonly theirPoints: number;
  readonly theirLines: number;
}

/** Reference views of built-in styles. Coasts at small zooms and the phase of dashes differ most. */
const builtInViews: readonly (readonly [name: string, limits: ShapeLimits])[] = [
  ['world-light', { wrong: 0.002, mean: 1.3 }],
  ['europe-4', { wrong: 0.01, mean: 1.3 }],
  ['florence-12', { wrong: 0.006, mean: 4.5 }],
  ['florence-14', { wrong: 0.001, mean: 2.6 }],
  ['florence-15-dark', { wrong: 0.001, mean: 1.3 }],
  ['florence-17-scale-2', { wrong: 0.005, mean: 1 }],
  ['san-francisco-14', { wrong: 0.001, mean: 4 }],
  ['san-francisco-16-light', { wrong: 0.001, mean: 1.5 }],
];

const publicLimits: Readonly<Record<string, ShapeLimits & LabelLimits>> = {
  basic: { wrong: 0.003, mean: 1.6, ourPoints: 0.8, theirPoints: 0.55, theirLines: 0.7 },
  'versatiles-omt': { wrong: 0.003, mean: 1.6, ourPoints: 0.7, theirPoints: 0.7, theirLines: 0.45 },
  'protomaps-light': { wrong: 0.002, mean: 1.6, ourPoints: 0.72, theirPoints: 0.76, theirLines: 0.45 },
  'versatiles-colorful': { wrong: 0.004, mean: 1.6, ourPoints: 0.7, theirPoints: 0.76, theirLines: 0.4 },
};

/** Styles that differ from one above only by their colours. */
const darkLimits: Readonly<Record<string, ShapeLimits>> = {
  'protomaps-dark': { wrong: 0.0002, mean: 1.2 },
  'versatiles-dark': { wrong: 0.0005, mean: 1 },
};

/** Ten views within the tiles of the archives. */
const cameras: readonly PeerView[] = [
  { zoom: 12.3, center: [-122.4, 37.7965] },
  { zoom: 13, center: [-122.4, 37.7955] },
  { zoom: 13.6, center: [-122.399, 37.795] },
  { zoom: 14, center: [-122.3988, 37.7945] },
  { zoom: 14.5, center: [-122.3985, 37.7945] },
  { zoom: 15, center: [-122.4, 37.794] },
  { zoom: 15.5, center: [-122.397, 37.7935] },
  { zoom: 16, center: [-122.4005, 37.7925] },
  { zoom: 17.2, center: [-122.3985, 37.7945] },
  { zoom: 18.4, center: [-122.3965, 37.7935] },
];
const darkCameras = cameras.filter((_, i) => i % 4 === 0);
const size = { width: 520, height: 400 };
const viewOf = (camera: PeerView): Viewport => ({ ...camera, ...size, scale: 1 });

/** Tiles of a view arrive within a few frames of this length. */
const frameEveryMs = 100;
/** Larger than every view. */
const pageSize = { width: 600, height: 600 };

/** Difference of a channel, of 255, beyond which a pixel counts as wrong. Antialiasing rarely reaches it. */
const channelTolerance = 32;

/** Without a browser the comparison is skipped with its reason; in CI it runs and fails. */
const isBrowserMissing = missingBrowser !== undefined && !process.env.CI;
const isSkipped = !process.env.TEST_LONG || isBrowserMissing;
if (process.env.TEST_LONG && isBrowserMissing)
  process.stderr.write(`SKIPPED: comparison with MapLibre GL JS: ${missingBrowser}\n`);

interface BuiltInView {
  readonly archive: ReferenceArchive;
  readonly view: Viewport & { readonly style: string };
}

function builtInView(name: string): BuiltInView {
  const view = referenceViews.find((each) => each.name === name);
  const read = view && readMapQuery(parsed(view.query));
  if (!read?.ok) throw new TypeError(`no reference view ${name}`);
  const { camera, width, height, scale, style } = read.value.request;
  return { archive: view!.archive, view: { center: camera.center!, zoom: camera.zoom!, width, height, scale, style } };
}

function builtIn(name: string, source: TileSource): StyleSpecification {
  if (!isBuiltInStyle(name)) throw new TypeError(`${name} is not built in`);
  return builtInStyle(name, detectSchema(source)!);
}

const withoutLabels = (style: StyleSpecification): StyleSpecification => ({
  ...style,
  layers: style.layers.filter(({ type }) => type !== 'symbol'),
});

/** Returns the style with labels that are placed and not seen. */
function unseenLabels(style: StyleSpecification): StyleSpecification {
  const unseen = { 'text-color': 'transparent', 'text-halo-color': 'transparent', 'icon-opacity': 0 };
  const layers = style.layers.map((layer) =>
    layer.type === 'symbol' ? { ...layer, paint: { ...layer.paint, ...unseen } } : layer,
  );
  return { ...style, layers };
}

describe.skipIf(isSkipped)('like MapLibre GL JS', () => {
  const sources = new Map<ReferenceArchive, TileSource>();
  const renderer = createRenderer();
  let peer: MapLibre;

  beforeAll(async () => {
    const files = new Map<string, ServedFile>(fontFiles());
    const views = [
      ...builtInViews.map(([name]) => builtInView(name)),
      ...Object.keys(publicLimits).flatMap((name) =>
        cameras.map((camera) => ({ archive: publicStyles[name]!.archive, view: viewOf(camera) })),
      ),
    ];
    for (const { archive, view } of views) {
      const source = sources.get(archive) ?? (await openArchive(await pathOf(archive)));
      sources.set(archive, source);
      for (const { zoom, x, y } of coverTiles(view, tileZoom(view.zoom, source) ?? 0)) {
        // With an empty tile MapLibre GL JS does not look for the one below.
        const bytes = (await source.tile(zoom, x, y)) ?? new Uint8Array();
        files.set(`/${archive}/${zoom}/${x}/${y}`, { type: 'application/x-protobuf', bytes });
      }
    }
    peer = await openMapLibre(files, { ...pageSize, antialias: true, frameEveryMs });
  });
  afterAll(async () => {
    await peer?.close();
    await Promise.all([...sources.values()].map((source) => source.close()));
  });

  const peerJson = (style: StyleSpecification, archive: ReferenceArchive): string =>
    JSON.stringify(peerStyle(style, sources.get(archive)!, `${peer.url}/${archive}/{z}/{x}/{y}`, peer.url));

  /** Draws a view with our renderer. */
  async function drawn(style: StyleSpecification, archive: ReferenceArchive, view: Viewport) {
    let labels: readonly PlacedLabel[] = [];
    const { bytes } = await renderer.render({
      view,
      style: compileStyle(style),
      sources: new Map([['map', sources.get(archive)!]]),
      labels: (frame, compiled) => preparedLabels(frame, compiled, 'en'),
      onLabels(placed) {
        labels = placed;
      },
      overlays: null,
      format: 'png',
    });
    return { picture: await pictureOf(bytes), labels: labels.map(labelBox) };
  }

  test.each(builtInViews)('the shapes of %s are drawn', async (name, limits) => {
    const { archive, view } = builtInView(name);
    const style = withoutLabels(builtIn(view.style, sources.get(archive)!));
    const { center, zoom, scale } = view;
    const image = await peer.restyle(peerJson(style, archive), { center, zoom }, scale, view);
    const difference = new ShapeDifference();
    difference.add((await drawn(style, archive, view)).picture, await pictureOf(image.png), Math.ceil(scale));
    difference.expectWithin(limits);
  });

  /** Draws a view with the peer's current style, or first changes it to `json`. */
  async function drawnByPeer(camera: PeerView, json?: string): Promise<Picture> {
    const { png } = json === undefined ? await peer.jump(camera) : await peer.restyle(json, camera, 1, size);
    return pictureOf(png);
  }

  test.for(Object.entries(publicLimits))(
    'the shapes of %s are drawn, and its labels placed',
    async ([name, limits]) => {
      const { archive, style: original } = publicStyles[name]!;
      const style = localizeStyle(onArchive(original), 'en');
      const bare = withoutLabels(style);
      const difference = new ShapeDifference();
      const agreement = noAgreement();
      for (const [i, camera] of cameras.entries()) {
        const theirs = await drawnByPeer(camera, i === 0 ? peerJson(unseenLabels(style), archive) : undefined);
        difference.add((await drawn(bare, archive, viewOf(camera))).picture, theirs, 1);
        compareLabels(agreement, (await drawn(style, archive, viewOf(camera))).labels, await peer.labels(), size);
      }
      difference.expectWithin(limits);
      expectAgreement(agreement, limits);
    },
  );

  test.for(Object.entries(darkLimits))('the shapes of %s are drawn', async ([name, limits]) => {
    const { archive, style } = publicStyles[name]!;
    const bare = withoutLabels(onArchive(style));
    const difference = new ShapeDifference();
    for (const [i, camera] of darkCameras.entries()) {
      const theirs = await drawnByPeer(camera, i === 0 ? peerJson(bare, archive) : undefined);
      difference.add((await drawn(bare, archive, viewOf(camera))).picture, theirs, 1);
    }
    difference.expectWithin(limits);
  });
});

const pathOf = async (archive: ReferenceArchive): Promise<string> =>
  archive === 'basemap' ? cachedBasemap() : join(referenceFolder, 'archives', `${archive}.pmtiles`);

/** The difference of several pictures. */
class ShapeDifference {
  private pixels = 0;
  private wrong = 0;
  private shiftedWrong = 0;
  private error = 0;

  /** `shiftPx` is one CSS pixel. */
  add(ours: Picture, theirs: Picture, shiftPx: number): void {
    expect([ours.width, ours.height]).toEqual([theirs.width, theirs.height]);
    const count = ours.width * ours.height;
    this.pixels += count;
    this.wrong += ours.differences(theirs, channelTolerance);
    this.shiftedWrong += shifted(ours, shiftPx).differences(theirs, channelTolerance);
    this.error += meanErrorOf(ours, theirs) * count;
  }

  expectWithin({ wrong, mean }: ShapeLimits): void {
    expect(this.wrong / this.pixels).toBeLessThan(wrong);
    expect(this.error / this.pixels).toBeLessThan(mean);
    // The bound is tight enough to notice a shift by one CSS pixel.
    expect(this.shiftedWrong / this.pixels).toBeGreaterThan(wrong);
    if (process.env.REPORT_PEER) {
      const share = (count: number) => `${((100 * count) / this.pixels).toFixed(3)} %`;
      process.stderr.write(
        `${expect.getState().currentTestName}: wrong ${share(this.wrong)}, shifted ${share(this.shiftedWrong)}, ` +
          `mean ${(this.error / this.pixels).toFixed(2)}\n`,
      );
    }
  }
}

function expectAgreement(agreement: LabelAgreement, limits: LabelLimits): void {
  const { ourPoints, theirPoints, ourLines, theirLines } = agreement;
  if (process.env.REPORT_PEER) {
    process.stderr.write(`${expect.getState().currentTestName}: ${JSON.stringify(agreement)}\n`);
  }
  const share = ({ count, equal }: Agreement): number => (count === 0 ? 1 : equal / count);
  expect(share(ourPoints), `only here: ${ourPoints.others}`).toBeGreaterThanOrEqual(limits.ourPoints);
  expect(share(theirPoints), `only there: ${theirPoints.others}`).toBeGreaterThanOrEqual(limits.theirPoints);
  expect(share(theirLines), `only there: ${theirLines.others}`).toBeGreaterThanOrEqual(limits.theirLines);
  // Names follow joined segments, so that more streets have one.
  expect(ourLines.count).toBeGreaterThanOrEqual(theirLines.count);
}

/** Returns the picture moved right by so many pixels. */
function shifted({ pixels, width, height }: Picture, shift: number): Picture {
  const moved = new Uint8Array(pixels.length);
  for (let i = 0; i < pixels.length; i++) moved[i] = pixels[Math.max(0, i - 3 * shift)]!;
  return new Picture(moved, width, height);
}
