import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PixelBox } from '../../types.js';
import type { Candidate, CollisionRules, Overlap, PlacedIcon, PlacedLabel, Placement } from '../label.js';
import { candidateOf, intersect, textStyleFor } from '../testing/styles.js';
import { evenPadding, padded } from './boxes.js';
import { prepareLabels } from './place.js';

const placeLabels = (...[candidates, size, keepFree]: [...Parameters<typeof prepareLabels>, readonly PixelBox[]]) =>
  prepareLabels(candidates, size).place(keepFree);

const image = { width: 300, height: 200 };

const box = fc
  .record({
    x: fc.integer({ min: -20, max: 300 }),
    y: fc.integer({ min: -20, max: 200 }),
    width: fc.integer({ min: 1, max: 80 }),
    height: fc.integer({ min: 1, max: 30 }),
  })
  .map(({ x, y, width, height }): PixelBox => ({ minX: x + 0.5, minY: y + 0.5, maxX: x + width, maxY: y + height }));

const placement = fc.array(box, { minLength: 1, maxLength: 3 }).map((boxes): Placement => {
  const { minX, minY } = boxes[0]!;
  return { runs: [{ text: '', x: minX, y: minY, angle: 0 }], boxes };
});

const collisionRules = {
  padding: fc.constantFrom(evenPadding(0), evenPadding(2), { top: 1, right: 5, bottom: 0, left: 3 }),
  overlap: fc.constantFrom<Overlap>('never', 'never', 'never', 'cooperative', 'always'),
  isObstacle: fc.constantFrom(true, true, true, false),
  isOptional: fc.boolean(),
};

/** Returns an icon with the fields that placement reads. */
const iconIn = (boxes: readonly PixelBox[]): PlacedIcon =>
  ({ boxes, x: boxes[0]?.minX ?? 0, y: boxes[0]?.minY ?? 0 }) as unknown as PlacedIcon;

const candidate = fc
  .record({
    text: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    placements: fc.array(placement, { minLength: 1, maxLength: 3 }),
    textRules: fc.record({
      ...collisionRules,
      minRepeatPx: fc.constantFrom(0, 50),
    }),
    iconRules: fc.record(collisionRules),
    icons: fc.array(fc.option(fc.array(box, { minLength: 1, maxLength: 2 })), { minLength: 3, maxLength: 3 }),
  })
  .map(({ text, placements, textRules, iconRules, icons }): Candidate => {
    const withIcons = placements.map((each, i) => (icons[i] ? { ...each, icon: iconIn(icons[i]) } : each));
    return { ...candidateOf(text, withIcons, textRules), iconRules };
  });

const scene = fc.record({
  candidates: fc.array(candidate, { maxLength: 40 }),
  keepFree: fc.array(box, { maxLength: 4 }),
});

/** The text or the icon of a label, with its collision boxes. */
interface Part {
  readonly collisionRules: CollisionRules;
  readonly boxes: readonly PixelBox[];
  readonly padded: readonly PixelBox[];
}

function partsOf({ candidate: { textRules, iconRules }, placement: { boxes, icon } }: PlacedLabel): Part[] {
  const part = (collisionRules: CollisionRules, own: readonly PixelBox[]): Part => {
    return { collisionRules, boxes: own, padded: own.map((each) => padded(each, collisionRules.padding)) };
  };
  return [part(textRules, boxes), ...(icon && iconRules ? [part(iconRules, icon.boxes)] : [])];
}

test('labels never overlap against their rules, touch reserved boxes or cross the edge', () => {
  fc.assert(
    fc.property(scene, ({ candidates, keepFree }) => {
      const placed = placeLabels(candidates, image, keepFree);
      for (const [i, label] of placed.entries()) {
        const before = placed.slice(0, i).flatMap(partsOf);
        for (const part of partsOf(label)) {
          for (const { minX, minY, maxX, maxY } of part.boxes) {
            expect(minX >= 0 && minY >= 0 && maxX <= image.width && maxY <= image.height).toBe(true);
          }
          expect(part.padded.some((a) => keepFree.some((b) => intersect(a, b)))).toBe(false);
          if (part.collisionRules.overlap !== 'never') continue;
          const obstacles = before.filter(({ collisionRules }) => collisionRules.isObstacle);
          expect(obstacles.some((other) => other.padded.some((b) => part.padded.some((a) => intersect(a, b))))).toBe(
            false,
          );
        }
      }
    }),
  );
});

