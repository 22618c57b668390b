import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { compileStyle } from '../../style/compile.js';
import { styleOf } from '../../testing/pictures.js';
import { tileBytes } from '../../testing/tiles.js';
import { decodeVectorTile } from '../../tiles/vector-tile.js';
import type { Placement } from '../label.js';
import { inkOf, inkOutside, textStyleFor } from '../testing/styles.js';
import { textWidth } from '../text/measure.js';
import { isSeparable } from '../text/script.js';
import { type BlockStyle, blockPlacements, blockStyleOf } from './block.js';

const feature = decodeVectorTile(tileBytes({ shapes: [{ type: 'point', parts: [[[0, 0]]] }] })).layers.get('shapes')!
  .features[0]!;

function styleFor(layout: object): BlockStyle {
  const style = styleOf([
    { type: 'symbol', source: 'tiles', 'source-layer': 'shapes', layout: { 'text-field': 'x', ...layout } },
  ]);
  return blockStyleOf(compileStyle(style).layers[0]!, feature, 10);
}

const textStyle = textStyleFor('Via Roma', { sizePx: 20 });
const placementsAt = (layout: object, text = 'Via Roma'): Placement[] => [
  ...blockPlacements(text, textStyle, styleFor(layout), 100, 100),
];
/** Returns the collision box relative to the point, in ems. */
const boxOf = ({ boxes: [box] }: Placement) => {
  const { minX, minY, maxX, maxY } = box!;
  return { left: (minX - 100) / 20, top: (minY - 100) / 20, right: (maxX - 100) / 20, bottom: (maxY - 100) / 20 };
};

test('a label is positioned by its anchor', () => {
  const width = textWidth('Via Roma', textStyle) / 20;
  const edges = (layout: object) => {
    const { left, top, right, bottom } = boxOf(placementsAt(layout)[0]!);
    return [left, top, right, bottom].map((edge) => Number(edge.toFixed(6)) + 0);
  };
  const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(6)) + 0);
  expect(edges({})).toEqual(rounded([-width / 2, -0.6, width / 2, 0.6]));
  expect(edges({ 'text-anchor': 'left' })).toEqual(rounded([0, -0.6, width, 0.6]));
  expect(edges({ 'text-anchor': 'bottom-right' })).toEqual(rounded([-width, -1.2, 0, 0]));
  expect(edges({ 'text-anchor': 'top', 'text-offset': [1, 2] })).toEqual(
    rounded([1 - width / 2, 2, 1 + width / 2, 3.2]),
  );
});

test('variable anchors lead away from the point for any sign of the offset', () => {
  const placements = placementsAt({
    'text-variable-anchor': ['left', 'right', 'top', 'bottom'],
    'text-offset': [-2, 2],
  }).map(boxOf);
  expect(placements[0]!.left).toBeCloseTo(2);
  expect(placements[1]!.right).toBeCloseTo(-2);
  expect(placements[2]!.top).toBeCloseTo(2 - 7 / 24);
  expect(placements[3]!.bottom).toBeCloseTo(-2 + 7 / 24);
});

test('a radial offset has the same length for diagonal anchors', () => {
  const [corner, side] = placementsAt({ 'text-variable-anchor': ['top-left', 'left'], 'text-radial-offset': 2 }).map(
    boxOf,
  );
  expect(corner!.left).toBeCloseTo(Math.SQRT2);
  expect(corner!.top).toBeCloseTo(Math.SQRT2 - 7 / 24);
  expect(side!.left).toBeCloseTo(2);
});

test('pairs of anchor and offset are applied unchanged', () => {
  const placements = placementsAt({ 'text-variable-anchor-offset': ['right', [-1, 0.5], 'bottom', [0, -2]] }).map(
    boxOf,
  );
  expect([placements[0]!.right, placements[0]!.top]).toEqual([expect.closeTo(-1), expect.closeTo(0.5 - 0.6)]);
  expect(placements[1]!.bottom).toBeCloseTo(-2 + 7 / 24);
});

