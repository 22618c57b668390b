/** Refuses fields of a body that are not known: a misspelt `dwellThreshold` would otherwise be off without a word. */
import type { TSchema } from 'typebox';
import type { RawFields } from '../http/fields/reader.js';
import { shownName, suggestion } from '../http/fields/spelling.js';
import { parameterError } from '../schemas/errors.js';

/** Fields that clients of the wire format send and Fenceline has no use for. They are let pass. */
const unused = ['tripApproachingThreshold'];

/** Fields that are known in order to be refused with a better reason. */
const notAvailable = ['address', 'placeId'];

const namesOf = (schema: TSchema): string[] => Object.keys((schema as { properties?: object }).properties ?? {});

/** `metadata` of `metadata.key` and `metadata[key]`. */
const baseOf = (name: string): string => name.split(/[.[]/, 1)[0]!;

/**
 * Returns a check of the fields of a body. Fields of the answer are let pass, so that a record that was read can be
 * sent back.
 * The check throws `invalid_parameter` with the first unknown field.
 */
export function createFieldCheck(accepted: TSchema, answered: TSchema): (fields: RawFields) => RawFields {
  const suggested = namesOf(accepted);
  const known = new Set([...suggested, ...namesOf(answered), ...unused, ...notAvailable]);
  return (fields) => {
    const unknown = Object.keys(fields).find((name) => !known.has(baseOf(name)));
    if (unknown === undefined) return fields;
    throw parameterError({
      param: shownName(unknown),
      rule: `is not a known field; ${suggestion(unknown, suggested)}`,
    });
  };
}
