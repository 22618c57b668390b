import { expect, test } from 'vitest';
import { Surface } from '../../draw/surface.js';
import { fontOf } from '../../fonts.js';
import { bytesOf } from '../../pixels.js';
import { pixelsOfLabel, textStyleFor } from '../testing/styles.js';
import { hanForms, isRightToLeft, isSeparable } from './script.js';

test.each([
  ['Via Roma 12', true, false],
  ['Đồng Hới', true, false],
  ['東京都', true, false],
  ['서울', true, false],
  ['شارع', false, true],
  ['12 شارع', false, true],
  ['A 1 شارع', false, false],
  ['רחוב', false, true],
  ['दिल्ली', false, false],
  ['ถนน', false, false],
  ['Roma / رُوما', false, false],
  ['12', true, false],
])('%s: separable %s, right to left %s', (text, separable, rightToLeft) => {
  expect([isSeparable(text), isRightToLeft(text)]).toEqual([separable, rightToLeft]);
});

test.each([
  ['ひがし', 'zh', 'ja'],
  ['서울 漢', 'ja', 'ko'],
  ['北京', 'en', 'zh'],
  ['東京', 'ja', 'ja'],
  ['東京', 'native', 'zh'],
] as const)('%s in a map of language %s has %s forms', (text, language, forms) => {
  expect(hanForms(text, language)).toBe(forms);
});

test('punctuation at the end of Hebrew text is at its left', () => {
  const textStyle = textStyleFor('ש!', { sizePx: 40 });
  const ours = (text: string) => {
    const placement = { runs: [{ text, x: 50, y: 50, angle: 0 }], boxes: [{ minX: 0, minY: 0, maxX: 100, maxY: 100 }] };
    return Buffer.from(pixelsOfLabel(textStyle, placement, 100, 100));
  };
  const leftToRight = (text: string) => {
    const surface = new Surface(100, 100);
    surface.replacePixels().fill(0xffffffff);
    const { context } = surface;
    context.font = fontOf(40);
    context.textAlign = 'center';
    // The baseline of Hebrew is 0.24 em below the middle.
    context.fillText(text, 50, 50 + 0.24 * 40);
    return Buffer.from(bytesOf(surface.pixels));
  };
  expect(ours('ש!').equals(leftToRight('!ש'))).toBe(true);
  expect(ours('ש!').equals(leftToRight('ש!'))).toBe(false);
});