/** The oracle: compares each placement with all labels placed before. */
function placeSlowly(candidates: readonly Candidate[], keepFree: readonly PixelBox[]): PlacedLabel[] {
  const placed: PlacedLabel[] = [];
  for (const candidate of candidates) {
    const { textRules, iconRules } = candidate;
    const fits = (label: PlacedLabel) => partsOf(label).every((part) => partFits(part, placed, keepFree));
    const middleOf = ({ runs, icon }: Placement) => (runs.length > 0 ? (icon ?? runs[0]) : undefined);
    const repeats = (placement: Placement) =>
      placed.some(({ candidate: { text }, placement: before }) => {
        const [own, other] = [middleOf(placement), middleOf(before)];
        return (
          own &&
          other &&
          text === candidate.text &&
          Math.hypot(other.x - own.x, other.y - own.y) < textRules.minRepeatPx
        );
      });
    const all = [...candidate.placements()];
    const whole = all.find((placement) => !repeats(placement) && fits({ candidate, placement }));
    // For each placement, the text alone comes before the icon alone.
    const halves = all.flatMap((each): Placement[] => {
      const { runs, boxes, icon } = each;
      return [
        ...(icon && iconRules?.isOptional && !repeats(each) ? [{ runs, boxes }] : []),
        ...(icon && textRules.isOptional ? [{ runs: [], boxes: [], icon }] : []),
      ];
    });
    const placement = whole ?? halves.find((half) => fits({ candidate, placement: half }));
    if (placement) placed.push({ candidate, placement });
  }
  return placed;
}

function partFits(
  { collisionRules, boxes, padded: own }: Part,
  placed: readonly PlacedLabel[],
  keepFree: readonly PixelBox[],
): boolean {
  const hits = (others: readonly PixelBox[]) => others.some((other) => own.some((part) => touches(part, other)));
  const inside = boxes.every(({ minX, minY, maxX, maxY }) => minX >= 0 && minY >= 0 && maxX <= 300 && maxY <= 200);
  const blocked = placed.flatMap(partsOf).some((other) => {
    const conflicts =
      collisionRules.overlap === 'never' ||
      (collisionRules.overlap === 'cooperative' && other.collisionRules.overlap === 'never');
    return other.collisionRules.isObstacle && conflicts && hits(other.padded);
  });
  return inside && !blocked && !hits(keepFree);
}

const touches = (a: PixelBox, b: PixelBox) =>
  a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;

test('each label takes its first free placement, like the oracle', () => {
  fc.assert(
    fc.property(scene, ({ candidates, keepFree }) => {
      expect(placeLabels(candidates, image, keepFree)).toEqual(placeSlowly(candidates, keepFree));
    }),
    { numRuns: 200 },
  );
});

test('halos are not cut off at the edge', () => {
  const atEdge: Placement = {
    runs: [{ text: 'a', x: 0, y: 0, angle: 0 }],
    boxes: [{ minX: 1, minY: 1, maxX: 30, maxY: 10 }],
  };
  const plain = candidateOf('a', [atEdge]);
  expect(placeLabels([plain], image, [])).toHaveLength(1);
  expect(placeLabels([{ ...plain, textStyle: textStyleFor('a', { haloWidthPx: 2 }) }], image, [])).toHaveLength(0);
});

const rowAt = (x: number): Placement => ({
  runs: [{ text: 'a', x, y: 0, angle: 0 }],
  boxes: [{ minX: x, minY: 20, maxX: x + 30, maxY: 30 }],
});
const landmark = { ...candidateOf('landmark', [rowAt(40)]), reservesSpace: true };
const placesOf = (placed: readonly PlacedLabel[]) =>
  Object.fromEntries(placed.map(({ candidate: { text }, placement }) => [text, placement.runs[0]?.x]));
const textsOf = (placed: readonly PlacedLabel[]) => placed.map(({ candidate: { text } }) => text);

