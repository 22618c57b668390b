import { gzipSync } from 'node:zlib';
import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { pngSize } from '../png/header.js';
import { rasterizeIcon } from './rasterize.js';

describe('an icon', () => {
  const png = (width: number, height: number) => createCanvas(width, height).toBuffer('image/png');
  const svg = (content: string, size = 40) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">${content}</svg>`);

  test.each([
    ['a PNG', png(20, 10), 2, 20, 10],
    ['a large PNG, made smaller', png(640, 320), 1, 64, 32],
    ['an SVG', svg('<rect width="40" height="40"/>'), 3, 40, 40],
    ['a large SVG, made smaller', svg('<rect width="400" height="400"/>', 400), 2, 64, 64],
  ])('%s has its size in CSS pixels', async (_, bytes, scale, width, height) => {
    expect(await rasterizeIcon(bytes, scale)).toMatchObject({ ok: true, value: { width, height } });
  });

  test('of an SVG is drawn at the scale of the map', async () => {
    const icon = await rasterizeIcon(svg('<rect width="40" height="40"/>'), 3);
    expect(icon.ok && pngSize(icon.value.png)).toEqual({ width: 120, height: 120 });
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['a page that holds an SVG', Buffer.from('<html><svg xmlns="http://www.w3.org/2000/svg"/></html>')],
    ['a PNG cut short', png(20, 10).subarray(0, 40)],
    ['a compressed SVG', gzipSync(svg(''))],
    ['a PNG of too many pixels', png(2_001, 2_000)],
    ['an SVG cut short', svg('').subarray(0, 60)],
    ['an SVG too large to draw', svg('', 100_000)],
    [
      'an SVG of nested entities',
      Buffer.from(
        `<!DOCTYPE svg [${Array.from({ length: 12 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&e12;</text></svg>`,
      ),
    ],
  ])('of %s is refused', async (_, bytes) => {
    expect((await rasterizeIcon(bytes, 2)).ok).toBe(false);
  });
});
