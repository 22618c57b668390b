import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PixelBox } from '../types.js';
import { padded } from './boxes.js';
import type { Candidate, PlacedLabel, Setting } from './label.js';
import { placeLabels } from './place.js';
import { candidateOf, meet } from './testing/looks.js';

const image = { width: 300, height: 200 };

const box = fc
  .record({
    x: fc.integer({ min: -20, max: 300 }),
    y: fc.integer({ min: -20, max: 200 }),
    width: fc.integer({ min: 1, max: 80 }),
    height: fc.integer({ min: 1, max: 30 }),
  })
  .map(({ x, y, width, height }): PixelBox => ({ minX: x + 0.5, minY: y + 0.5, maxX: x + width, maxY: y + height }));

const setting = fc.array(box, { minLength: 1, maxLength: 3 }).map((boxes): Setting => {
  const { minX, minY } = boxes[0]!;
  return { runs: [{ text: '', x: minX, y: minY, angle: 0 }], boxes };
});

const candidate = fc
  .record({
    text: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    settings: fc.array(setting, { minLength: 1, maxLength: 3 }),
    rules: fc.record({
      paddingPx: fc.constantFrom(0, 2, 5),
      overlap: fc.constantFrom('never', 'never', 'never', 'cooperative', 'always'),
      isObstacle: fc.constantFrom(true, true, true, false),
      minRepeatPx: fc.constantFrom(0, 50),
    }),
  })
  .map(({ text, settings, rules }) => candidateOf(text, settings, rules));

const scene = fc.record({
  candidates: fc.array(candidate, { maxLength: 40 }),
  keepFree: fc.array(box, { maxLength: 4 }),
});

const paddedBoxes = ({ candidate, setting }: PlacedLabel) => setting.boxes.map((part) => padded(part, candidate.rules.paddingPx));

test('no two labels overlap that may not; none is over what is kept free, none over the edge', () => {
  fc.assert(
    fc.property(scene, ({ candidates, keepFree }) => {
      const placed = placeLabels(candidates, image, keepFree);
      for (const [i, label] of placed.entries()) {
        const boxes = paddedBoxes(label);
        for (const { minX, minY, maxX, maxY } of label.setting.boxes) {
          expect(minX >= 0 && minY >= 0 && maxX <= image.width && maxY <= image.height).toBe(true);
        }
        expect(boxes.some((a) => keepFree.some((b) => meet(a, b)))).toBe(false);
        if (label.candidate.rules.overlap !== 'never') continue;
        const before = placed.slice(0, i).filter(({ candidate: { rules } }) => rules.isObstacle);
        expect(before.some((other) => paddedBoxes(other).some((b) => boxes.some((a) => meet(a, b))))).toBe(false);
      }
    }),
  );
});

/** Looks at everything that was placed before, each time. */
function placeSlowly(candidates: readonly Candidate[], keepFree: readonly PixelBox[]): PlacedLabel[] {
  const placed: PlacedLabel[] = [];
  for (const candidate of candidates) {
    const { overlap, paddingPx, minRepeatPx } = candidate.rules;
    const setting = [...candidate.settings()].find(({ boxes, runs }) => {
      const own = boxes.map((part) => padded(part, paddingPx));
      const hits = (others: readonly PixelBox[]) => others.some((other) => own.some((part) => touches(part, other)));
      const inside = boxes.every(({ minX, minY, maxX, maxY }) => minX >= 0 && minY >= 0 && maxX <= 300 && maxY <= 200);
      const repeated = placed.some(
        ({
          candidate: { text },
          setting: {
            runs: [other],
          },
        }) => {
          return text === candidate.text && Math.hypot(other!.x - runs[0]!.x, other!.y - runs[0]!.y) < minRepeatPx;
        },
      );
      const blocked = placed.some((label) => {
        const { isObstacle, overlap: others } = label.candidate.rules;
        const minds = overlap === 'never' || (overlap === 'cooperative' && others === 'never');
        return isObstacle && minds && hits(paddedBoxes(label));
      });
      return inside && !repeated && !blocked && !hits(keepFree);
    });
    if (setting) placed.push({ candidate, setting });
  }
  return placed;
}

const touches = (a: PixelBox, b: PixelBox) => a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;

test('each label is set in the first of its ways that is free, as a slow search finds it', () => {
  fc.assert(
    fc.property(scene, ({ candidates, keepFree }) => {
      expect(placeLabels(candidates, image, keepFree)).toEqual(placeSlowly(candidates, keepFree));
    }),
    { numRuns: 200 },
  );
});

test('a halo is not cut off at the edge either', () => {
  const atEdge: Setting = { runs: [{ text: 'a', x: 0, y: 0, angle: 0 }], boxes: [{ minX: 1, minY: 1, maxX: 30, maxY: 10 }] };
  const plain = candidateOf('a', [atEdge]);
  expect(placeLabels([plain], image, [])).toHaveLength(1);
  expect(placeLabels([{ ...plain, look: { ...plain.look, haloWidthPx: 2 } }], image, [])).toHaveLength(0);
});