test('a street leaves a landmark its space if it has another place', () => {
  const street = { ...candidateOf('street', [rowAt(50), rowAt(150)]), leavesSpace: 'preferably' as const };
  const placed = placeLabels([street, landmark], image, []);
  expect(textsOf(placed)).toEqual(['street', 'landmark']);
  expect(placed[0]!.placement.runs[0]!.x).toBe(150);
});

test('a country leaves its capital space with the padding of both', () => {
  const rules = { ...landmark.textRules, padding: evenPadding(4) };
  const capital = { ...landmark, textRules: rules };
  const country = {
    ...candidateOf('country', [rowAt(50), rowAt(76), rowAt(150)]),
    textRules: rules,
    leavesSpace: 'preferably' as const,
  };
  const placed = placeLabels([country, capital], image, []);
  expect(placed.map(({ placement }) => placement.runs[0]!.x)).toEqual([150, 40]);
});

test('a street leaves space for the padded icon of a landmark, also of one whose text has none', () => {
  const iconAt = (x: number): Placement => ({
    ...rowAt(x),
    icon: iconIn([{ minX: x, minY: 40, maxX: x + 10, maxY: 50 }]),
  });
  const rules = { padding: evenPadding(4), overlap: 'never', isObstacle: true, isOptional: false } as const;
  const museum = (text: string, x: number): Candidate => ({
    ...candidateOf(text, [iconAt(x)], { isOptional: true }),
    iconRules: rules,
    reservesSpace: true,
  });
  const besideIcon = (x: number): Placement => ({
    ...rowAt(x),
    boxes: [{ minX: x, minY: 40, maxX: x + 30, maxY: 50 }],
  });
  // The first street is within the padding of the first icon, and the second one on the second icon.
  const streets = [53, 62].map((x, i) => ({
    ...candidateOf(`street ${i}`, [besideIcon(x), besideIcon(120 + 60 * i)]),
    leavesSpace: 'preferably' as const,
  }));
  const placed = placeLabels([...streets, museum('first', 40), museum('second', 66)], image, []);
  expect(placesOf(placed)).toMatchObject({ 'street 0': 120, 'street 1': 180, first: 40 });
  expect(placed[3]!.placement).toMatchObject({ runs: [], icon: { boxes: [{ minX: 66 }] } });
});

test('a street that finds all its places reserved takes that of the landmark that moves the fewest names', () => {
  const landmarkAt = (x: number, movesOthers: boolean, mostMoves: number): Candidate => ({
    ...candidateOf(`at ${x}`, [rowAt(x)]),
    reservesSpace: true,
    movesOthers,
    mostMoves,
  });
  const street = { ...candidateOf('street', [40, 90, 140, 190].map(rowAt)), leavesSpace: 'preferably' as const };
  const [most, less, least] = [landmarkAt(40, true, 40), landmarkAt(90, true, 12), landmarkAt(140, false, 0)];
  const same = { ...candidateOf('same', [rowAt(190)]), reservesSpace: true };
  expect(placesOf(placeLabels([street, most, less, least, same], image, []))).toMatchObject({ street: 140 });
  expect(placesOf(placeLabels([street, most, less, landmarkAt(140, true, 40), most], image, []))).toMatchObject({
    street: 190,
  });
  const narrow = { ...street, placements: () => [40, 90].map(rowAt) };
  expect(placesOf(placeLabels([narrow, most, less], image, []))).toEqual({ street: 90, 'at 40': 40 });
});

test('a street moves other streets before it takes the space of a landmark', () => {
  const street = (text: string, ...xs: number[]): Candidate => ({
    ...candidateOf(text, xs.map(rowAt)),
    leavesSpace: 'preferably',
    movesOthers: true,
  });
  const reserved = { ...candidateOf('landmark', [rowAt(50)]), reservesSpace: true };
  const placed = placeLabels([street('first', 120, 200), street('second', 50, 125), reserved], image, []);
  expect(placesOf(placed)).toEqual({ first: 200, second: 125, landmark: 50 });
  // Where the others cannot move, it has no other place.
  const stuck = placeLabels([street('first', 120), street('second', 50, 125), reserved], image, []);
  expect(placesOf(stuck)).toEqual({ first: 120, second: 50 });
});

