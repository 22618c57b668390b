import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textStyleFor } from '../testing/styles.js';
import { textWidth } from '../text/measure.js';
import type { SectionStyle, TextStyle } from '../text/text-style.js';
import { rowRuns, rowScale, rowWidth, styledLetters } from './row.js';

const section = (end: number, scale: number, more: Partial<SectionStyle> = {}): SectionStyle => {
  const { face, han, families } = textStyleFor('');
  return { end, scale, color: null, face, han, families, ...more };
};

const styled = (text: string, sections: readonly SectionStyle[], more: Partial<TextStyle> = {}): TextStyle =>
  textStyleFor(text, { ...more, sections });

const text = 'Firenze Firenze';

test('sections of one style are as wide as the whole, and spell it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: text.length - 1 }),
      fc.integer({ min: 0, max: 3 }),
      (cut, letterSpacingPx) => {
        const whole = textStyleFor(text, { letterSpacingPx });
        const style = styled(text, [section(cut, 1), section(text.length, 1)], { letterSpacingPx });
        // Kerning between two sections is lost.
        expect(rowWidth(text, 0, style)).toBeCloseTo(rowWidth(text, 0, whole), -0.5);
        const spelled = rowRuns(text, 0, style, 0, 0, 0).map((run) => run.text);
        expect(spelled.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        expect(
          styledLetters(text, style)
            .map(({ letter }) => letter)
            .join(''),
        ).toBe(text);
      },
    ),
  );
});

test('sections follow each other on one baseline, each with its size, face and colour', () => {
  const style = styled(text, [section(7, 1), section(15, 0.5, { color: '#ff0000', face: 'bold' })], { sizePx: 20 });
  const [first, second] = rowRuns(text, 0, style, 100, 50, 0);
  const width = rowWidth(text, 0, style);
  expect(first).toMatchObject({
    text: 'Firenze',
    section: { font: { sizePx: 20, face: 'regular' }, color: '#000000' },
  });
  expect(second).toMatchObject({ text: 'Firenze', section: { font: { sizePx: 10, face: 'bold' }, color: '#ff0000' } });
  expect(first!.x - textWidth('Firenze', first!.section!.font) / 2).toBeCloseTo(100 - width / 2);
  expect(second!.x + textWidth('Firenze', second!.section!.font) / 2).toBeCloseTo(100 + width / 2);
  expect(second!.y + 0.36 * 10).toBeCloseTo(first!.y + 0.36 * 20);
  expect(rowScale(text, 0, style)).toBe(1);
});

test('a row reads its sections from its start', () => {
  const style = styled(text, [section(8, 2), section(15, 0.5)], { sizePx: 20 });
  expect(rowRuns('Firenze', 8, style, 0, 0, 0).map(({ section: each }) => each!.font.sizePx)).toEqual([10]);
  expect(rowScale('Firenze', 8, style)).toBe(0.5);
  expect(rowScale('Firenze', 0, style)).toBe(2);
});

test('sections of a rotated row follow its direction', () => {
  const style = styled(text, [section(7, 1), section(15, 1)]);
  const [first, second] = rowRuns(text, 0, style, 0, 0, Math.PI / 2);
  expect(first!.x).toBeCloseTo(0);
  expect(second!.x).toBeCloseTo(0);
  expect(second!.y).toBeGreaterThan(first!.y);
});

test('the first section of Hebrew text is at its right', () => {
  const name = 'תל אביב';
  const [first, second] = rowRuns(name, 0, styled(name, [section(3, 1), section(7, 1)]), 0, 0, 0);
  expect([first!.text, second!.text]).toEqual(['אביב', 'תל']);
  expect(second!.x).toBeGreaterThan(first!.x);
});
