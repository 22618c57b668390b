/**
 * Every reference view is drawn as it was when it was looked at.
 *
 * With `UPDATE_REFERENCE=1` the images that changed and the page are written anew instead.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Picture, pictureOf } from '../testing/pictures.js';
import { differenceOf, problemOf, stored, storedTolerance } from './compare.js';
import { ReferenceRenderers, referenceFolder } from './draw.js';
import { referencePage } from './page.js';
import { referenceViews } from './views.js';

const isUpdate = process.env.UPDATE_REFERENCE === '1';
const page = join(referenceFolder, 'README.md');
const images = join(referenceFolder, 'images');
const fileOf = (name: string) => join(images, `${name}.webp`);
const files = referenceViews.map(({ name }) => `${name}.webp`).sort();

const cacheFolder = mkdtempSync(join(tmpdir(), 'fenceline-reference-cache-'));
const renderers = new ReferenceRenderers(cacheFolder);
afterAll(async () => {
  await renderers.close();
  rmSync(cacheFolder, { recursive: true });
});

test.each(referenceViews)('$name', async (view) => {
  const drawn = await pictureOf(await renderers.draw(view));
  if (isUpdate) return update(view.name, drawn);
  const expected = await pictureOf(readFileSync(fileOf(view.name)));
  const problem = problemOf(drawn, expected);
  if (problem) expect.fail(`${view.name} ${problem}: see ${await keep(view.name, drawn, expected)}`);
});

test('the page and the images are those of the views', () => {
  if (isUpdate) {
    writeFileSync(page, referencePage(referenceViews));
    for (const name of readdirSync(images)) if (!files.includes(name)) rmSync(join(images, name));
  }
  expect(readFileSync(page, 'utf8')).toBe(referencePage(referenceViews));
  expect(readdirSync(images).sort()).toEqual(files);
});

test('what differs is noticed: the size, and more than a few pixels', () => {
  const white = new Picture(new Uint8Array(3 * 100 * 100).fill(255), 100, 100);
  const withDots = (count: number, value: number) =>
    new Picture(white.pixels.slice().fill(value, 0, 3 * count), 100, 100);
  expect(problemOf(withDots(50, 0), white)).toBeUndefined();
  expect(problemOf(withDots(10_000, 223), white)).toBeUndefined();
  expect(problemOf(withDots(51, 222), white)).toBe('has 0.51 % of its pixels off');
  expect(problemOf(new Picture(white.pixels, 200, 50), white)).toBe('is 200 by 50 pixels and was 100 by 100');
});

async function update(name: string, drawn: Picture): Promise<void> {
  mkdirSync(images, { recursive: true });
  const path = fileOf(name);
  const before = existsSync(path) ? await pictureOf(readFileSync(path)) : undefined;
  const isSame = before?.pixels.length === drawn.pixels.length && drawn.differences(before, storedTolerance) === 0;
  if (!isSame) writeFileSync(path, await stored(drawn));
}

/** The folder of what was drawn and, where the sizes agree, of the difference. */
async function keep(name: string, drawn: Picture, expected: Picture): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `fenceline-reference-${name}-`));
  writeFileSync(join(folder, 'drawn.webp'), await stored(drawn));
  if (drawn.pixels.length === expected.pixels.length) {
    writeFileSync(join(folder, 'difference.webp'), await stored(differenceOf(drawn, expected)));
  }
  return folder;
}