test('a bridge that is shorter than its name moves the name of the river, also where a landmark has space', () => {
  const river = { ...candidateOf('river', [20, 150].map(rowAt)), leavesSpace: 'preferably' as const };
  const bridge = (placement: Placement): Candidate => ({
    ...candidateOf('bridge', [placement]),
    leavesSpace: 'preferably',
    movesOthers: true,
  });
  const beside = { ...candidateOf('landmark', [rowAt(60)]), reservesSpace: true };
  const placed = (placement: Placement) => placesOf(placeLabels([river, bridge(placement), beside], image, []));
  expect(placed({ ...rowAt(35), isExtended: true })).toEqual({ river: 150, bridge: 35 });
  expect(placed(rowAt(35))).toEqual({ river: 20, landmark: 60 });
});

test('a landmark does not displace a street that has no other place, but the second name of one', () => {
  const only = candidateOf('street', [rowAt(50)]);
  expect(textsOf(placeLabels([{ ...only, leavesSpace: 'preferably' }, landmark], image, []))).toEqual(['street']);
  expect(textsOf(placeLabels([{ ...only, leavesSpace: 'always' }, landmark], image, []))).toEqual(['landmark']);
});

test('a street moves the name of another street that has another place, but not for the space of a landmark', () => {
  const street = (text: string, ...xs: number[]) => ({
    ...candidateOf(text, xs.map(rowAt)),
    leavesSpace: 'preferably' as const,
    movesOthers: true,
  });
  const long = street('long', 50, 150);
  expect(placesOf(placeLabels([long, street('short', 50)], image, []))).toEqual({ long: 150, short: 50 });
  expect(textsOf(placeLabels([street('long', 50), street('short', 50)], image, []))).toEqual(['long']);
  const elsewhere = { ...landmark, placements: () => [rowAt(150)] };
  expect(placesOf(placeLabels([long, street('short', 50), elsewhere], image, []))).toEqual({ long: 50, landmark: 150 });
});

/** Texts of which some reserve space, and others leave it. */
const crowd = fc.array(
  fc
    .record({
      text: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      placements: fc.array(placement, { minLength: 1, maxLength: 4 }),
      padding: collisionRules.padding,
      space: fc.constantFrom({ reservesSpace: true, movesOthers: true }, { leavesSpace: 'preferably' as const }, {}),
    })
    .map(
      ({ text, placements, padding, space }): Candidate => ({
        ...candidateOf(text, placements, { padding }),
        ...space,
      }),
    ),
  { maxLength: 40 },
);

test('labels that are prepared once are placed around any boxes as if they were prepared for these', () => {
  fc.assert(
    fc.property(
      crowd,
      fc.array(fc.array(box, { maxLength: 3 }), { minLength: 2, maxLength: 4 }),
      (candidates, maps) => {
        const prepared = prepareLabels(candidates, image);
        for (const keepFree of maps) {
          expect(prepared.place(keepFree)).toEqual(placeLabels(candidates, image, keepFree));
        }
      },
    ),
  );
});

test('labels that move for others are placed once, inside the image, and overlap none', () => {
  fc.assert(
    fc.property(crowd, fc.array(box, { maxLength: 3 }), (candidates, keepFree) => {
      const placed = placeLabels(candidates, image, keepFree);
      expect(new Set(placed.map(({ candidate }) => candidate)).size).toBe(placed.length);
      for (const [i, label] of placed.entries()) {
        expect([...label.candidate.placements()]).toContain(label.placement);
        const part = partsOf(label)[0]!;
        const others = placed.filter((_, j) => j !== i).map((other) => partsOf(other)[0]!.padded);
        expect(part.boxes.every(({ minX, maxX }) => minX >= 0 && maxX <= image.width)).toBe(true);
        expect([keepFree, ...others].flat().some((other) => part.padded.some((own) => intersect(own, other)))).toBe(
          false,
        );
      }
    }),
  );
});

const country = (name: string, ...xs: readonly number[]): Candidate => ({
  ...candidateOf(name, xs.map(rowAt)),
  leavesSpace: 'preferably',
});
const capital = (name: string, ...xs: readonly number[]): Candidate => ({
  ...candidateOf(name, xs.map(rowAt)),
  reservesSpace: true,
  movesOthers: true,
});

