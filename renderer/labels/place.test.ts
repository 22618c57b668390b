import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PixelBox } from '../types.js';
import { evenPadding, padded } from './boxes.js';
import type { Candidate, Overlap, PlacedIcon, PlacedLabel, Room, Setting } from './label.js';
import { placeLabels } from './place.js';
import { candidateOf, lookFor, meet } from './testing/styles.js';

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

const room = {
  padding: fc.constantFrom(evenPadding(0), evenPadding(2), { top: 1, right: 5, bottom: 0, left: 3 }),
  overlap: fc.constantFrom<Overlap>('never', 'never', 'never', 'cooperative', 'always'),
  isObstacle: fc.constantFrom(true, true, true, false),
  isOptional: fc.boolean(),
};

/** Placing looks at an icon's boxes only. */
const iconIn = (boxes: readonly PixelBox[]): PlacedIcon => ({ boxes }) as unknown as PlacedIcon;

const candidate = fc
  .record({
    text: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    settings: fc.array(setting, { minLength: 1, maxLength: 3 }),
    rules: fc.record({
      ...room,
      minRepeatPx: fc.constantFrom(0, 50),
    }),
    iconRoom: fc.record(room),
    icons: fc.array(fc.option(fc.array(box, { minLength: 1, maxLength: 2 })), { minLength: 3, maxLength: 3 }),
  })
  .map(({ text, settings, rules, iconRoom, icons }): Candidate => {
    const withIcons = settings.map((each, i) => (icons[i] ? { ...each, icon: iconIn(icons[i]) } : each));
    return { ...candidateOf(text, withIcons, rules), iconRoom };
  });

const scene = fc.record({
  candidates: fc.array(candidate, { maxLength: 40 }),
  keepFree: fc.array(box, { maxLength: 4 }),
});

/** What of a label takes room: its text and its icon. */
interface Part {
  readonly room: Room;
  readonly boxes: readonly PixelBox[];
  readonly padded: readonly PixelBox[];
}

function partsOf({ candidate: { rules, iconRoom }, setting: { boxes, icon } }: PlacedLabel): Part[] {
  const part = (room: Room, own: readonly PixelBox[]): Part => {
    return { room, boxes: own, padded: own.map((each) => padded(each, room.padding)) };
  };
  return [part(rules, boxes), ...(icon && iconRoom ? [part(iconRoom, icon.boxes)] : [])];
}

test('no two labels overlap that may not; none is over what is kept free, none over the edge', () => {
  fc.assert(
    fc.property(scene, ({ candidates, keepFree }) => {
      const placed = placeLabels(candidates, image, keepFree);
      for (const [i, label] of placed.entries()) {
        const before = placed.slice(0, i).flatMap(partsOf);
        for (const part of partsOf(label)) {
          for (const { minX, minY, maxX, maxY } of part.boxes) {
            expect(minX >= 0 && minY >= 0 && maxX <= image.width && maxY <= image.height).toBe(true);
          }
          expect(part.padded.some((a) => keepFree.some((b) => meet(a, b)))).toBe(false);
          if (part.room.overlap !== 'never') continue;
          const obstacles = before.filter(({ room }) => room.isObstacle);
          expect(obstacles.some((other) => other.padded.some((b) => part.padded.some((a) => meet(a, b))))).toBe(false);
        }
      }
    }),
  );
});

/** Looks at everything that was placed before, each time. */
function placeSlowly(candidates: readonly Candidate[], keepFree: readonly PixelBox[]): PlacedLabel[] {
  const placed: PlacedLabel[] = [];
  for (const candidate of candidates) {
    const { rules, iconRoom } = candidate;
    const fits = (label: PlacedLabel) => partsOf(label).every((part) => partFits(part, placed, keepFree));
    const repeats = ({ runs }: Setting) =>
      placed.some(({ candidate: { text }, setting: { runs: others } }) => {
        const [own, other] = [runs[0], others[0]];
        return (
          own && other && text === candidate.text && Math.hypot(other.x - own.x, other.y - own.y) < rules.minRepeatPx
        );
      });
    const ways = [...candidate.settings()];
    const whole = ways.find((setting) => !repeats(setting) && fits({ candidate, setting }));
    // Of each way, the text before the icon.
    const halves = ways.flatMap(({ runs, boxes, icon }): Setting[] => [
      ...(icon && iconRoom?.isOptional ? [{ runs, boxes }] : []),
      ...(icon && rules.isOptional ? [{ runs: [], boxes: [], icon }] : []),
    ]);
    const setting = whole ?? halves.find((half) => !repeats(half) && fits({ candidate, setting: half }));
    if (setting) placed.push({ candidate, setting });
  }
  return placed;
}

function partFits(
  { room, boxes, padded: own }: Part,
  placed: readonly PlacedLabel[],
  keepFree: readonly PixelBox[],
): boolean {
  const hits = (others: readonly PixelBox[]) => others.some((other) => own.some((part) => touches(part, other)));
  const inside = boxes.every(({ minX, minY, maxX, maxY }) => minX >= 0 && minY >= 0 && maxX <= 300 && maxY <= 200);
  const blocked = placed.flatMap(partsOf).some((other) => {
    const minds = room.overlap === 'never' || (room.overlap === 'cooperative' && other.room.overlap === 'never');
    return other.room.isObstacle && minds && hits(other.padded);
  });
  return inside && !blocked && !hits(keepFree);
}

const touches = (a: PixelBox, b: PixelBox) =>
  a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;

test('each label is set in the first of its ways that is free, as a slow search finds it', () => {
  fc.assert(
    fc.property(scene, ({ candidates, keepFree }) => {
      expect(placeLabels(candidates, image, keepFree)).toEqual(placeSlowly(candidates, keepFree));
    }),
    { numRuns: 200 },
  );
});

test('a halo is not cut off at the edge either', () => {
  const atEdge: Setting = {
    runs: [{ text: 'a', x: 0, y: 0, angle: 0 }],
    boxes: [{ minX: 1, minY: 1, maxX: 30, maxY: 10 }],
  };
  const plain = candidateOf('a', [atEdge]);
  expect(placeLabels([plain], image, [])).toHaveLength(1);
  expect(placeLabels([{ ...plain, look: lookFor('a', { haloWidthPx: 2 }) }], image, [])).toHaveLength(0);
});
