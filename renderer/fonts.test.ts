import { createCanvas } from '@napi-rs/canvas';
import { expect, test } from 'vitest';
import { type FontFace, type FontFamily, fontFamilies, fontOf, fontPath, nameOf, registerFonts } from './fonts.js';
import { charactersOf } from './glyphs/characters.js';

/** Every script that we promise, with the family that it is to be drawn in. */
const samples: readonly (readonly [script: string, sample: string, packageName: string])[] = [
  ['Latin', 'ĞüŁódź Straße Reykjavík ĐồngHới', 'noto-sans'],
  ['Cyrillic', 'Санкт-Петербург Київ Љубљана', 'noto-sans'],
  ['Greek', 'Αθήνα Θεσσαλονίκη', 'noto-sans'],
  ['Devanagari', 'नई दिल्ली कुर्ला', 'noto-sans'],
  ['Arabic', 'شارع الملك فهد', 'noto-sans-arabic'],
  ['Hebrew', 'תל־אביב', 'noto-sans-hebrew'],
  ['Thai', 'กรุงเทพมหานคร', 'noto-sans-thai'],
  ['Japanese', 'とうきょう新宿区トウキョウ', 'noto-sans-jp'],
  ['Korean', '서울특별시', 'noto-sans-kr'],
  ['Simplified Chinese', '北京东城区广场路', 'noto-sans-sc'],
];

const faces: readonly FontFace[] = ['regular', 'medium', 'bold', 'italic'];

function draw(text: string, font: string): Buffer {
  const canvas = createCanvas(600, 60);
  const context = canvas.getContext('2d');
  context.font = font;
  context.fillText(text, 10, 40);
  return Buffer.from(canvas.data());
}

/** No font has a shape for it. */
const noCharacter = '\u{10fffe}';

/** What is wrong with a text in the fonts of maps, if it is to be drawn in this family alone. */
function problemsOf(text: string, family: FontFamily, face: FontFace): string[] {
  const path = fontPath(family, family.hasItalic || face !== 'italic' ? face : 'regular');
  if (path === undefined) return [`the font ${family.package} is not installed`];
  const has = charactersOf(path);
  const lacking = [...text].filter((character) => character !== ' ' && !has(character.codePointAt(0)!));
  const drawn = draw(text, fontOf(24, face, family.han));
  return [
    ...(lacking.length > 0 ? [`${family.package} lacks ${lacking.join(' ')}`] : []),
    ...(drawn.equals(draw(text, `24px "${nameOf(family, face)}"`)) ? [] : ['another font steps in']),
    ...(drawn.equals(draw(noCharacter.repeat([...text].length), fontOf(24, face, family.han)))
      ? ['boxes are drawn']
      : []),
  ];
}

const familyOf = (packageName: string) => fontFamilies.find((family) => family.package === packageName)!;

test.each(samples)('%s is drawn in our own font, and in no other', (_script, sample, packageName) => {
  registerFonts();
  for (const face of faces) expect(problemsOf(sample, familyOf(packageName), face)).toEqual([]);
});

test('a missing font is detected', () => {
  const thai = samples.find(([script]) => script === 'Thai')![1];
  expect(problemsOf(thai, familyOf('noto-sans-hebrew'), 'regular')).toEqual([
    expect.stringContaining('noto-sans-hebrew lacks ก'),
    'another font steps in',
  ]);
  const gone: FontFamily = { name: 'Gone', package: 'noto-sans-gone', file: 'Gone' };
  expect(problemsOf('x', gone, 'regular')).toEqual(['the font noto-sans-gone is not installed']);
  expect(problemsOf(noCharacter, familyOf('noto-sans'), 'regular')).toContain('boxes are drawn');
});

test('each script of a text is drawn in its font', () => {
  const widthOf = (text: string, font: string) => {
    const context = createCanvas(1, 1).getContext('2d');
    context.font = font;
    return context.measureText(text).width;
  };
  const [thai, hebrew] = ['ถนน', 'רחוב'];
  const apart = widthOf(thai, '24px "Fenceline Sans Thai"') + widthOf(hebrew, '24px "Fenceline Sans Hebrew"');
  expect(widthOf(thai + hebrew, fontOf(24))).toBeCloseTo(apart, 1);
});

test('faces differ', () => {
  const drawn = faces.map((face) => draw('Straße', fontOf(24, face)).toString('base64'));
  expect(new Set(drawn).size).toBe(faces.length);
});