test('a capital whose space two countries took moves them, and they move others', () => {
  const candidates = [
    country('France', 0, 70),
    country('Belgium', 35, 105),
    country('Netherlands', 70, 140),
    capital('Brussels', 10),
  ];
  // Brussels needs the space of France and Belgium, and Belgium that of the Netherlands.
  expect(placesOf(placeLabels([...candidates, capital('Paris', 2)], image, []))).toEqual({
    France: 70,
    Belgium: 105,
    Netherlands: 140,
    Brussels: 10,
  });
});

test('a country that has no other place keeps its own, and those that were tried theirs', () => {
  const candidates = [country('Italy', 40), country('France', 80, 150), capital('Rome', 45), capital('Paris', 75)];
  expect(placesOf(placeLabels(candidates, image, []))).toEqual({ Italy: 40, France: 150, Paris: 75 });
});

/** A city with its name on the left or the right of its dot. */
const dotted = (name: string, x: number, more: Partial<Candidate> = {}): Candidate => {
  const dot = iconIn([{ minX: x - 4, minY: 36, maxX: x + 4, maxY: 44 }]);
  const beside = (left: number): Placement => ({ ...rowAt(left), icon: dot });
  const iconRules = { padding: evenPadding(1), overlap: 'never', isObstacle: true, isOptional: false } as const;
  return {
    ...candidateOf(name, [beside(x + 6), beside(x - 36)]),
    iconRules,
    reservesSpace: true,
    movesOthers: true,
    ...more,
  };
};

test('a capital beside its dot moves the country there, and not one that has no other place', () => {
  const placed = placeLabels([country('France', 45, 100), country('Spain', 190), dotted('Paris', 40)], image, []);
  expect(placesOf(placed)).toEqual({ France: 100, Spain: 190, Paris: 46 });
  const full = [country('France', 44), country('Spain', 8), dotted('Paris', 40)];
  expect(textsOf(placeLabels(full, image, []))).toEqual(['France', 'Spain']);
});

test('a street leaves the name of a landmark the side of its icon that other landmarks do not need', () => {
  const textRules = { ...candidateOf('', []).textRules, isOptional: true };
  const museum = dotted('museum', 40, { textRules, movesOthers: false });
  // The first landmark needs the space on the right of the museum.
  const first = { ...candidateOf('first', [rowAt(50)]), reservesSpace: true };
  const placed = placeLabels([country('street', 10, 150), first, museum], image, []);
  expect(placesOf(placed)).toEqual({ street: 150, first: 50, museum: 4 });
  const without = placeLabels([country('street', 10), first, museum], image, []);
  expect(without[2]!.placement).toMatchObject({ runs: [] });
});

const named = (x: number, y: number, width = 40): Placement => ({
  runs: [{ text: '', x, y, angle: 0 }],
  boxes: [{ minX: x, minY: y, maxX: x + width, maxY: y + 10 }],
});
const placedAt = (candidates: readonly Candidate[]) =>
  placeLabels(candidates, image, []).map(({ candidate: { text }, placement: { runs } }) => [text, runs[0]!.x]);

test('a station leaves a landmark its only place, although it comes first', () => {
  const iconRules: CollisionRules = { padding: evenPadding(0), overlap: 'never', isObstacle: true, isOptional: false };
  const icon = (x: number) => iconIn([{ minX: x, minY: 0, maxX: x + 8, maxY: 8 }]);
  const station: Candidate = {
    ...candidateOf('station', [
      { ...named(100, 50), icon: icon(100) },
      { ...named(200, 50), icon: icon(100) },
    ]),
    iconRules,
    reservesSpace: true,
  };
  const landmark: Candidate = { ...candidateOf('landmark', [named(120, 50)]), reservesSpace: true, movesOthers: true };
  expect(placedAt([{ ...station, leavesSpace: 'preferably' }, landmark])).toEqual([
    ['station', 200],
    ['landmark', 120],
  ]);
  // Without another side it stays, and no label is lost.
  const stuck: Candidate = { ...station, placements: () => [{ ...named(100, 50), icon: icon(100) }] };
  expect(placedAt([{ ...stuck, leavesSpace: 'preferably' }, landmark])).toEqual([['station', 100]]);
});

