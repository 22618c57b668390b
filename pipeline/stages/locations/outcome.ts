/**
 * Encodes outcomes. An Avro record is its fields one after another, and an outcome's first field is the location: so
 * the location's bytes are copied as they came, and only the tail is encoded. A test holds the result against the plain
 * encoding.
 */
import avro from 'avsc';
import { type Codecs, frameBytes } from '../../../schemas/codecs.js';
import type { Location, Outcome } from '../../../schemas/records.js';
import type { EncodeInto } from '../../records/slab.js';
import { hasSchemaOf } from './decode.js';

/** What follows the location in an outcome. */
export type OutcomeTail = Omit<Outcome, 'location'>;

/** An outcome to encode. `frame` is the location's record value as it was read. */
export interface EncodableOutcome {
  readonly location: Location;
  readonly frame: Buffer;
  readonly tail: OutcomeTail;
}

/** The tail's type is cut out of the outcome's, so that the two cannot drift apart. */
function tailTypeOf(outcomeType: avro.Type): avro.Type {
  const { fields } = outcomeType.schema({ exportAttrs: true }) as { fields: unknown[] };
  return avro.Type.forSchema({ type: 'record', name: 'OutcomeTail', fields: fields.slice(1) } as avro.Schema, {
    wrapUnions: false,
    registry: {},
  });
}

/**
 * An encoder of framed outcomes. Locations written with an older schema are encoded anew, for their bytes no longer
 * fit.
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
