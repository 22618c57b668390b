/**
 * Draws every reference view and compares image and labels with those that were approved.
 *
 * With `UPDATE_REFERENCE=1` the test writes the images that changed, the labels and the page instead.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cachedBasemap, rendererCacheFolder } from '../testing/basemap-cache.js';
import { Picture, pictureOf } from '../testing/pictures.js';
import { differenceOf, encoded, type LabelRecord, labelProblems, pictureProblem } from './compare.js';
import { ReferenceRenderers, referenceFolder } from './draw.js';
import { referencePage } from './page.js';
import { referenceViews } from './views.js';

const isUpdate = process.env.UPDATE_REFERENCE === '1';
const page = join(referenceFolder, 'README.md');
const images = join(referenceFolder, 'images');
const labelFile = join(referenceFolder, 'labels.json');
const fileOf = (name: string) => join(images, `${name}.webp`);
const files = referenceViews.map(({ name }) => `${name}.webp`).sort();

const approvedLabels = existsSync(labelFile)
  ? (JSON.parse(readFileSync(labelFile, 'utf8')) as Record<string, readonly LabelRecord[]>)
  : {};
const drawnLabels = new Map<string, readonly LabelRecord[]>();

const renderers = new ReferenceRenderers(rendererCacheFolder);
beforeAll(async () => {
  await cachedBasemap();
});
afterAll(() => renderers.close());

test.each(referenceViews)('$name', async (view) => {
  const { bytes, labels } = await renderers.draw(view);
  const drawn = await pictureOf(bytes);
  drawnLabels.set(view.name, labels);
  if (isUpdate) return update(view.name, drawn);
  const moved = labelProblems(labels, approvedLabels[view.name] ?? []);
  const expected = await pictureOf(readFileSync(fileOf(view.name)));
  const problem = pictureProblem(drawn, expected);
  if (!problem && moved.length === 0) return;
  const image = problem
    ? `the image ${problem}: see ${await keep(view.name, drawn, expected)}`
    : 'the image is unchanged';
  expect.fail([`${view.name}: ${image}`, ...moved].join('\n'));
});

test('the page, the images and the labels belong to the views', () => {
  if (isUpdate) {
    writeFileSync(page, referencePage(referenceViews));
    writeFileSync(labelFile, labelText());
    for (const name of readdirSync(images)) if (!files.includes(name)) rmSync(join(images, name));
    return;
  }
  expect(readFileSync(page, 'utf8')).toBe(referencePage(referenceViews));
  expect(readdirSync(images).sort()).toEqual(files);
  expect(Object.keys(approvedLabels)).toEqual(referenceViews.map(({ name }) => name));
});

describe('the comparison reports', () => {
  const gray = new Picture(new Uint8Array(3 * 200 * 300).fill(200), 300, 200);
  const changed = (pixels: number, value: number) =>
    new Picture(gray.pixels.slice().fill(value, 0, 3 * pixels), 300, 200);

  test('more than 30 of 60,000 pixels', () => {
    expect(pictureProblem(changed(30, 100), gray)).toBeUndefined();
    expect(pictureProblem(changed(31, 100), gray)).toBe('has 0.052 % wrong pixels');
  });

  test('a colour that changed by 20 in 31 pixels, and by 1 everywhere', () => {
    expect(pictureProblem(changed(31, 220), gray)).toBe('has 0.052 % wrong pixels');
    expect(pictureProblem(changed(60_000, 201), gray)).toBe('has a mean error of 1.000');
  });

  test('another size', () => {
    expect(pictureProblem(new Picture(gray.pixels, 200, 300), gray)).toBe('is 200 by 300 pixels and was 300 by 200');
  });

  test('labels that are moved, turned, lost or new', () => {
    const [roma, dante] = [
      { text: 'Via Roma', x: 100, y: 50, angle: 0 },
      { text: 'Via Dante', x: 200, y: 80, angle: 30 },
    ];
    expect(labelProblems([dante, { ...roma, x: 100.4 }], [roma, dante])).toEqual([]);
    expect(labelProblems([{ ...roma, x: 103 }, dante], [roma, dante])).toEqual([
      'moved: "Via Roma" at 100,50 is now at 103,50',
    ]);
    expect(labelProblems([roma, { ...dante, angle: -150 }], [roma, dante])).toEqual([
      'moved: "Via Dante" at 200,80 turned by 30° is now at 200,80 turned by -150°',
    ]);
    expect(labelProblems([roma], [roma, dante])).toEqual(['lost: "Via Dante" at 200,80 turned by 30°']);
    expect(labelProblems([roma, roma, dante], [roma, dante])).toEqual(['new: "Via Roma" at 100,50']);
  });
});

async function update(name: string, drawn: Picture): Promise<void> {
  mkdirSync(images, { recursive: true });
  const path = fileOf(name);
  const before = existsSync(path) ? await pictureOf(readFileSync(path)) : undefined;
  const isSame = before?.pixels.length === drawn.pixels.length && drawn.differences(before, 0) === 0;
  if (!isSame) writeFileSync(path, await encoded(drawn));
}

/** Returns the labels of all views as JSON, one line per label. */
function labelText(): string {
  const views = referenceViews.map(({ name }) => {
    const lines = (drawnLabels.get(name) ?? []).map(({ text, x, y, angle }) => {
      return `{ "text": ${JSON.stringify(text)}, "x": ${x}, "y": ${y}, "angle": ${angle} }`;
    });
    // The layout of the formatter.
    const list = lines.length < 2 ? lines.join('') : `\n    ${lines.join(',\n    ')}\n  `;
    return `  ${JSON.stringify(name)}: [${list}]`;
  });
  return `{\n${views.join(',\n')}\n}\n`;
}

/** Writes the drawn image and, when the sizes agree, its difference to a new folder. Returns the folder. */
async function keep(name: string, drawn: Picture, expected: Picture): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `fenceline-reference-${name}-`));
  writeFileSync(join(folder, 'drawn.webp'), await encoded(drawn));
  if (drawn.pixels.length === expected.pixels.length) {
    writeFileSync(join(folder, 'difference.webp'), await encoded(differenceOf(drawn, expected)));
  }
  return folder;
}
