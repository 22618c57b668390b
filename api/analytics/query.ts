/** Defines an analytics query: its parameters, the SQL statement built from them, and the rows it returns. */
import Type, { type TObject, type TProperties } from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';

/**
 * SQL without LIMIT and SETTINGS, over a view called with {@link rangeOf}. Values are bound as parameters, never
 * concatenated.
 */
export interface QueryStatement {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Fields of `meta` besides the range. */
  readonly meta?: object;
}

/** A query of analytics, from which its route and its documentation are made. */
export interface Query {
  /** Last segment of the path, and the prefix of file names. */
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Parameters besides range, format and limit. */
  readonly parameters: TProperties;
  readonly row: TObject;
  readonly meta?: TProperties;
  /** How far the default of `to` lies ahead of now. Default: not at all. */
  readonly aheadMs?: number;
  /** Builds the statement. The reader collects errors; after an error the statement must not be used. */
  build(reader: FieldReader): QueryStatement;
}

/** Calls a view under the alias `each`, so that result columns may have the names of the view's columns. */
export const rangeOf = (view: string, more = ''): string =>
  `${view}(project = {project:String}, environment = {environment:String},
    from = {from:String}, to = {to:String}${more}) AS each`;

/** Identifies a person: by the app's user id on any device, or else by the user record. */
export const person = "if(each.user_id = '', each.user, each.user_id)";

/** Turns empty text into NULL, which responses omit. */
export const unset = (column: string): string => `nullIf(each.${column}, '')`;

/** Returns the schema of an optional text. */
export const optionalText = (description: string) => Type.Optional(Type.String({ description }));

/** Fields of a place in a row; absent when unset. */
export const placeRow = {
  geofence: optionalText('`_id`'),
  beacon: optionalText('`_id`, where `kind` is beacon'),
  tag: optionalText('Tag of the geofence or beacon'),
  externalId: optionalText('External id of the geofence or beacon'),
  description: optionalText('Present description of the geofence or beacon; absent when it is deleted, and in files'),
};

/** Returns the schema of a number of rows or things. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });
/** Returns the schema of a duration in minutes, which is absent when it is not known. */
export const minutes = (description: string) =>
  Type.Optional(Type.Number({ description: `${description}, in minutes` }));
