/** The compiled painters (`assembly/`), each with the memory of the picture that they change. */
import { readFileSync } from 'node:fs';

/**
 * What is compiled. Lengths are pixels, colours are words of pixels, and opacities are 0 to 256. The files of
 * `assembly` explain each function.
 */
export interface Painters {
  readonly memory: WebAssembly.Memory;
  /** Address of the points that are added next, and how many fit. */
  readonly pointsAt: WebAssembly.Global;
  readonly maxPoints: WebAssembly.Global;
  /** How many pixels and rows areas, lines and texts may have at once. Rows are padded. */
  readonly maxPixelsAtOnce: WebAssembly.Global;
  readonly maxRowsAtOnce: WebAssembly.Global;
  /** Address of four u16 for each nearness of a text: what is blended, and what remains of the pixel below. */
  readonly shadesAt: WebAssembly.Global;
  /** Address of the picture's pixels. */
  readonly pixelsAt: WebAssembly.Global;
  /** Addresses of colours and counts as u32, and of palette entries as bytes, by the number of the colour. */
  readonly colorsAt: WebAssembly.Global;
  readonly countsAt: WebAssembly.Global;
  readonly entriesAt: WebAssembly.Global;
  /** Returns the address of the number of each pixel's colour, as u16. */
  numbersAfter(pixels: number): number;
  /** Returns the bytes of memory for a picture of so many pixels. */
  bytesFor(pixels: number): number;
  /** Must be called before anything is painted. */
  setSize(width: number, height: number): void;
  paintPixels(from: number, to: number, color: number, opacity: number): void;

  beginAreas(left: number, top: number, columns: number, rows: number): void;
  addEdges(points: number, winding: number): void;
  fillAreas(color: number, opacity: number): void;

  beginLines(minX: number, minY: number, maxX: number, maxY: number, widthPx: number, capPx: number): void;
  addLine(
    vertices: number,
    startsWithCap: boolean,
    endsWithCap: boolean,
    unitPx: number,
    left: number,
    top: number,
  ): void;
  addRing(vertices: number, unitPx: number, left: number, top: number): void;
  fillLines(color: number, opacity: number): void;

  beginText(minX: number, minY: number, maxX: number, maxY: number): void;
  beginLetters(cos: number, sin: number, fieldPx: number, unused: number, factor: number, offset: number): void;
  addLetter(columns: number, rows: number, left: number, top: number): void;
  fillText(): void;

  countColors(): number;
  recallColors(count: number): void;
  recount(minX: number, minY: number, maxX: number, maxY: number): number;
  numberOf(color: number): number;
  writeRows(): void;
}

const module = new WebAssembly.Module(readFileSync(new URL('compiled/painters.wasm', import.meta.url)));

const pageBytes = 2 ** 16;

/** Creates painters with memory for a picture of so many pixels. It never grows, so arrays in it stay valid. */
export function createPainters(pixels: number): Painters {
  const painters = new WebAssembly.Instance(module).exports as Painters;
  const { memory, bytesFor } = painters;
  memory.grow(Math.ceil((bytesFor(pixels) - memory.buffer.byteLength) / pageBytes));
  return painters;
}

/** Returns the memory for points that are added next: x and y in turn. */
export const pointsOf = ({ memory, pointsAt, maxPoints }: Painters): Float64Array =>
  new Float64Array(memory.buffer, pointsAt.value, 2 * maxPoints.value);
