/**
 * Encodes outcomes. An Avro record is the sequence of its fields, and the first field of an outcome is the location:
 * the location's bytes are copied as they are, and only the tail is encoded. A test compares with the plain encoding.
 */
import { encodeWith } from '../../../schemas/avro-writer.js';
import { type Codecs, frameBytes } from '../../../schemas/codecs.js';
import { type OutcomeTail, writeOutcomeTail } from '../../../schemas/record-writers.js';
import type { Location } from '../../../schemas/records.js';
import type { EncodeInto } from '../../records/slab.js';
import { hasSchemaOf } from './decode.js';

/** An outcome to encode. `frame` is the location's record value as it was read. */
export interface EncodableOutcome {
  readonly location: Location;
  readonly frame: Buffer;
  readonly tail: OutcomeTail;
}

const encodeTail = encodeWith(writeOutcomeTail);

/**
 * Creates an encoder of framed outcomes. A location written with an older schema is encoded again, because its bytes
 * don't fit the newest schema.
 */
export function createOutcomeEncoder(codecs: Codecs): EncodeInto<EncodableOutcome> {
  return ({ location, frame, tail }, target, position) => {
    if (!hasSchemaOf(codecs.location, frame)) return codecs.outcome.encodeInto({ location, ...tail }, target, position);
    const tailPosition = position + frame.length;
    if (tailPosition > target.length) return -1;
    target[position] = 0;
    target.writeUInt32BE(codecs.outcome.schemaId, position + 1);
    frame.copy(target, position + frameBytes, frameBytes);
    return encodeTail(tail, target, tailPosition);
  };
}
