/** What geofences and beacons have in common: the pair (tag, externalId) that names them, and metadata. */
import Type from 'typebox';
import { accepted, FieldReader, maxNameLength, maxTextLength, type RawFields } from '../../http/fields/reader.js';
import { checkMetadata } from '../../http/fields/structures.js';
import { type Field, field } from '../../http/fields/table.js';
import { ApiError } from '../../schemas/errors.js';
import { type Metadata, maxMetadataKeys } from '../../schemas/json/common.js';

/** The names by which an owner knows a geofence or beacon. The record's id follows from them. */
export interface Pair {
  readonly tag: string;
  readonly externalId: string;
}

/** The alternative form of a structured field in bodies that are forms. */
export const jsonText = Type.String({ description: 'The same as JSON text' });

const GivenMetadata = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Boolean(), Type.Number(), Type.Null()]),
  { description: 'Flat dictionary of strings, booleans and numbers. A key with null is left out' },
);

/** The flat dictionary that owners attach. Values that are given by key, as in a form or a column, stay text. */
export const metadataField: Field<Metadata | null> = field(readMetadata, Type.Union([GivenMetadata, jsonText]), {
  hasKeys: true,
  description: 'At most 16 keys; or by key, as metadata.key or metadata[key]',
});

function readMetadata(reader: FieldReader, name: string): Metadata | null {
  const dictionary = reader.dictionary(name);
  if (dictionary === undefined) return null;
  const limits = { maxKeys: maxMetadataKeys, maxKeyLength: maxNameLength, maxTextLength };
  return reader.take(checkMetadata(name, dictionary, limits));
}

/** Throws for a path with an empty part: it names no record, so each repetition would create another one. */
export function requirePair(path: Pair): void {
  const reader = new FieldReader({ ...path });
  for (const part of ['tag', 'externalId'] as const) reader.requiredText(part);
  accepted(reader.outcome(() => undefined));
}

/** Refuses another pair in an update: the id follows from the pair. */
export function refuseOtherPair(fields: RawFields, record: { readonly [Part in keyof Pair]: string | null }): void {
  const reader = new FieldReader(fields);
  for (const part of ['tag', 'externalId'] as const) {
    const given = reader.text(part);
    if (given !== null && given !== record[part]) {
      throw new ApiError('conflict', `${part}: can't be changed in an update; create a new record instead`, {
        param: part,
      });
    }
  }
}
