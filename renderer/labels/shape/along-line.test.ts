import fc from 'fast-check';
import { expect, test } from 'vitest';
import { angleBetween } from '../anchors/join-lines.js';
import { type Point, Polyline } from '../anchors/polyline.js';
import type { Placement } from '../label.js';
import { inkOf, inkOutside, textStyleFor } from '../testing/styles.js';
import { letterWidths, textWidth } from '../text/measure.js';
import { lettersOf } from '../text/script.js';
import { type LineStyle, placementsAlongLine } from './along-line.js';

const upright: LineStyle = { maxAngle: Math.PI / 6, keepsUpright: true, offsetPx: 0, overhangPx: 0 };

/** A line that bends by up to 40° at each vertex. */
const bendingLine = fc
  .record({
    direction: fc.double({ min: -Math.PI, max: Math.PI, noNaN: true }),
    steps: fc.array(
      fc.record({ length: fc.integer({ min: 4, max: 60 }), turn: fc.double({ min: -0.7, max: 0.7, noNaN: true }) }),
      { minLength: 1, maxLength: 15 },
    ),
  })
  .map(({ direction, steps }) => {
    const xy = [200, 200];
    let heading = direction;
    for (const { length, turn } of steps) {
      heading += turn;
      xy.push(xy.at(-2)! + length * Math.cos(heading), xy.at(-1)! + length * Math.sin(heading));
    }
    return new Polyline(xy);
  });

function placementsOf(
  line: Polyline,
  text: string,
  style: LineStyle = upright,
  from = 0,
  to = line.length,
): Placement[] {
  const textStyle = textStyleFor(text);
  return [...placementsAlongLine({ line, from, to }, text, textWidth(text, textStyle), textStyle, style)];
}

/** Returns the distance of a point from part of a line, by sampling. */
function distanceTo(line: Polyline, [x, y]: Point, from: number, to: number): number {
  let nearest = Infinity;
  for (let i = 0; i <= 400; i++) {
    const [lineX, lineY] = line.at(from + (i / 400) * (to - from));
    nearest = Math.min(nearest, Math.hypot(x - lineX, y - lineY));
  }
  return nearest;
}

test('no letter steps aside where the line jogs', () => {
  // A street that continues 12 pixels beside itself, as where two carriageways are joined. Its end has space for the
  // name.
  const jog = new Polyline([0, 0, 50, 0, 52, 12, 300, 12]);
  const placements = placementsOf(jog, 'Sacramento Street', { ...upright, maxAngle: Math.PI / 2 });
  expect(placements).not.toEqual([]);
  for (const { runs } of placements) {
    for (const [i, run] of runs.slice(1).entries()) {
      const before = runs[i]!;
      const step = Math.atan2(run.y - before.y, run.x - before.x);
      expect(Math.abs(angleBetween(run.angle, step))).toBeLessThanOrEqual((35 * Math.PI) / 180 + 1e-9);
    }
  }
});

test('no name cracks where the line turns to one side and back', () => {
  // Via Bolognese in Florence, which steps aside by the width of a letter. The last vertex is added, as space for the
  // name.
  const street = new Polyline([
    ...[305.3, 9, 305.8, 17.7, 305.8, 25.9, 305.9, 30.5, 306.6, 36.7, 307.3, 41, 308.3, 45.1, 312.5, 49.5],
    ...[313.7, 55.4, 313.6, 61.3, 313.4, 66.5, 312.7, 76, 306, 160],
  ]);
  const textStyle = textStyleFor('Via Bolognese', { sizePx: 10 });
  const width = textWidth('Via Bolognese', textStyle);
  const section = { line: street, from: 0, to: street.length };
  const style = { ...upright, maxAngle: (40 * Math.PI) / 180 };
  const placements = [...placementsAlongLine(section, 'Via Bolognese', width, textStyle, style)];
  expect(placements).not.toEqual([]);
  for (const { runs } of placements) {
    const ways = runs.slice(1).map(({ x, y }, i) => Math.atan2(y - runs[i]!.y, x - runs[i]!.x));
    const turns = ways.slice(1).map((way, i) => angleBetween(ways[i]!, way));
    const cracks = turns
      .slice(1)
      .map((turn, i) => (turn * turns[i]! < 0 ? Math.min(...[turn, turns[i]!].map(Math.abs)) : 0));
    expect(Math.max(...cracks)).toBeLessThanOrEqual((20 * Math.PI) / 180 + 1e-9);
  }
});

