import { expect, test } from 'vitest';
import { Surface } from './surface.js';

const white = 0xffffffff;
const red = 0xff0000ff;
const blue = 0xffff0000;

test('the drawing engine and our painters see what the other has drawn', () => {
  const surface = new Surface(4, 3);
  surface.context.fillStyle = '#ff0000';
  surface.context.fillRect(0, 0, 4, 3);
  expect([...surface.pixels]).toEqual(Array(12).fill(red));
  surface.pixels[5] = blue;
  surface.context.fillStyle = '#ffffff';
  surface.context.fillRect(0, 0, 4, 1);
  expect([...surface.pixels]).toEqual([...Array(4).fill(white), red, blue, ...Array(6).fill(red)]);
});

test('the drawing engine draws in boxes above our pixels, whatever clip or transform it has', () => {
  const surface = new Surface(6, 6);
  surface.context.translate(3, 3);
  surface.context.beginPath();
  surface.context.rect(0, 0, 1, 1);
  surface.context.clip();
  surface.replacePixels().fill(white);
  const boxes = [
    { minX: -2, minY: 1, maxX: 2, maxY: 3 },
    { minX: 1, minY: 2, maxX: 3, maxY: 4 },
    { minX: 9, minY: 9, maxX: 12, maxY: 12 },
  ];
  surface.drawIn(boxes, (context) => {
    context.resetTransform();
    context.fillStyle = '#0000ff80';
    context.fillRect(0, 2, 6, 1);
  });
  // The clip limits what is drawn, and not which pixels the engine sees.
  expect([...surface.pixels]).toEqual(Array(36).fill(white));
});

test('what the drawing engine draws beside the boxes does not reach our pixels', () => {
  const surface = new Surface(4, 4);
  surface.replacePixels().fill(white);
  const fill = (color: string) => (context: Surface['context']) => {
    context.fillStyle = color;
    context.fillRect(0, 0, 4, 4);
  };
  surface.drawIn([{ minX: 1, minY: 1, maxX: 3, maxY: 2 }], fill('#ff0000'));
  const rows = [[white, white, white, white], [white, red, red, white], Array(4).fill(white), Array(4).fill(white)];
  expect([...surface.pixels]).toEqual(rows.flat());
  surface.drawIn([], fill('#0000ff'));
  expect([...surface.pixels]).toEqual(rows.flat());
});

test('pixels of a closed surface do not appear in the next one', () => {
  const first = new Surface(8, 8);
  first.replacePixels().fill(blue);
  const box = first.box({ minX: 2, minY: 2, maxX: 4, maxY: 3 });
  first.close();
  const second = new Surface(4, 4);
  second.replacePixels().fill(white);
  second.setBox({ minX: 0, minY: 0, maxX: 2, maxY: 1 }, box);
  expect([...second.pixels]).toEqual([blue, blue, ...Array(14).fill(white)]);
  const third = new Surface(4, 4);
  expect([...third.pixels]).toEqual(Array(16).fill(0));
});
