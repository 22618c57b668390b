import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';
import sharp from 'sharp';
import { expect, test } from 'vitest';

import type { Surface } from './draw/surface.js';
import { preparedLabels } from './labels/labels.js';
import { candidateOf, textStyleFor } from './labels/testing/styles.js';
import { createRenderer, defaultRendererLimits, type Scene } from './render.js';
import { compileStyle } from './style/compile.js';
import { pictureOf, shapes, styleOf, wholeTile } from './testing/pictures.js';
import { rectangle, sourceOf, tileBytes } from './testing/tiles.js';

const everywhere = tileBytes({ shapes: [{ type: 'polygon', parts: [rectangle(-100, -100, 4200, 4200)] }] });
const full = sourceOf(async () => everywhere);

function sceneOf(overrides: Partial<Scene>): Scene {
  return {
    view: wholeTile,
    style: compileStyle(styleOf([shapes('fill', { 'fill-color': '#ff0000' })])),
    sources: new Map([['tiles', full]]),
    labels: null,
    overlays: null,
    format: 'png',
    ...overrides,
  };
}

test.each([
  ['png', 'image/png', 'png'],
  ['webp', 'image/webp', 'webp'],
  ['jpg', 'image/jpeg', 'jpeg'],
] as const)('a map as %s', async (format, contentType, sharpFormat) => {
  const map = await createRenderer().render(
    sceneOf({ format, view: { ...wholeTile, width: 301, height: 199, scale: 1.5 } }),
  );
  expect(map).toMatchObject({ contentType, missingTiles: 0 });
  expect(await sharp(map.bytes).metadata()).toMatchObject({
    format: sharpFormat,
    width: 452,
    height: 299,
    hasAlpha: false,
  });
  const picture = await pictureOf(map.bytes);
  expect(Number.parseInt(picture.at(150, 100).slice(1, 3), 16)).toBeGreaterThan(250);
});

// 25 tiles of 60 MiB each, compressed to 0.3, took 5 GB: only each tile had a limit.
test('a map whose tiles take too much memory is refused with its limit, and smaller maps are drawn', async () => {
  const renderer = createRenderer({ ...defaultRendererLimits, maxMapTileBytes: 10_000 });
  const world = { ...wholeTile, width: 2_048, height: 2_048, zoom: 3 };
  await expect(renderer.render(sceneOf({ view: world }))).rejects.toMatchObject({ code: 'map_too_large' });
  expect(await renderer.render(sceneOf({}))).toMatchObject({ missingTiles: 0 });
});

// 400 layers over one crowded tile took 14 seconds of a drawing process, and only the time limit ended more of them.
test.each<[string, object]>([
  ['draw', shapes('fill', { 'fill-color': '#ff000080' })],
  ['label', shapes('symbol', {}, { layout: { 'text-field': 'a' } })],
  ['select', shapes('fill', {}, { filter: ['==', ['get', 'k'], 'none'] })],
])('a style whose layers %s too much in a view is refused with its limit', async (_, layer) => {
  const areas = Array.from({ length: 50 }, (_, i) => ({
    type: 'polygon' as const,
    parts: [rectangle(80 * i, 80 * i, 80 * i + 60, 80 * i + 60)],
  }));
  const sources = new Map([['tiles', sourceOf(async () => tileBytes({ shapes: areas }))]]);
  const labels: Scene['labels'] = (frame, style) => preparedLabels(frame, style, 'en');
  const renderer = createRenderer({ ...defaultRendererLimits, maxMapVertices: 2_000 });
  const render = (layers: number) => {
    const style = compileStyle(styleOf(Array.from({ length: layers }, () => layer)));
    return renderer.render(sceneOf({ style, sources, labels }));
  };
  await expect(render(400)).rejects.toMatchObject({
    code: 'map_too_large',
    message: expect.stringMatching(
      /^style: its layers must draw at most 2000 vertices in a view, and layer layer-\d+ /,
    ),
  });
  expect(await render(1)).toMatchObject({ missingTiles: 0 });
});