test('no letters overlap where the line steps aside', () => {
  // Rue Bossuet in Paris, whose carriageways are joined at a crossing. The last vertex is added, as space for the name.
  const xy = [
    55.3, 79.3, 52.8, 70.8, 53.5, 66.8, 53, 59.5, 54, 55.5, 55.8, 51.5, 56.8, 47.8, 57.8, 42.5, 54, 41, 62.8, -9, 80.4,
    -109,
  ];
  const street = new Polyline(xy);
  const textStyle = { ...textStyleFor('Rue Bossuet'), sizePx: 11 };
  const letters = letterWidths('Rue Bossuet', textStyle);
  const width = letters.reduce((sum, letter) => sum + letter.width, 0);
  const placements = [
    ...placementsAlongLine(
      { line: street, from: 0, to: street.length },
      ...(['Rue Bossuet', width, textStyle, { ...upright, maxAngle: Math.PI / 4 }] as const),
    ),
  ];
  expect(placements).not.toEqual([]);
  for (const { runs } of placements) {
    const pitches = runs.slice(1).map((run, i) => Math.hypot(run.x - runs[i]!.x, run.y - runs[i]!.y));
    for (const [i, pitch] of pitches.entries())
      expect(pitch).toBeGreaterThan((0.79 * (letters[i]!.width + letters[i + 1]!.width)) / 2);
  }
});

test('letters lie on their section of the line, turn by at most the maximum angle, and spell the text', () => {
  let set = 0;
  fc.assert(
    fc.property(bendingLine, fc.double({ min: 0, max: 0.4, noNaN: true }), (line, share) => {
      const [from, to] = [share * line.length, line.length];
      for (const { runs } of placementsOf(line, 'Via Roma', upright, from, to)) {
        set++;
        expect(runs.map((run) => run.text).join('')).toBe('Via Roma');
        for (const { x, y } of runs) expect(distanceTo(line, [x, y], from, to)).toBeLessThan(3);
        for (const a of runs) {
          const near = runs.filter((b) => Math.hypot(a.x - b.x, a.y - b.y) <= 16);
          for (const b of near) expect(Math.abs(angleBetween(a.angle, b.angle))).toBeLessThanOrEqual(upright.maxAngle);
        }
      }
    }),
    { numRuns: 400 },
  );
  expect(set).toBeGreaterThan(20);
});

test('text on an arc has several runs, each rotated with its part of the arc', () => {
  const angles = Array.from({ length: 30 }, (_, index) => index / 10);
  const arc = new Polyline(angles.flatMap((angle) => [200 - 60 * Math.cos(angle), 200 - 60 * Math.sin(angle)]));
  const [placement] = placementsOf(arc, 'Via Roma');
  expect(placement!.runs.length).toBeGreaterThan(2);
  const turns = placement!.runs.slice(1).map((run, index) => angleBetween(run.angle, placement!.runs[index]!.angle));
  for (const turn of turns) expect(turn).not.toBe(0);
});

