/**
 * Restores the records inside dead letters. A dead letter contains a record of another topic, in which reading replaced
 * the registry's schema id by the internal one. Before the letter is written, the registry's id is put back. No I/O.
 */
import type { Topic } from '../../../pipeline/ports.js';
import { codecs, frameBytes } from '../../../schemas/codecs.js';
import type { WireSchemas } from './wire-schemas.js';

/** Changes the letter in place if a codec of this process wrote it. */
export function restoreRecord(letter: Buffer, toWire: WireSchemas['toWire']): void {
  if (letter.length <= frameBytes || letter.readUInt32BE(1) !== codecs.deadLetter.schemaId) return;
  const content = codecs.deadLetter.decode(letter);
  if (content.value === null) return;
  toWire(content.topic as Topic, content.value);
  // The length is the same: only an id has changed.
  codecs.deadLetter.encodeInto(content, letter, 0);
}
