/** What is compiled: the painters and the memory of one picture. `painters.ts` describes it to TypeScript. */
export { countColors, numberOf, recallColors, recount, writeRows } from './colors';
export { addEdges, beginAreas, fillAreas } from './coverage';
export { addLetter, beginLetters, beginText, fillText } from './letters';
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
  shadesAt,
} from './memory';
export { paintPixels, setSize } from './pixels';
export { addLine, addRing, beginLines, fillLines } from './thin-lines';
