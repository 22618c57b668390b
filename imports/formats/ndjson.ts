/**
 * Reads lines of JSON in a stream: objects of fields, or GeoJSON features. Blank lines are skipped. A file that begins
 * with the separator of JSON text sequences (RFC 7464) is one: its records may have several lines.
 */
import { maxRowLength, type RowBatch, type SourceRow } from '../source.js';
import { type ObjectRules, objectContent, partsOf } from './objects.js';
import { counted, utf8Chunks } from './utf8.js';

const tooLong = { problem: { column: 'row', rule: `must have at most ${maxRowLength} characters` } };

/** Text sequences begin each record with this control character. */
const recordSeparator = '\u001e';

/**
 * Yields batches of lines, or of the records of a text sequence, whose line is their number. One that is too long or no
 * JSON is a bad row.
 */
export async function* ndjsonRows(source: AsyncIterable<Uint8Array>, rules: ObjectRules): AsyncGenerator<RowBatch> {
  const count = { bytes: 0 };
  let line = 0;
  let rest = '';
  let isSkipping = false;
  let separator: string | undefined;

  function rowOf(text: string): SourceRow | undefined {
    line += 1;
    if (isSkipping || text.length > maxRowLength) {
      isSkipping = false;
      return { line, content: tooLong };
    }
    const object = (text.startsWith(recordSeparator) ? text.slice(1) : text).trim();
    return object === '' ? undefined : { line, content: objectContent(object, rules) };
  }
  const rowsOf = (lines: readonly string[]): SourceRow[] => lines.flatMap((text) => rowOf(text) ?? []);

  for await (const chunk of utf8Chunks(counted(source, count))) {
    let text = chunk.toString('utf8');
    if (separator === undefined) {
      if (text.startsWith('\ufeff')) text = text.slice(1);
      if (text === '') continue;
      separator = text.startsWith(recordSeparator) ? recordSeparator : '\n';
      if (separator === recordSeparator) text = text.slice(1);
    }
    const lines = (rest + text).split(separator);
    rest = lines.pop() ?? '';
    for (const { part } of partsOf(lines)) yield { rows: rowsOf(part), bytesRead: count.bytes };
    if (rest.length <= maxRowLength) continue;
    isSkipping = true;
    rest = '';
  }
  yield { rows: rest.trim() === '' && !isSkipping ? [] : rowsOf([rest]), bytesRead: count.bytes };
}