test('names that differ in their dashes repeat each other', () => {
  const nearby = ['Gaulle-Étoile', 'Gaulle — Étoile'].map((text, i): Candidate => {
    return { ...candidateOf(text, [named(100, 50 + 30 * i)], { minRepeatPx: 50 }), repeats: 'GaulleÉtoile' };
  });
  expect(placedAt(nearby)).toEqual([['Gaulle-Étoile', 100]]);
});

test('the distance of equal names is that of their icons, on whichever side the names stand', () => {
  const iconRules: CollisionRules = { padding: evenPadding(0), overlap: 'never', isObstacle: true, isOptional: false };
  const cafe = (x: number, textX: number): Candidate => ({
    ...candidateOf('cafe', [{ ...named(textX, 20), icon: iconIn([{ minX: x, minY: 0, maxX: x + 8, maxY: 8 }]) }], {
      minRepeatPx: 48,
    }),
    iconRules,
  });
  expect(placedAt([cafe(100, 50), cafe(130, 140)])).toEqual([['cafe', 50]]);
  expect(placedAt([cafe(100, 100), cafe(160, 160)])).toHaveLength(2);
});

const streetOf = (name: string, ...places: readonly Placement[]): Candidate => ({
  ...candidateOf(name, places),
  leavesSpace: 'preferably',
  movesOthers: true,
  hasMakeshifts: true,
});
const makeshift = (x: number, y: number): Placement => ({ ...named(x, y), isMakeshift: true });

test('an abbreviation takes no reserved space, and moves no name', () => {
  const landmark: Candidate = { ...candidateOf('landmark', [named(120, 50)]), reservesSpace: true };
  expect(placedAt([streetOf('street', makeshift(100, 50)), landmark])).toEqual([['landmark', 120]]);
  expect(placedAt([streetOf('street', named(100, 50)), landmark])).toEqual([['street', 100]]);
  const other: Candidate = { ...candidateOf('other', [named(120, 50), named(200, 80)]), leavesSpace: 'preferably' };
  const edge: Candidate = candidateOf('edge', [named(20, 50)]);
  expect(placedAt([edge, other, streetOf('street', named(20, 50), makeshift(100, 50))])).toEqual([
    ['edge', 20],
    ['other', 120],
  ]);
});

test('the name of a street that is shorter than its name moves others', () => {
  const other: Candidate = { ...candidateOf('other', [named(120, 50), named(200, 80)]), leavesSpace: 'preferably' };
  for (const place of [named(100, 50), makeshift(100, 50)])
    expect(placedAt([other, streetOf('bridge', place)])).toEqual([
      ['other', 200],
      ['bridge', 100],
    ]);
});

test('a street that moves for another may be abbreviated, and not one that moves for a landmark', () => {
  const quay = streetOf('quay', named(120, 50), makeshift(200, 50));
  expect(placedAt([quay, streetOf('bridge', named(100, 50))])).toEqual([
    ['quay', 200],
    ['bridge', 100],
  ]);
  const landmark: Candidate = { ...candidateOf('landmark', [named(100, 50)]), movesOthers: true };
  expect(placedAt([quay, landmark])).toEqual([['quay', 120]]);
});

test('a makeshift takes reserved space that its landmark did not take', () => {
  const landmark: Candidate = { ...candidateOf('landmark', [named(120, 50)]), reservesSpace: true };
  const before: Candidate = candidateOf('before', [named(150, 50)]);
  expect(placedAt([before, streetOf('bridge', makeshift(100, 50)), landmark])).toEqual([
    ['before', 150],
    ['bridge', 100],
  ]);
});

test('a landmark moves no more names than its layer allows', () => {
  const street = (x: number): Candidate => ({
    ...candidateOf(`street ${x}`, [named(x, 50), named(x, 100)]),
    leavesSpace: 'preferably',
  });
  const landmark = (mostMoves: number): Candidate => ({
    ...candidateOf('landmark', [named(100, 50, 100)]),
    movesOthers: true,
    mostMoves,
  });
  const streets = [street(90), street(150)];
  expect(placedAt([...streets, landmark(2)]).at(-1)).toEqual(['landmark', 100]);
  expect(placedAt([...streets, landmark(1)]).map(([text]) => text)).toEqual(['street 90', 'street 150']);
});
