/** Reads lines of JSON in a stream: objects of fields, or GeoJSON features. Blank lines are skipped. */
import { maxRowLength, type RowBatch, type SourceRow } from '../source.js';
import { type FindUnknown, objectContent, partsOf } from './objects.js';
import { counted, utf8Chunks } from './utf8.js';

const tooLong = { problem: { column: 'row', rule: `must have at most ${maxRowLength} characters` } };

/** GeoJSON text sequences begin each record with this control character. */
const recordSeparator = '\u001e';

/** Yields batches of lines. A line that is too long or no JSON is a bad row. */
export async function* ndjsonRows(
  source: AsyncIterable<Uint8Array>,
  findUnknown: FindUnknown,
): AsyncGenerator<RowBatch> {
  const count = { bytes: 0 };
  let line = 0;
  let rest = '';
  let isSkipping = false;

  function rowOf(text: string): SourceRow | undefined {
    line += 1;
    if (isSkipping || text.length > maxRowLength) {
      isSkipping = false;
      return { line, content: tooLong };
    }
    const object = (text.startsWith(recordSeparator) ? text.slice(1) : text).trim();
    return object === '' ? undefined : { line, content: objectContent(object, findUnknown) };
  }
  const rowsOf = (lines: readonly string[]): SourceRow[] => lines.flatMap((text) => rowOf(text) ?? []);

  for await (const chunk of utf8Chunks(counted(source, count))) {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    if (line === 0 && lines[0]?.startsWith('\ufeff')) lines[0] = lines[0].slice(1);
    for (const { part } of partsOf(lines)) yield { rows: rowsOf(part), bytesRead: count.bytes };
    if (rest.length <= maxRowLength) continue;
    isSkipping = true;
    rest = '';
  }
  if (line === 0 && rest.startsWith('\ufeff')) rest = rest.slice(1);
  yield { rows: rest.trim() === '' && !isSkipping ? [] : rowsOf([rest]), bytesRead: count.bytes };
}