test('upright text reads from left to right, or upwards', () => {
  let set = 0;
  fc.assert(
    fc.property(bendingLine, (line) => {
      for (const { runs } of placementsOf(line, 'Via Roma')) {
        set++;
        const [first, last] = [runs[0]!, runs.at(-1)!];
        if (runs.length === 1) expect(Math.cos(first.angle)).toBeGreaterThan(-1e-6);
        else expect(last.x - first.x).toBeGreaterThan(-1);
      }
    }),
  );
  expect(set).toBeGreaterThan(20);
  const up = new Polyline([100, 0, 100, 200]);
  expect(placementsOf(up, 'Via Roma')[0]!.runs).toMatchObject([{ angle: -Math.PI / 2 }]);
});

test('text that is not kept upright follows the line', () => {
  const leftwards = new Polyline([300, 50, 0, 50]);
  expect(placementsOf(leftwards, 'Via Roma', { ...upright, keepsUpright: false })[0]!.runs).toMatchObject([
    { angle: Math.PI },
  ]);
  expect(placementsOf(leftwards, 'Via Roma')[0]!.runs).toMatchObject([{ angle: 0 }]);
});

const inseparable = ['شارع الملك فهد', 'שדרות בן־גוריון', 'कुर्ला मार्ग', 'ถนนสุขุมวิท'];

test.each(inseparable)('%s is never split into letters', (text) => {
  let set = 0;
  fc.assert(
    fc.property(bendingLine, (line) => {
      for (const { runs } of placementsOf(line, text)) {
        set++;
        expect(runs.map((run) => run.text)).toEqual([text]);
        expect(Math.cos(runs[0]!.angle)).toBeGreaterThan(-1e-6);
      }
    }),
  );
  expect(set).toBeGreaterThan(20);
});

test('combining marks stay with their letters', () => {
  expect(lettersOf('Ä\u0308o\u0301')).toEqual(['Ä\u0308', 'o\u0301']);
});

test('a line that is too short gets no label', () => {
  expect(placementsOf(new Polyline([0, 0, 30, 0]), 'Via Roma')).toEqual([]);
});

test('the ink is inside the collision boxes at any rotation', () => {
  fc.assert(
    fc.property(bendingLine, fc.constantFrom('Via Ággy', 'شارع الملك', 'ถนนสุขุมวิท'), (line, text) => {
      const [placement] = placementsOf(line, text);
      if (
        !placement ||
        placement.boxes.some(({ minX, minY, maxX, maxY }) => minX < 0 || minY < 0 || maxX > 400 || maxY > 400)
      )
        return;
      const ink = inkOf(textStyleFor(text), placement, 400, 400, 1);
      expect(ink.some((pixel) => pixel === 1)).toBe(true);
      expect(inkOutside(ink, placement.boxes, 400, 1, 2)).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test('an offset points below the line in reading direction', () => {
  const below: LineStyle = { ...upright, offsetPx: 10 };
  for (const xy of [
    [0, 50, 300, 50],
    [300, 50, 0, 50],
  ]) {
    expect(placementsOf(new Polyline(xy), 'Via Roma', below)[0]!.runs[0]!.y).toBeCloseTo(60);
  }
});

test('a name extends a little beyond both ends of a straight street that is too short, but not beyond a bend', () => {
  const width = textWidth('Ponte Vecchio', textStyleFor('Ponte Vecchio'));
  const bridge = new Polyline([100, 50, 100 + width - 12, 50]);
  expect(placementsOf(bridge, 'Ponte Vecchio')).toEqual([]);
  expect(placementsOf(bridge, 'Ponte Vecchio', { ...upright, overhangPx: 5 })).toEqual([]);
  const [placement, ...others] = placementsOf(bridge, 'Ponte Vecchio', { ...upright, overhangPx: 7 });
  expect(others).toEqual([]);
  expect(placement).toMatchObject({ isMakeshift: true, runs: [{ x: 100 + (width - 12) / 2, y: 50 }] });
  const bend = new Polyline([100, 50, 140, 50, 140, 50 + width - 52]);
  expect(placementsOf(bend, 'Ponte Vecchio', { ...upright, overhangPx: 7 })).toEqual([]);
});