test('tiles that cannot be read are counted, the rest is drawn, and the next map tries again', async () => {
  let down = true;
  const flaky = sourceOf(async (_zoom, x) => {
    if (down && x === 0) throw new Error('down');
    return everywhere;
  });
  const renderer = createRenderer();
  const scene = sceneOf({ sources: new Map([['tiles', flaky]]), view: { ...wholeTile, zoom: 1 } });
  const partial = await renderer.render(scene);
  expect(partial).toMatchObject({ missingTiles: 2, tileProblem: 'down' });
  expect((await pictureOf(partial.bytes)).count('#ff0000')).toBe((512 * 512) / 2);
  down = false;
  expect(await renderer.render(scene)).toMatchObject({ missingTiles: 0, tileProblem: null });
});

test.each(['png', 'webp', 'jpg'] as const)('a map as %s frees its canvas', async (format) => {
  let canvas: Canvas | undefined;
  const overlays = {
    boxes: [],
    shared: [],
    below: [{ minX: 0, minY: 0, maxX: 1, maxY: 1 }],
    paintBelow({ context }: Surface) {
      canvas = context.canvas;
      expect([canvas.width, canvas.height]).toEqual([512, 512]);
    },
    above: [],
    paintAbove: () => {},
  };
  const map = await createRenderer().render(sceneOf({ format, overlays }));
  expect(canvas?.width).toBe(1);
  expect(await sharp(map.bytes).metadata()).toMatchObject({ width: 512, height: 512 });
});

test('a tile that the source does not have is not missing', async () => {
  const empty = sourceOf(async () => undefined);
  expect((await createRenderer().render(sceneOf({ sources: new Map([['tiles', empty]]) }))).missingTiles).toBe(0);
});

test('only sources of visible layers are read, and not below their first zoom', async () => {
  const asked: string[] = [];
  const spy = (name: string, minZoom: number) =>
    sourceOf(
      async (zoom) => {
        asked.push(`${name} ${zoom}`);
        return undefined;
      },
      { minZoom },
    );
  const style = compileStyle(
    styleOf([
      shapes('fill', {}),
      { ...shapes('fill', {}, { minzoom: 5 }), source: 'later' },
      { ...shapes('fill', {}), source: 'deep' },
    ]),
  );
  const sources = new Map([
    ['tiles', spy('tiles', 0)],
    ['later', spy('later', 0)],
    ['deep', spy('deep', 4)],
  ]);
  await createRenderer().render(
    sceneOf({ style, sources, view: { ...wholeTile, width: 100, height: 100, center: [10, 10] } }),
  );
  expect(asked).toEqual(['tiles 0']);
});

test('labels are drawn between the lower and upper overlays, and are placed around the reserved boxes', async () => {
  const squareAt = (context: SKRSContext2D, x: number, color: string) => {
    context.resetTransform();
    context.globalAlpha = 1;
    context.fillStyle = color;
    context.fillRect(x, 10, 20, 20);
  };
  const wholeImage = { minX: 0, minY: 0, maxX: 512, maxY: 512 };
  const boxes = [{ minX: 1, minY: 2, maxX: 3, maxY: 4 }];
  let given: unknown;
  const placement = { runs: [{ text: 'H', x: 20, y: 20, angle: 0 }], boxes: [wholeImage] };
  const textStyle = textStyleFor('H', { sizePx: 300, color: '#0000ff', haloWidthPx: 0 });
  const scene = sceneOf({
    labels: () => ({
      count: 1,
      place(keepFree) {
        given = keepFree;
        return [{ candidate: { ...candidateOf('H', []), textStyle }, placement }];
      },
    }),
    overlays: {
      boxes,
      shared: [],
      below: [{ minX: 0, minY: 10, maxX: 30, maxY: 30 }],
      paintBelow: ({ context }) => squareAt(context, 0, '#ffffff'),
      above: [{ minX: 20, minY: 10, maxX: 40, maxY: 30 }],
      paintAbove: ({ context }) => squareAt(context, 20, '#00ff00'),
    },
  });
  const picture = await pictureOf((await createRenderer().render(scene)).bytes);
  expect(given).toEqual(boxes);
  // The letter's crossbar covers the left square, and the right square covers the crossbar.
  expect([picture.at(15, 20), picture.at(25, 20), picture.at(400, 400)]).toEqual(['#0000ff', '#00ff00', '#ff0000']);
});

