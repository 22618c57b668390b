/** The fields of the bodies that the routes of accounts read. */
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { bodyFields } from '../../http/describe.js';
import { accepted, FieldReader } from '../../http/fields/reader.js';
import {
  choiceField,
  type FieldTable,
  field,
  readTable,
  refuseUnknown,
  required,
  type ValuesOf,
} from '../../http/fields/table.js';
import { checkMailAddress } from '../../outbound/mail/address.js';

const maxEmailCharacters = 254;
const maxPasswordCharacters = 256;
const maxTokenCharacters = 200;

/** A mail address, in lower case: `Ada@` and `ada@` are one person. */
export const emailField = required(
  field(
    (reader, name) => {
      const given = reader.text(name, maxEmailCharacters);
      return given === null ? null : (reader.take(checkMailAddress(name, given))?.toLowerCase() ?? null);
    },
    Type.String({ format: 'email', maxLength: maxEmailCharacters }),
  ),
);

/** A password as given, of any strength: `checkNewPassword` judges new ones, and existing ones are only compared. */
export const passwordField = required(
  field(
    (reader, name) => reader.text(name, maxPasswordCharacters),
    Type.String({ format: 'password', maxLength: maxPasswordCharacters }),
  ),
);

/** The token of a mailed or one-time link, as text. */
export const tokenField = required(
  field((reader, name) => reader.text(name, maxTokenCharacters), Type.String({ maxLength: maxTokenCharacters })),
);

/** The role of a member or of an invitation. */
export const roleField = required(choiceField(['owner', 'viewer'], 'An owner may do everything; a viewer may read'));

/** Reads a body that has exactly the fields of the table. */
export function readBody<const Table extends FieldTable>(request: FastifyRequest, table: Table): ValuesOf<Table> {
  const fields = bodyFields(request.body);
  const reader = new FieldReader(fields);
  refuseUnknown(reader, table, fields);
  const values = readTable(reader, table);
  return accepted(reader.outcome(() => values));
}
