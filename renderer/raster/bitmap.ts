/** Pixels, and what paints on them: areas, thin lines and runs of pixels. */
import { ReusedMemory } from '../reused-memory.js';
import type { PixelBox } from '../types.js';
import { Coverage } from './coverage.js';
import type { Ink } from './ink.js';
import { createPainters, type Painters } from './painters.js';
import { ThinLines } from './thin-lines.js';

/** A pixel has four bytes, and two for the number of its colour. */
const pixelBytes = 6;

/** Pixels that may pad a row in the memory of painters. */
const maxPadding = 256;

/** The memory of a bitmap, which one after the other uses. */
class BitmapMemory {
  readonly painters: Painters;
  readonly coverage: Coverage;
  readonly thinLines: ThinLines;

  constructor(readonly byteLength: number) {
    this.painters = createPainters(byteLength / pixelBytes);
    this.coverage = new Coverage(this.painters);
    this.thinLines = new ThinLines(this.painters);
  }
}

/** Enough for a map of 600 by 400 at scale 2. Larger maps are rare, and their memory would rarely be used. */
const maxFreeBytes = 8 * 2 ** 20;
const memories = new ReusedMemory(maxFreeBytes, (byteLength) => new BitmapMemory(byteLength));

/** The pixels of a picture, in memory that is used again after `free`. */
export class Bitmap {
  /** Row by row: red, green, blue and opacity in the order of bytes. */
  readonly pixels: Uint32Array;
  readonly #memory: BitmapMemory;

  /** Creates a bitmap of a size in pixels. Their content is undefined. */
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.#memory = memories.take(pixelBytes * width * height);
    const { memory, pixelsAt, setSize } = this.painters;
    this.pixels = new Uint32Array(memory.buffer, pixelsAt.value, width * height);
    setSize(width, height);
  }

  /** The box of all pixels. */
  get area(): PixelBox {
    return { minX: 0, minY: 0, maxX: this.width, maxY: this.height };
  }

  /** Returns parts of a box that painters have space for, one below the other. Nearly all boxes have one. */
  bands(box: PixelBox): PixelBox[] {
    const { maxPixelsAtOnce, maxRowsAtOnce } = this.painters;
    const rows = Math.min(maxRowsAtOnce.value, Math.floor(maxPixelsAtOnce.value / (this.width + maxPadding)));
    const bands: PixelBox[] = [];
    for (let { minY } = box; minY < box.maxY; minY += rows)
      bands.push({ ...box, minY, maxY: Math.min(box.maxY, minY + rows) });
    return bands;
  }

  /** Counts colours, writes rows, and paints letters. */
  get painters(): Painters {
    return this.#memory.painters;
  }

  /** Fills areas. */
  get coverage(): Coverage {
    return this.#memory.coverage;
  }

  /** Draws lines that are hardly wider than a pixel. */
  get thinLines(): ThinLines {
    return this.#memory.thinLines;
  }

  /** Paints the pixels from one number to another, counted row by row. */
  paint(from: number, to: number, { word, opacity }: Ink): void {
    this.painters.paintPixels(from, to, word, opacity);
  }

  /** Frees the memory for other bitmaps. Neither the bitmap nor its pixels may be used any more. */
  close(): void {
    memories.giveBack(this.#memory);
  }
}
