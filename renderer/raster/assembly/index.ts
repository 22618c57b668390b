/** What is compiled: the painters and the memory of one picture. `bitmap.ts` calls them. */
import {
  bytesFor,
  colorsAt,
  countsAt,
  entriesAt,
  maxPixelsAtOnce,
  maxPoints,
  maxRowsAtOnce,
  numbersAfter,
  pixelsAt,
  pointsAt,
  shadesAt,
} from './memory';
import { paintRun, setSize } from './pixels';

export { countColors, numberOf, recallColors, recount, writeRows } from './colors';
export { addEdges, beginAreas, fillAreas } from './coverage';
export { addLetter, beginLetters, beginText, fillText } from './letters';
export { addLine, addRing, beginLines, fillLines } from './thin-lines';
export {
  bytesFor,
  colorsAt,
  countsAt,
  entriesAt,
  maxPixelsAtOnce,
  maxPoints,
  maxRowsAtOnce,
  numbersAfter,
  pixelsAt,
  pointsAt,
  setSize,
  shadesAt,
};

/** Paints the pixels from one number to another, counted row by row. */
export function paintPixels(from: i32, to: i32, color: u32, opacity: i32): void {
  paintRun(pixelsAt + 4 * usize(from), pixelsAt + 4 * usize(to), color, opacity);
}
