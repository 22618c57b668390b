/** What a question is: parameters, the statement that they make, and the rows of its answer. */
import Type, { type TObject, type TProperties } from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';

/**
 * SQL without LIMIT and SETTINGS, over a view that is called with {@link rangeOf}. Values are bound by name, never
 * spliced.
 */
export interface Inquiry {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What `meta` says besides the range. */
  readonly meta?: object;
}

export interface Question {
  /** Last part of the path and first of a file's name. */
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Besides range, format and limit. */
  readonly parameters: TProperties;
  readonly row: TObject;
  readonly meta?: TProperties;
  /** Reads the question's own parameters. What is broken is noted by the reader, and the inquiry is of no use then. */
  ask(reader: FieldReader): Inquiry;
}

/** A call of a view; its rows go by the name `each`, so that answers may have columns of the same names. */
export const rangeOf = (view: string, more = ''): string =>
  `${view}(project = {project:String}, environment = {environment:String}, from = {from:String}, to = {to:String}${more}) AS each`;

/** Who somebody is: the id that the app gave, on whatever device; without one the user record. */
export const person = "if(each.user_id = '', each.user, each.user_id)";

/** Empty texts of the tables are unset in answers. */
export const unset = (column: string): string => `nullIf(each.${column}, '')`;

const optionalText = (description: string) => Type.Optional(Type.String({ description }));

/** What is told of a place: fields that it has not are absent. */
export const placeRow = {
  geofence: optionalText('`_id`'),
  beacon: optionalText('`_id`, where `kind` is beacon'),
  tag: optionalText('Of the geofence or beacon'),
  externalId: optionalText('Of the geofence or beacon'),
};

export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const minutes = (description: string) =>
  Type.Optional(Type.Number({ description: `${description}, in minutes` }));
