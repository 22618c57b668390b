import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { frameOf, labelsOf } from '../labels/testing/frames.js';
import { compileStyle } from '../style/compile.js';
import { compiledStyle } from '../testing/compiled-styles.js';
import { Picture, styleOf, wholeTile } from '../testing/pictures.js';
import { type DrawnFeature, tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { TileSchema, Viewport } from '../types.js';
import { worldPosition } from '../view/projection.js';
import { builtInStyle } from './built-in.js';
import { builtInImages } from './images.js';
import { builtInStyles } from './names.js';
import { palettes } from './palettes/palettes.js';

type Tags = Readonly<Record<string, string | number | boolean>>;

/** Returns the text and the image of a road's shield, or null without one. */
function shieldOf(schema: TileSchema, tags: Tags, zoom: number): readonly [text: string, image: string] | null {
  const layer = compiledStyle('svc-default-v1', schema).layers.find(({ id }) => id === 'label-road-shield')!;
  const line: DrawnFeature = {
    type: 'line',
    parts: [
      [
        [0, 0],
        [4096, 0],
      ],
    ],
    tags,
  };
  const name = layer.sourceLayer!;
  const feature = decodeVectorTile(tileBytes({ [name]: [line] })).layers.get(name)!.features[0]!;
  if (!layer.isVisible(zoom) || !layer.filter(zoom)(feature)) return null;
  const { names } = builtInImages('svc-default-v1', 1);
  const image = layer.property<{ name: string }>('icon-image').at(zoom, feature, names);
  return [String(layer.property('text-field').at(zoom, feature)), image.name];
}

test.each([
  ['openmaptiles', { class: 'motorway', ref: 'A 1' }, 8, 'A 1', 'shield-motorway'],
  ['openmaptiles', { class: 'primary', ref: 'I 80', network: 'us-interstate' }, 12, 'I 80', 'shield-motorway'],
  ['openmaptiles', { class: 'trunk', ref: '101', network: 'us-highway' }, 12, '101', 'shield-national'],
  ['openmaptiles', { class: 'trunk', ref: 'B 2', network: 'road' }, 12, 'B 2', 'shield-trunk'],
  ['openmaptiles', { class: 'secondary', ref: 'L 77' }, 13, 'L 77', 'shield-regional'],
  ['protomaps', { kind_detail: 'motorway', shield_text: '5', ref: 'I 5', network: 'US:I' }, 9, '5', 'shield-motorway'],
  ['protomaps', { kind_detail: 'primary', ref: 'N 7' }, 12, 'N 7', 'shield-national'],
  ['protomaps-v3', { highway: 'motorway', ref: 'A1;E35' }, 12, 'A1', 'shield-motorway'],
  ['protomaps-v3', { 'pmap:kind': 'highway', ref: 'A1' }, 7, 'A1', 'shield-motorway'],
  ['shortbread', { kind: 'trunk', ref: 'B 96\nB 109' }, 12, 'B 96', 'shield-trunk'],
] as const)('%s: a road %j has a shield at zoom %i', (schema, tags, zoom, text, image) => {
  expect(shieldOf(schema, tags, zoom)).toEqual([text, image]);
});

test.each([
  ['a road without a reference', { class: 'motorway' }, 12],
  ['a reference that would cover the map', { class: 'motorway', ref: 'Autobahn 9876' }, 12],
  ['a small road at a low zoom', { class: 'secondary', ref: 'L 77' }, 11],
  ['any road in a view of the world', { class: 'motorway', ref: 'A 1' }, 5],
] as const)('%s has none', (_what, tags, zoom) => {
  expect(shieldOf('openmaptiles', tags, zoom)).toBeNull();
});

/** A tile in the middle of the world. */
const oneTile: Viewport = {
  ...wholeTile,
  zoom: 12,
  center: worldPosition([2 ** 11 * 512 + 256, 2 ** 11 * 512 + 256], 12),
};

const vertex = fc.tuple(fc.integer({ min: 0, max: 4096 }), fc.integer({ min: 0, max: 4096 }));
const roads = fc.array(
  fc.record({
    ref: fc.constantFrom('A 1', 'A 2', 'B 96', 'S 3'),
    class: fc.constantFrom('motorway', 'trunk', 'primary'),
    vertices: fc.array(vertex, { minLength: 2, maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 12 },
);

test('shields are upright, have their plate, and equal ones keep their distance', () => {
  const layer = builtInStyle('svc-default-v1', 'openmaptiles').layers.find(({ id }) => id === 'label-road-shield')!;
  const style = compileStyle(styleOf([{ ...layer, source: 'tiles', 'source-layer': 'shapes' }]));
  const images = builtInImages('svc-default-v1', 1);
  let shields = 0;
  fc.assert(
    fc.property(roads, (drawn) => {
      const features = drawn.map(({ vertices, ...tags }): DrawnFeature => ({ type: 'line', parts: [vertices], tags }));

      const labels = labelsOf(
        frameOf(oneTile, 12, () => features, images),
        style,
        [],
        'en',
      );
      shields += labels.length;
      const middles = labels.map(({ candidate, placement }) => {
        expect(placement.icon?.angle).toBe(0);
        expect(placement.runs.map(({ angle }) => angle)).toEqual([0]);
        const { x, y } = placement.runs[0]!;
        return { text: candidate.text, x, y };
      });
      for (const [i, a] of middles.entries()) {
        for (const b of middles.slice(0, i)) {
          if (a.text === b.text) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThanOrEqual(380);
        }
      }
    }),
    { numRuns: propertyRuns(30) },
  );
  expect(shields).toBeGreaterThan(10);
});

test.each(builtInStyles.flatMap((name) => [1, 1.5, 2, 3].map((scale) => [name, scale] as const)))(
  'plates of %s have their colours at scale %d',
  (name, scale) => {
    for (const look of ['motorway', 'trunk', 'national', 'regional'] as const) {
      const image = builtInImages(name, scale).get(`shield-${look}`)!;
      const { width, height, data } = image.bitmap();
      const pixels = new Picture(
        Uint8Array.from(data).filter((_, i) => i % 4 !== 3),
        width,
        height,
      );
      const { fill, border } = palettes[name].shields[look];
      expect(pixels.at(width >> 1, height >> 1)).toBe(fill);
      expect(pixels.at(width >> 1, 0)).toBe(border);
      expect([image.width, image.height]).toEqual([24, 18]);
    }
  },
);