test.each([
  ['left', 'left'],
  ['right', 'right'],
  ['center', 'center'],
  ['auto', 'left'],
])('lines with justification %s are aligned %s', (justify, side) => {
  const [placement] = placementsAt({ 'text-anchor': 'left', 'text-justify': justify }, 'A long first line\nshort');
  const edges = placement!.runs.map(({ text, x }) => {
    const half = textWidth(text, textStyle) / 2;
    return side === 'left' ? x - half : side === 'right' ? x + half : x;
  });
  expect(edges[0]).toBeCloseTo(edges[1]!);
});

test('line height and maximum width follow the style', () => {
  const [placement] = placementsAt(
    { 'text-max-width': 6, 'text-line-height': 1.5 },
    'Piazza della Santissima Annunziata',
  );
  const { runs } = placement!;
  expect(runs.map(({ text }) => text).join(' ')).toBe('Piazza della Santissima Annunziata');
  for (const { text } of runs) expect(textWidth(text, textStyle)).toBeLessThanOrEqual(6 * 20);
  for (let i = 1; i < runs.length; i++) expect(runs[i]!.y - runs[i - 1]!.y).toBeCloseTo(30);
});

test('a label is rotated about its point', () => {
  const [placement] = placementsAt({ 'text-anchor': 'left', 'text-rotate': 90 });
  const [run] = placement!.runs;
  expect([run!.x, run!.y - 100, run!.angle]).toEqual([
    expect.closeTo(100),
    expect.closeTo(textWidth('Via Roma', textStyle) / 2),
    Math.PI / 2,
  ]);
});

test('the ink is inside the collision boxes', () => {
  const text = fc.constantFrom(
    'Ångström ÉÑŢ Jgpqy',
    'Ệ Ỗ ẵ',
    'שדרות בן־גוריון',
    'شارع الملك فهد',
    'नई दिल्ली कुर्ला',
    'กรุงเทพมหานคร ที่นี่',
    '東京都新宿区',
    '서울특별시',
    'Йошкар-Ола',
  );
  const layout = fc.record({
    'text-max-width': fc.constantFrom(3, 6, 20),
    'text-justify': fc.constantFrom('auto', 'left', 'center', 'right'),
    'text-anchor': fc.constantFrom('center', 'left', 'top-right', 'bottom'),
    'text-rotate': fc.constantFrom(0, 0, 33, -120),
  });
  fc.assert(
    fc.property(text, layout, fc.constantFrom(0, 3), (text, layout, spacing) => {
      const drawn = textStyleFor(text, { letterSpacingPx: isSeparable(text) ? spacing : 0 });
      const [placement] = [...blockPlacements(text, drawn, styleFor(layout), 300, 300)];
      const ink = inkOf(drawn, placement!, 600, 600, 1);
      expect(ink.some((pixel) => pixel === 1)).toBe(true);
      expect(inkOutside(ink, placement!.boxes, 600, 1, 2)).toBe(0);
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('a text has the same lines at any size and with any text before', () => {
  const words = fc.array(fc.constantFrom('Via', 'Piazza', 'della', 'Santissima', 'Annunziata', 'S.'), { minLength: 1 });
  const sizePx = fc.double({ min: 6, max: 40, noNaN: true });
  fc.assert(
    fc.property(words, sizePx, sizePx, fc.integer({ min: 0, max: 40 }), (parts, a, b, hundredths) => {
      const style = styleFor({});
      const linesAt = (size: number) => {
        const sized = textStyleFor('', { sizePx: size, letterSpacingPx: (hundredths / 100) * size });
        const [placement] = blockPlacements(parts.join(' '), sized, style, 0, 0);
        return placement!.runs.map(({ text }) => text);
      };
      expect(linesAt(a)).toEqual(linesAt(b));
    }),
  );
});
