/**
 * Encodes outcomes. An Avro record is the sequence of its fields, and the first field of an outcome is the location:
 * the location's bytes are copied as they are, and only the tail is encoded. A test compares with the plain encoding.
 */
import type avro from 'avsc';
import { Type } from '../../../schemas/avro-type.js';
import { type Codecs, frameBytes } from '../../../schemas/codecs.js';
import type { Location, Outcome } from '../../../schemas/records.js';
import type { EncodeInto } from '../../records/slab.js';
import { hasSchemaOf } from './decode.js';

/** The fields after the location. */
export type OutcomeTail = Omit<Outcome, 'location'>;

/** An outcome to encode. `frame` is the location's record value as it was read. */
export interface EncodableOutcome {
  readonly location: Location;
  readonly frame: Buffer;
  readonly tail: OutcomeTail;
}

/** Derives the tail's type from the outcome's, so that the two cannot drift apart. */
function tailTypeOf(outcomeType: avro.Type): avro.Type {
  const { fields } = outcomeType.schema({ exportAttrs: true }) as { fields: unknown[] };
  return Type.forSchema({ type: 'record', name: 'OutcomeTail', fields: fields.slice(1) } as avro.Schema, {
    wrapUnions: false,
    registry: {},
  });
}

/**
 * Creates an encoder of framed outcomes. A location written with an older schema is encoded again, because its bytes
 * don't fit the newest schema.
 */
export function createOutcomeEncoder(codecs: Codecs): EncodeInto<EncodableOutcome> {
  const tailType = tailTypeOf(codecs.outcome.type);
  return ({ location, frame, tail }, target, position) => {
    if (!hasSchemaOf(codecs.location, frame)) return codecs.outcome.encodeInto({ location, ...tail }, target, position);
    const tailPosition = position + frame.length;
    if (tailPosition > target.length) return -1;
    target[position] = 0;
    target.writeUInt32BE(codecs.outcome.schemaId, position + 1);
    frame.copy(target, position + frameBytes, frameBytes);
    const end = tailType.encode(tail, target, tailPosition) as unknown as number;
    return end < 0 ? -1 : end;
  };
}