test('labels of a view that is drawn again are prepared for its first two maps only, and placed for each', async () => {
  const counts = { prepared: 0, placed: 0, received: 0 };
  const scene = sceneOf({
    labels() {
      counts.prepared++;
      const place = () => {
        counts.placed++;
        return [];
      };
      return { count: 0, place };
    },
    onLabels: () => counts.received++,
  });
  const renderer = createRenderer();
  for (let i = 0; i < 4; i++) await renderer.render(scene);
  // Once more for the picture without markers.
  expect(counts).toEqual({ prepared: 2, placed: 5, received: 4 });
});

test('a renderer draws several styles, and the same style identically', async () => {
  const renderer = createRenderer();
  const other = compileStyle(styleOf([shapes('fill', { 'fill-color': '#0000ff' })]));
  const [first, second, again] = [
    await renderer.render(sceneOf({})),
    await renderer.render(sceneOf({ style: other })),
    await renderer.render(sceneOf({})),
  ];
  expect((await pictureOf(second.bytes)).at(5, 5)).toBe('#0000ff');
  expect(Buffer.from(again.bytes)).toEqual(Buffer.from(first.bytes));
});

/** A style whose layers count how often they are asked for a property. */
function countingStyle(layers: readonly object[]) {
  const style = compileStyle(styleOf(layers));
  let asked = 0;
  const counting = style.layers.map((layer) => ({
    ...layer,
    property: ((name) => {
      asked++;
      return layer.property(name);
    }) as typeof layer.property,
  }));
  return { style: { ...style, layers: counting }, asked: () => asked };
}

test('the ground of a view is drawn for its first two maps only', async () => {
  const { style, asked } = countingStyle([shapes('fill', { 'fill-color': '#ff0000' })]);
  const renderer = createRenderer();
  const counts: number[] = [];
  for (let i = 0; i < 4; i++) {
    const before = asked();
    const { bytes } = await renderer.render(sceneOf({ style }));
    expect((await pictureOf(bytes)).count('#ff0000')).toBe(512 * 512);
    counts.push(asked() - before);
  }
  // Reading which circles reach into the view asks for nothing, because there are none.
  expect(counts.map((count) => count > 0)).toEqual([true, true, false, false]);
});

test('the ground is drawn again for other tiles, another style, and another part of the world', async () => {
  const blue = compileStyle(styleOf([shapes('fill', { 'fill-color': '#0000ff' })]));
  const half = tileBytes({ shapes: [{ type: 'polygon', parts: [rectangle(0, 0, 2048, 4096)] }] });
  const scenes: Partial<Scene>[] = [
    {},
    { style: blue },
    { sources: new Map([['tiles', sourceOf(async () => half)]]) },
    { view: { ...wholeTile, center: [90, 0] }, sources: new Map([['tiles', sourceOf(async () => half)]]) },
  ];
  const red = sceneOf({}).style;
  const renderer = createRenderer();
  for (let i = 0; i < 3; i++) {
    for (const scene of scenes) {
      const drawn = await renderer.render(sceneOf({ style: red, ...scene }));
      const fresh = await createRenderer().render(sceneOf({ style: red, ...scene }));
      expect(Buffer.from(drawn.bytes).equals(fresh.bytes)).toBe(true);
    }
  }
});

test('the ground of a map that lacks a tile is not kept', async () => {
  let down = true;
  const flaky = sourceOf(async () => {
    if (down) throw new Error('down');
    return everywhere;
  });
  const scene = sceneOf({ sources: new Map([['tiles', flaky]]) });
  const renderer = createRenderer();
  for (let i = 0; i < 3; i++) await renderer.render(scene);
  down = false;
  expect((await pictureOf((await renderer.render(scene)).bytes)).count('#ff0000')).toBe(512 * 512);
});
