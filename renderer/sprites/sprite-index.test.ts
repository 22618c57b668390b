import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeSpriteIndex, maxEntries, maxIndexBytes } from './sprite-index.js';

const picture = { width: 64, height: 32 };
const good = { x: 0, y: 0, width: 16, height: 16, pixelRatio: 1 };

function decode(value: unknown) {
  return decodeSpriteIndex(Buffer.from(JSON.stringify(value)), picture);
}

/** What is wrong with an index of one good image and another. */
function problemsOf(other: unknown): string[] {
  const index = decode({ good, other });
  if (!index.ok) throw new TypeError(index.problem.rule);
  expect([...index.value.entries.keys()]).toEqual(index.value.problems.length > 0 ? ['good'] : ['good', 'other']);
  return index.value.problems.map(({ param, rule }) => `${param} ${rule}`);
}

test('an image has a position and default fields', () => {
  const index = decode({ plain: { x: 1, y: 2, width: 3, height: 4 }, rich: { ...good, sdf: true, pixelRatio: 2 } });
  expect(index.ok && [...index.value.entries]).toMatchObject([
    ['plain', { x: 1, y: 2, width: 3, height: 4, pixelRatio: 1, sdf: false, stretchX: null, content: null }],
    ['rich', { pixelRatio: 2, sdf: true }],
  ]);
  expect(
    problemsOf({
      ...good,
      x: 48,
      y: 16,
      stretchX: [
        [2, 6],
        [8, 16],
      ],
      stretchY: [[0, 16]],
      content: [1, 1, 15, 15],
    }),
  ).toEqual([]);
});

test.each([
  ['nothing', null, 'other must be an object'],
  ['a list', [], 'other must be an object'],
  ['no place', { width: 1, height: 1 }, 'other.x must be a whole number from 0 to 64'],
  ['text', { ...good, y: '0' }, 'other.y must be a whole number from 0 to 32'],
  ['a fraction', { ...good, width: 1.5 }, 'other.width must be a whole number from 1 to 1024'],
  ['no height', { ...good, height: 0 }, 'other.height must be a whole number from 1 to 1024'],
  ['more than is there', { ...good, x: 49 }, 'other.width must end within the picture, 64 pixels wide'],
  ['more than is there', { ...good, y: 17 }, 'other.height must end within the picture, 32 pixels high'],
  ['no density', { ...good, pixelRatio: 0 }, 'other.pixelRatio must be a number above 0, at most 8'],
  ['a wrong flag', { ...good, sdf: 'yes' }, 'other.sdf must be true or false'],
  [
    'stretches that overlap',
    {
      ...good,
      stretchX: [
        [0, 5],
        [4, 8],
      ],
    },
    'other.stretchX must be at most 16 pairs that ascend from 0 to 16',
  ],
  [
    'a stretch of nothing',
    { ...good, stretchY: [[5, 5]] },
    'other.stretchY must be at most 16 pairs that ascend from 0 to 16',
  ],
  [
    'content beyond it',
    { ...good, content: [0, 0, 17, 16] },
    'other.content must be the four edges of a part of the image',
  ],
])('an entry with %s is reported, and others are kept', (_what, entry, problem) => {
  expect(problemsOf(entry)).toEqual([problem]);
});

test('a malformed index is a problem', () => {
  for (const bytes of ['', 'x', '[]', '"a"', 'null']) {
    expect(decodeSpriteIndex(Buffer.from(bytes), picture)).toMatchObject({
      ok: false,
      problem: { rule: 'must be a JSON object' },
    });
  }
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, good]));
  expect(decode(many(maxEntries)).ok).toBe(true);
  expect(decode(many(maxEntries + 1))).toMatchObject({
    ok: false,
    problem: { rule: `must have at most ${maxEntries} images` },
  });
  const sized = (bytes: number) => Buffer.from(`{}${' '.repeat(bytes - 2)}`);
  expect(decodeSpriteIndex(sized(maxIndexBytes), picture).ok).toBe(true);
  expect(decodeSpriteIndex(sized(maxIndexBytes + 1), picture).ok).toBe(false);
});

test('every entry of any JSON is an image within the picture or is reported', () => {
  const number = fc.oneof(fc.integer({ min: -2, max: 70 }), fc.double());
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { x: number, y: number, width: number, height: number, pixelRatio: number, content: fc.jsonValue() },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), entry), (value) => {
      const index = decode(value);
      if (!index.ok) throw new TypeError(index.problem.rule);
      const { entries, problems } = index.value;
      for (const { x, y, width, height } of entries.values()) {
        expect(x >= 0 && y >= 0 && width >= 1 && height >= 1 && x + width <= 64 && y + height <= 32).toBe(true);
      }
      const read = JSON.parse(JSON.stringify(value)) as object;
      expect(entries.size + problems.length).toBe(Object.keys(read).length);
      for (const name of Object.keys(read)) {
        expect(entries.has(name) || problems.some(({ param }) => param === name || param.startsWith(`${name}.`))).toBe(
          true,
        );
      }
    }),
  );
});
