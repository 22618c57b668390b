import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineStarts, piecesOf } from './wrap.js';

/** Tries all possible breaks. */
function bestCost(widths: readonly number[], gaps: readonly number[], maxWidth: number): number[] {
  let best: number[] | undefined;
  for (let breaks = 0; breaks < 2 ** (widths.length - 1); breaks++) {
    const starts = widths.map((_, i) => i).filter((i) => i === 0 || (breaks >> (i - 1)) % 2 === 1);
    const cost = costOf(starts, widths, gaps, maxWidth);
    if (!best || compare(cost, best) < 0) best = cost;
  }
  return best!;
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, i) => value - b[i]!).find((difference) => difference !== 0) ?? 0;
}

function costOf(
  starts: readonly number[],
  widths: readonly number[],
  gaps: readonly number[],
  maxWidth: number,
): number[] {
  const lines = starts.map((start, i) => {
    const end = starts[i + 1] ?? widths.length;
    return widths.slice(start, end).reduce((sum, width, k) => sum + width + (k > 0 ? gaps[start + k]! : 0), 0);
  });
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  return [
    sum(lines.map((width) => Math.max(0, width - maxWidth))),
    lines.length,
    sum(lines.map((width) => width * width)),
  ];
}

test('no other breaks overflow less, have fewer lines or are more even', () => {
  const pieces = fc.array(fc.record({ width: fc.integer({ min: 1, max: 60 }), gap: fc.integer({ min: 0, max: 5 }) }), {
    minLength: 1,
    maxLength: 9,
  });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 150 }), (drawn, maxWidth) => {
      const widths = drawn.map(({ width }) => width);
      const gaps = drawn.map(({ gap }) => gap);
      const starts = lineStarts(widths, gaps, maxWidth);
      expect(starts[0]).toBe(0);
      expect(costOf(starts, widths, gaps, maxWidth)).toEqual(bestCost(widths, gaps, maxWidth));
    }),
  );
});

test.each([
  ['Museo Galileo – Istituto', ['Museo', 'Galileo –', 'Istituto']],
  ['Baden-Baden', ['Baden-', 'Baden']],
  ['Clay & Front', ['Clay', '&', 'Front']],
  ['Biel/Bienne', ['Biel/', 'Bienne']],
  ['12-14', ['12-14']],
  ['A1', ['A1']],
  ['พระบรมมหาราชวัง', ['พระบรม', 'มหาราช', 'วัง']],
])('%s is split into %j', (text, pieces) => {
  expect(piecesOf(text).map((piece) => piece.text)).toEqual(pieces);
});

test('Japanese pieces do not begin with closing or end with opening punctuation', () => {
  const pieces = piecesOf('東京国際空港（羽田空港）第一駅。').map((piece) => piece.text);
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.filter((piece) => /^[）。]|（$/.test(piece))).toEqual([]);
});

test('pieces and separators add up to the text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('Via', 'a-b', '東京都', '-', '–', '&', 'ไทย', '(x)', '12'), { minLength: 1 }),
      (words) => {
        const text = words.join(' ');
        const [first, ...rest] = piecesOf(text);
        expect(rest.reduce((line, piece) => line + piece.gap + piece.text, first!.text)).toBe(text);
      },
    ),
  );
});
