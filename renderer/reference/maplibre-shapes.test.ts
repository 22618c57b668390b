/**
 * Compares single shapes with MapLibre GL JS in headless Chromium. The views of `maplibre.test.ts` have no circles, and
 * few corners. Only with TEST_LONG.
 */
import type { LayerSpecification } from '@maplibre/maplibre-gl-style-spec';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBrowser } from '../../testing/chromium.js';
import { type MapLibre, openMapLibre } from '../../testing/maplibre.js';
import type { ServedFile } from '../../testing/memory-server.js';
import { drawSource, type Picture, pictureOf, wholeTile } from '../testing/pictures.js';
import { type DrawnImage, imagesOf, spriteOf } from '../testing/sprites.js';
import { type DrawnFeature, sourceOf, tileBytes, type Vertex } from '../testing/tiles.js';

const sidePx = 512;
/** Units of a tile per pixel of its only view. */
const unitsPerPx = 4096 / sidePx;
const vertex = (x: number, y: number): Vertex => [Math.round(x * unitsPerPx), Math.round(y * unitsPerPx)];

const dots: DrawnFeature[] = [
  [100, 100],
  [250, 120],
  [400, 100],
  [120, 300],
  [300, 300],
].map(([x, y]) => ({ type: 'point', parts: [[vertex(x!, y!)]] }));

/** Returns lines with one corner each, of these angles, between segments of this length. */
const cornersOf = (angles: readonly number[], lengthPx: number): DrawnFeature[] =>
  angles.map((degrees, i) => {
    const [x, y] = [85 + (i % 3) * 160, 90 + Math.floor(i / 3) * 220];
    const half = (degrees * Math.PI) / 360;
    const [aside, down] = [lengthPx * Math.sin(half), lengthPx * Math.cos(half)];
    return { type: 'line', parts: [[vertex(x - aside, y + down), vertex(x, y), vertex(x + aside, y + down)]] };
  });
const corners = cornersOf([70, 80, 100, 120, 140, 160], 70);
/** MapLibre GL JS draws these with artefacts, unless lines are thin. */
const sharpCorners = cornersOf([20, 30, 40, 50, 60, 65], 120);

/** A level line, a slanted one and an upright one. */
const straight: DrawnFeature[] = [
  [vertex(40, 60), vertex(470, 60)],
  [vertex(40, 120), vertex(470, 300)],
  [vertex(60, 200), vertex(60, 480)],
].map((line) => ({ type: 'line', parts: [line] }));

/** An image whose four quarters have different colours. */
const quarters: DrawnImage = {
  width: 16,
  height: 12,
  paint(context) {
    for (const [i, color] of ['#c81e1e', '#1e9f1e', '#1e1ec8', '#f0c81e'].entries()) {
      context.fillStyle = color;
      context.fillRect(8 * (i % 2), 6 * Math.floor(i / 2), 8, 6);
    }
  },
};

type Paint = Readonly<Record<string, unknown>>;
interface Scene {
  readonly features: readonly DrawnFeature[];
  readonly type: 'circle' | 'line';
  readonly paint: Paint;
  readonly layout?: Paint;
  /** Maximum share of wrong pixels among those that are painted: about twice what was measured. */
  readonly wrong: number;
}

const circle = (paint: Paint, wrong: number): Scene => ({ features: dots, type: 'circle', paint, wrong });
const red = { 'circle-radius': 20, 'circle-color': '#cc3333' };
const stroke = { 'circle-stroke-width': 8, 'circle-stroke-color': '#003366' };
const bent = (layout: Paint, wrong: number): Scene => ({
  features: corners,
  type: 'line',
  paint: { 'line-width': 20, 'line-color': '#003366' },
  layout,
  wrong,
});

const patterned = (features: readonly DrawnFeature[], width: number, wrong: number): Scene => ({
  features,
  type: 'line',
  paint: { 'line-width': width, 'line-pattern': 'quarters' },
  wrong,
});

const moved = (features: readonly DrawnFeature[], offset: number, join: string, wrong: number): Scene => ({
  features,
  type: 'line',
  paint: { 'line-width': 8, 'line-color': '#003366', 'line-offset': offset },
  layout: { 'line-join': join },
  wrong,
});

/**
 * Before, 10 to 55 % of the pixels of circles without blur were wrong, 95 % of those of patterns, and 10 to 14 %
 * of those of moved sharp corners.
 */
