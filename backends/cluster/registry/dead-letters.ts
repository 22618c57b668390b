/**
 * A dead letter holds a record of another topic as it came. If that was under an id of ours, reading has put the fixed
 * id into it; before the letter is written, the registry's is put back. No I/O.
 */
import type { Topic } from '../../../pipeline/ports.js';
import { codecs, frameBytes } from '../../../schemas/codecs.js';
import type { WireSchemas } from './wire-schemas.js';

/** Changes the letter's frame in place, where a codec of this process wrote it. */
export function restoreRecord(letter: Buffer, toWire: WireSchemas['toWire']): void {
  if (letter.length <= frameBytes || letter.readUInt32BE(1) !== codecs.deadLetter.schemaId) return;
  const content = codecs.deadLetter.decode(letter);
  if (content.value === null) return;
  toWire(content.topic as Topic, content.value);
  // Of the same length: nothing but an id has changed.
  codecs.deadLetter.encodeInto(content, letter, 0);
}
