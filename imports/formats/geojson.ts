/**
 * Reads the features of a GeoJSON FeatureCollection in a stream. Only one feature is in memory, whatever the file's
 * size: the scanner finds where each begins and ends, and the engine's parser reads it.
 */
import { BrokenSource, maxRowLength, type RowBatch } from '../source.js';
import { type ObjectRules, objectContent, partsOf } from './objects.js';
import { counted, utf8Chunks } from './utf8.js';

/** Long enough for the name of any member of a FeatureCollection. */
const maxNameCharacters = 100;
/** Depth of the members of the collection, and of the items of its list `features`. */
const memberDepth = 1;
const itemDepth = 2;

const byteOrderMark = '\ufeff';
const noCollection = 'must be a GeoJSON FeatureCollection with a list of features';

const isBlank = (character: string): boolean =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t';

/** Finds the items of the list `features` in text that arrives in pieces. */
class FeatureScanner {
  found = 0;
  hasList = false;
  #depth = 0;
  #hasEnded = false;
  #isInString = false;
  #isEscaped = false;
  /** The last string between the members of the collection. */
  #name = '';
  #isInList = false;
  #item = '';

  get isComplete(): boolean {
    return this.#depth === 0 && !this.#isInString;
  }

  /** Adds the texts of the features that end in this piece to `features`. Throws BrokenSource after the good ones. */
  push(text: string, features: string[]): void {
    let start = this.#isInItem ? 0 : -1;
    for (let at = 0; at < text.length; at++) {
      const character = text[at]!;
      if (this.#isInString) {
        this.#readString(character);
        continue;
      }
      if (character === '"') {
        this.#begin(character);
        continue;
      }
      if (character === '{' || character === '[') {
        if (this.#isBetweenItems && character === '{') start = at;
        this.#open(character);
      } else if (this.#depth === 0) {
        if (!isBlank(character) && character !== byteOrderMark) this.#refuseOutside();
      } else if (character === '}' || character === ']') {
        this.#depth -= 1;
        if (this.#isInList && this.#depth === itemDepth) {
          features.push(this.#item + text.slice(start, at + 1));
          this.found += 1;
          this.#item = '';
          start = -1;
        }
        if (this.#depth <= memberDepth) this.#isInList = false;
        if (this.#depth === 0) this.#hasEnded = true;
      } else if (this.#isBetweenItems && character !== ',' && !isBlank(character)) this.#refuseItem();
    }
    if (this.#isInItem) this.#item += text.slice(start);
    if (this.#item.length > maxRowLength) this.#refuse(`is longer than ${maxRowLength} characters`);
  }

  get #isBetweenItems(): boolean {
    return this.#isInList && this.#depth === itemDepth;
  }

  get #isInItem(): boolean {
    return this.#isInList && this.#depth > itemDepth;
  }

  #begin(character: string): void {
    if (this.#depth === 0) this.#refuseOutside();
    if (this.#isBetweenItems) this.#refuseItem();
    this.#isInString = true;
    if (this.#depth === memberDepth) this.#name = character;
  }

  #readString(character: string): void {
    const isName = this.#depth === memberDepth && this.#name.length < maxNameCharacters;
    if (isName) this.#name += character;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') this.#isInString = false;
  }

  #open(character: string): void {
    if (this.#hasEnded) this.#refuseOutside();
    if (this.#depth === memberDepth && character === '[' && this.#name === '"features"') {
      this.#isInList = true;
      this.hasList = true;
    } else if (this.#isBetweenItems && character === '[') this.#refuseItem();
    this.#depth += 1;
  }

  /** Features of a second collection would be lost without a word. */
  #refuseOutside(): never {
    const rule = this.hasList ? 'has text after its FeatureCollection; a file holds one collection' : noCollection;
    throw new BrokenSource(this.found + 1, { column: 'file', rule });
  }

  #refuseItem(): never {
    return this.#refuse('must be a feature, a JSON object');
  }

  #refuse(rule: string): never {
    throw new BrokenSource(this.found + 1, { column: 'feature', rule });
  }
}

/**
 * Yields batches of features. A feature that cannot be read is a bad row; a file that is not a FeatureCollection
 * throws.
 */
export async function* geojsonRows(source: AsyncIterable<Uint8Array>, rules: ObjectRules): AsyncGenerator<RowBatch> {
  const count = { bytes: 0 };
  const scanner = new FeatureScanner();
  for await (const chunk of utf8Chunks(counted(source, count))) {
    const first = scanner.found + 1;
    const features: string[] = [];
    let fault: unknown;
    try {
      scanner.push(chunk.toString('utf8'), features);
    } catch (error) {
      fault = error;
    }
    for (const { from, part } of partsOf(features)) {
      const rows = part.map((text, index) => ({
        line: first + from + index,
        content: objectContent(text, rules, true),
      }));
      yield { rows, bytesRead: count.bytes };
    }
    if (fault !== undefined) throw fault;
  }
  if (!scanner.hasList) throw new BrokenSource(1, { column: 'file', rule: noCollection });
  if (!scanner.isComplete)
    throw new BrokenSource(scanner.found + 1, { column: 'file', rule: 'ends before the list of features does' });
}
