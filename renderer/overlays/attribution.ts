/** Paints the attribution: a line at the lower right, wrapped on narrow images. */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { paintStamp, StampStore } from '../draw/stamp.js';
import type { Surface } from '../draw/surface.js';
import { familiesFor, setFont } from '../fonts.js';
import type { PixelBox, Viewport } from '../types.js';

const sizePx = 10;
const lineHeightPx = 13;
const paddingPx = 4;

/** Size of the image in CSS pixels. */
type Size = Pick<Viewport, 'width' | 'height'>;

interface Layout {
  readonly lines: readonly string[];
  readonly box: PixelBox;
}

const ruler = createCanvas(1, 1).getContext('2d');
/** Kept, because most maps of a source have the same attribution, and measuring takes as long as drawing. */
const layouts = new LRUCache<string, Layout>({ max: 100 });

function layoutOf(size: Size, text: string): Layout {
  const key = `${size.width} ${size.height} ${text}`;
  let layout = layouts.get(key);
  if (!layout) {
    layout = layOut(size, text);
    layouts.set(key, layout);
  }
  return layout;
}

function useFont(context: SKRSContext2D, text: string): void {
  setFont(context, sizePx, { face: 'regular', han: 'zh', families: familiesFor(text) });
}

/** Wraps the text between words so that no line is wider than the image. */
function layOut({ width, height }: Size, text: string): Layout {
  useFont(ruler, text);
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && ruler.measureText(longer).width <= width - 2 * paddingPx) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const widest = Math.max(...lines.map((line) => ruler.measureText(line).width));
  const box = {
    minX: Math.max(0, width - widest - 2 * paddingPx),
    minY: height - lines.length * lineHeightPx - paddingPx,
    maxX: width,
    maxY: height,
  };
  return { lines, box };
}

/** Returns the box of the attribution in CSS pixels; undefined without a text. */
export function attributionBox(size: Size, text: string): PixelBox | undefined {
  return text === '' ? undefined : layoutOf(size, text).box;
}

const onLight = { strip: 'rgba(255, 255, 255, 0.72)', text: '#3a3f47' };
const onDark = { strip: 'rgba(0, 0, 0, 0.5)', text: '#c3c8cf' };

/** Memory of all lines that were drawn. */
const maxStampBytes = 2 ** 20;
const stamps = new StampStore(maxStampBytes);

/** Paints the text on a translucent strip, readable on every map. */
export function paintAttribution(surface: Surface, view: Viewport, text: string, isDark: boolean): void {
  if (text === '') return;
  const { scale } = view;
  const { box } = layoutOf(view, text);
  const [left, top] = [Math.floor(box.minX * scale), Math.floor(box.minY * scale)];
  const key = `${view.width} ${view.height} ${scale} ${isDark} ${text}`;
  const [width, height] = [Math.ceil(box.maxX * scale) - left, Math.ceil(box.maxY * scale) - top];
  const stamp = stamps.get(key, width, height, (context) => {
    context.translate(-left, -top);
    context.scale(scale, scale);
    drawAttribution(context, view, text, isDark);
  });
  paintStamp(surface, stamp, left, top);
}

/** Draws the attribution. The context's unit is the CSS pixel. */
function drawAttribution(context: SKRSContext2D, size: Size, text: string, isDark: boolean): void {
  const { lines, box } = layoutOf(size, text);
  useFont(context, text);
  const colors = isDark ? onDark : onLight;
  context.fillStyle = colors.strip;
  context.fillRect(box.minX, box.minY, box.maxX - box.minX, box.maxY - box.minY);
  context.fillStyle = colors.text;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const [index, line] of lines.entries()) {
    context.fillText(line, box.maxX - paddingPx, box.minY + paddingPx / 2 + (index + 0.5) * lineHeightPx);
  }
}
