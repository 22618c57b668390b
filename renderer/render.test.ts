import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { Frame } from './draw/frame.js';
import { createRenderer, type Scene } from './render.js';
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

test('labels are painted between the lower and upper overlays, and receive the reserved boxes', async () => {
  const steps: string[] = [];
  const dotAt = ({ context }: Frame, color: string) => {
    context.resetTransform();
    context.globalAlpha = 1;
    context.fillStyle = color;
    context.fillRect(10, 10, 5, 5);
  };
  const boxes = [{ minX: 1, minY: 2, maxX: 3, maxY: 4 }];
  const scene = sceneOf({
    labels(frame, _style, keepFree) {
      steps.push(`labels ${JSON.stringify(keepFree)}`);
      dotAt(frame, '#0000ff');
    },
    overlays: {
      boxes,
      paintBelow(frame) {
        steps.push('below');
        dotAt(frame, '#ffffff');
      },
      paintAbove(frame) {
        steps.push('above');
        dotAt(frame, '#00ff00');
      },
    },
  });
  const picture = await pictureOf((await createRenderer().render(scene)).bytes);
  expect(steps).toEqual(['below', `labels ${JSON.stringify(boxes)}`, 'above']);
  expect([picture.at(12, 12), picture.at(20, 20)]).toEqual(['#00ff00', '#ff0000']);
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