const scenes: Readonly<Record<string, Scene>> = {
  'a circle': circle(red, 0.02),
  'a circle with a stroke': circle({ ...red, ...stroke }, 0.015),
  'a translucent circle with a translucent stroke': circle(
    { ...red, ...stroke, 'circle-opacity': 0.5, 'circle-stroke-opacity': 0.5 },
    0.005,
  ),
  'a stroke alone': circle({ ...red, ...stroke, 'circle-opacity': 0 }, 0.05),
  'a blurred circle': circle({ ...red, 'circle-blur': 1 }, 0.005),
  'a blurred circle with a stroke': circle({ ...red, ...stroke, 'circle-blur': 0.3 }, 0.005),
  'a circle with a negative blur': circle({ ...red, 'circle-blur': -0.5 }, 0.03),
  'a mitered corner': bent({ 'line-join': 'miter' }, 0.02),
  'a corner beyond the miter limit': bent({ 'line-join': 'miter', 'line-miter-limit': 1.1 }, 0.02),
  'a bevelled corner': bent({ 'line-join': 'bevel' }, 0.02),
  'a round corner': bent({ 'line-join': 'round' }, 0.02),
  'a moved corner, inside': moved(corners, 10, 'miter', 0.045),
  'a moved corner, outside': moved(corners, -10, 'miter', 0.045),
  'a moved round corner, outside': moved(corners, -10, 'round', 0.045),
  'a moved sharp corner, inside': moved(sharpCorners, 10, 'miter', 0.09),
  'a moved sharp corner, outside': moved(sharpCorners, -10, 'miter', 0.07),
  'a moved sharp bevel, outside': moved(sharpCorners, -10, 'bevel', 0.07),
  'a moved sharp round corner, outside': moved(sharpCorners, -10, 'round', 0.04),
  'a pattern in its own size': patterned(straight, 12, 0.07),
  'an enlarged pattern': patterned(straight, 20, 0.11),
  'a pattern with corners, where that of MapLibre is slanted': patterned(corners, 20, 0.35),
  'a pattern with round corners and caps': {
    ...patterned(corners, 20, 0.23),
    layout: { 'line-cap': 'round', 'line-join': 'round' },
  },
};

/** Difference of a channel, of 255, beyond which a pixel counts as wrong. */
const channelTolerance = 32;

const isBrowserMissing = missingBrowser !== undefined && !process.env.CI;
const isSkipped = !process.env.TEST_LONG || isBrowserMissing;

describe.skipIf(isSkipped)('drawn like MapLibre GL JS', () => {
  const sprite = spriteOf({ quarters });
  const paths = new Map<readonly DrawnFeature[], string>([
    [dots, '/dots'],
    [corners, '/corners'],
    [sharpCorners, '/sharp-corners'],
    [straight, '/straight'],
  ]);
  const tiles = new Map([...paths.keys()].map((features) => [features, tileBytes({ shapes: features })]));
  let peer: MapLibre;

  beforeAll(async () => {
    const type = 'application/x-protobuf';
    const files = new Map<string, ServedFile>([
      ['/sprite.json', { type: 'application/json', bytes: sprite.index }],
      ['/sprite.png', { type: 'image/png', bytes: sprite.image }],
    ]);
    for (const [features, path] of paths) files.set(`${path}/0/0/0`, { type, bytes: tiles.get(features)! });
    peer = await openMapLibre(files, { width: 600, height: 600, antialias: true });
  });
  afterAll(() => peer?.close());

  test.each(Object.entries(scenes))('%s', async (_name, scene) => {
    const { type, paint, layout = {} } = scene;
    const paper = { type: 'background', paint: { 'background-color': '#ffffff' } };
    const layer = { type, source: 'tiles', 'source-layer': 'shapes', paint, layout };
    const ours = await drawSource(
      sourceOf(async () => tiles.get(scene.features), { maxZoom: 0 }),
      [paper, layer],
      wholeTile,
      await imagesOf({ quarters }),
    );
    const layers = [paper, layer].map((each, i) => ({ id: `${i}`, ...each }) as LayerSpecification);
    const address = `${peer.url}${paths.get(scene.features)}/{z}/{x}/{y}`;
    const sources = { tiles: { type: 'vector', tiles: [address], maxzoom: 0 } };
    const style = { version: 8, sprite: `${peer.url}/sprite`, sources, layers };
    const view = { center: [0, 0], zoom: 0 } as const;
    const { png } = await peer.restyle(JSON.stringify(style), view, 1, { width: sidePx, height: sidePx });
    const theirs = await pictureOf(png);
    expect(ours.differences(theirs, channelTolerance) / painted(theirs)).toBeLessThan(scene.wrong);
  });
});

/** Returns the number of pixels that are not white. */
const painted = (picture: Picture): number => picture.width * picture.height - picture.count('#ffffff');
