/** Finds the letters of a run, with their fields and positions. They are cached, because maps repeat texts. */
import { fontKeyOf, widthEm } from '../text/measure.js';
import { isSeparable, lettersOf } from '../text/script.js';
import type { FontStyle } from '../text/text-style.js';
import { type LetterField, makeField } from './fields.js';

/** The letters of a run of text with their positions. A letter without pixels, such as a space, has no field. */
export interface RunLetters {
  readonly letters: readonly { readonly field: LetterField | null; readonly xEm: number }[];
  /** Without letter spacing. */
  readonly widthEm: number;
}

/** Limits of memory and texts. Beyond them all are forgotten, which is faster than to remember which are in use. */
const maxFieldBytes = 6 * 2 ** 20;
const maxTexts = 20_000;

let fields = new Map<string, LetterField | null | undefined>();
let texts = new Map<string, RunLetters | null>();
let fieldBytes = 0;

/** Difference to the width of the whole text from which letters are taken to change with their neighbours. */
const toleranceEm = 0.01;

/** Returns the letters of a run, or null when they cannot be drawn one by one. */
export function runLetters(text: string, font: FontStyle): RunLetters | null {
  const fontKey = fontKeyOf(font);
  const key = `${fontKey} ${text}`;
  let found = texts.get(key);
  if (found === undefined) {
    if (texts.size >= maxTexts || fieldBytes >= maxFieldBytes) forgetAll();
    found = layOut(text, font, fontKey);
    texts.set(key, found);
  }
  return found;
}

function forgetAll(): void {
  fields = new Map();
  texts = new Map();
  fieldBytes = 0;
}

/** Each letter is as far from the one before as in a text of both. So the font's kerning is kept. */
function layOut(text: string, font: FontStyle, fontKey: string): RunLetters | null {
  if (!isSeparable(text)) return null;
  const letters: { field: LetterField | null; xEm: number }[] = [];
  let xEm = 0;
  let last = '';
  for (const letter of lettersOf(text)) {
    if (last !== '') xEm += widthEm(last + letter, font) - widthEm(letter, font);
    const field = fieldOf(letter, font, fontKey);
    if (field === undefined) return null;
    letters.push({ field, xEm });
    last = letter;
  }
  const width = last === '' ? 0 : xEm + widthEm(last, font);
  return Math.abs(width - widthEm(text, font)) <= toleranceEm ? { letters, widthEm: width } : null;
}

function fieldOf(letter: string, font: FontStyle, fontKey: string): LetterField | null | undefined {
  const key = `${fontKey} ${letter}`;
  let field = fields.get(key);
  if (field === undefined && !fields.has(key)) {
    field = makeField(letter, font, fontKey);
    fields.set(key, field);
    fieldBytes += field?.values.length ?? 0;
  }
  return field;
}
