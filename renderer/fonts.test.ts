import { readFileSync } from 'node:fs';
import { createCanvas } from '@napi-rs/canvas';
import { expect, test } from 'vitest';
import {
  type FontFace,
  type FontFamily,
  familiesFor,
  fontFamilies,
  fontOf,
  fontPath,
  isDrawable,
  nameOf,
  setFont,
  takeMissingFonts,
} from './fonts.js';
import { charactersOf } from './glyphs/characters.js';
import { placeNames } from './testing/place-names.js';

const faces: readonly FontFace[] = ['regular', 'medium', 'bold', 'italic'];

function draw(text: string, font: string): Buffer {
  const canvas = createCanvas(600, 60);
  const context = canvas.getContext('2d');
  context.font = font;
  context.fillText(text, 10, 40);
  return Buffer.from(canvas.data());
}

const stackFor = (text: string, face: FontFace, { han }: FontFamily): string =>
  fontOf(24, face, han, familiesFor(text));

/** No font has a shape for it. */
const noCharacter = '\u{10fffe}';

const spaceOrJoiner = /[\s\u200c\u200d]/;

/** What is wrong with a text in the fonts of maps, if it is to be drawn in this family alone. */
function problemsOf(text: string, family: FontFamily, face: FontFace): string[] {
  const path = fontPath(family, face);
  if (path === undefined) return [`the font ${family.package} is not installed`];
  const has = charactersOf(path);
  const lacking = [...text].filter((character) => !spaceOrJoiner.test(character) && !has(character.codePointAt(0)!));
  const drawn = draw(text, stackFor(text, face, family));
  return [
    ...(isDrawable(text) ? [] : ['its lines are left out']),
    ...(lacking.length > 0 ? [`${family.package} lacks ${lacking.join(' ')}`] : []),
    // Spaces come from the first family of the stack.
    ...(drawn.equals(
      draw(text, `24px "Fenceline Sans${face === 'regular' ? '' : ` ${face}`}", "${nameOf(family, face)}"`),
    )
      ? []
      : ['another font steps in']),
    ...(drawn.equals(draw(noCharacter.repeat([...text].length), stackFor(text, face, family)))
      ? ['boxes are drawn']
      : []),
  ];
}

const familyOf = (packageName: string) => fontFamilies.find((family) => family.package.endsWith(`/${packageName}`))!;

test.each(placeNames)('%s: %s is drawn in our own font, and in no other', (_script, name, packageName) => {
  for (const face of faces) expect(problemsOf(name, familyOf(packageName), face)).toEqual([]);
});

test('every family draws a name', () => {
  const drawn = placeNames.map(([, , packageName]) => familyOf(packageName));
  expect(fontFamilies.filter((family) => !drawn.includes(family))).toEqual([]);
});

test('a missing font is detected', () => {
  const thai = placeNames.find(([script]) => script === 'Thai')![1];
  expect(problemsOf(thai, familyOf('noto-sans-hebrew'), 'regular')).toEqual([
    expect.stringContaining('noto-sans-hebrew lacks ก'),
    'another font steps in',
  ]);
  const gone: FontFamily = { name: 'Gone', package: 'noto-sans-gone', scripts: [], file: () => 'gone.ttf' };
  expect(problemsOf('x', gone, 'regular')).toEqual(['the font noto-sans-gone is not installed']);
  expect(problemsOf(noCharacter, familyOf('noto-sans'), 'regular')).toContain('boxes are drawn');
});

test('a text without its package is not drawable, and the package is kept once', () => {
  const isRequired = ({ isOptional }: FontFamily) => !isOptional;
  expect(isDrawable('Straße, улица', isRequired)).toBe(true);
  for (const text of ['ქუჩა', 'ქუჩა / Rue', '東京 とう']) expect(isDrawable(text, isRequired)).toBe(false);
  expect(takeMissingFonts()).toEqual(['@fontsource-variable/noto-sans-georgian', '@expo-google-fonts/noto-sans-sc']);
  expect(takeMissingFonts()).toEqual([]);
});

test('the guide lists every script and its package', () => {
  const guide = readFileSync(new URL('../docs/maps.md', import.meta.url), 'utf8');
  for (const { scripts, package: name } of fontFamilies) {
    const row = guide.split('\n').find((line) => line.includes(`\`${name}\``)) ?? '';
    for (const script of scripts) expect(row, name).toContain(script.replace('_', ' '));
  }
});

test('texts in scripts without a font are not drawable, and need no package', () => {
  expect(isDrawable('𐌲𐌿𐍄')).toBe(false);
  expect(isDrawable('Roma 𐌲𐌿𐍄')).toBe(false);
  expect(takeMissingFonts()).toEqual([]);
});

test('each script of a text is drawn in its font', () => {
  const widthOf = (text: string) => {
    const context = createCanvas(1, 1).getContext('2d');
    setFont(context, 24, { face: 'regular', han: 'zh', families: familiesFor(text) });
    return context.measureText(text).width;
  };
  expect(widthOf('ถนนרחובქუჩა')).toBeCloseTo(widthOf('ถนน') + widthOf('רחוב') + widthOf('ქუჩა'), 1);
});

test('only the families of a text are in its font', () => {
  expect(familiesFor('Straße улица 東京')).toEqual([]);
  expect(familiesFor('ქუჩა / Փողոց').map(({ scripts }) => scripts[0])).toEqual(['Armenian', 'Georgian']);
  expect(fontOf(10, 'regular', 'zh', familiesFor('ქუჩა'))).toContain('Georgian');
  expect(fontOf(10, 'regular', 'zh', familiesFor('rue'))).not.toContain('Georgian');
});

test.each(['Straße', 'ঢাকা', 'ရန်ကုန်'])('weights of %s differ', (text) => {
  const drawn = (['regular', 'medium', 'bold'] as const).map((face) => {
    const canvas = createCanvas(300, 60);
    const context = canvas.getContext('2d');
    setFont(context, 24, { face, han: 'zh', families: familiesFor(text) });
    context.fillText(text, 10, 40);
    return canvas.data().toString('base64');
  });
  expect(new Set(drawn).size).toBe(3);
});

test('italics differ from upright letters', () => {
  expect(draw('Straße', fontOf(24, 'italic', 'zh', []))).not.toEqual(draw('Straße', fontOf(24, 'regular', 'zh', [])));
});
