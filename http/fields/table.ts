/**
 * Field tables. A resource has one table of its fields. JSON bodies, forms, cells of a CSV row and the API's
 * description are derived from it.
 *
 * A table is read in its order, and the first field that breaks its rule is reported. The rules of values.ts read typed
 * values and their text alike, so one reader per field serves JSON, forms and CSV.
 */
import Type, { type TObject, type TSchema } from 'typebox';
import type { FieldProblem } from '../../schemas/errors.js';
import { type FieldReader, maxNameLength, type NumberRange, type RawFields } from './reader.js';
import { shownName, suggestion } from './spelling.js';

/** The values of the fields before this one, by name. */
export type EarlierValues = Readonly<Record<string, unknown>>;

/** One field of a request: how it is read, and how it is described. */
export interface Field<T> {
  /** For people: units, forms and defaults. Empty where the name says it all. */
  readonly description: string;
  /** What the API's description shows. The reader accepts more, such as the text of numbers. */
  readonly schema: TSchema;
  readonly isRequired: boolean;
  /** Whether each key may be a separate form field or column, such as `metadata.color`. */
  readonly hasKeys: boolean;
  /** false: accepted or refused with a reason of its own, but neither described nor suggested. */
  readonly isOffered: boolean;
  /** Reads the value. Errors are noted in the reader; then the value is of no use. */
  readonly read: (reader: FieldReader, name: string, earlier: EarlierValues) => T;
}

/** The fields of a request by name, in the order in which they are read. */
export type FieldTable = Readonly<Record<string, Field<unknown>>>;

/** The values that a table reads, by name. */
export type ValuesOf<Table extends FieldTable> = {
  -readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never;
};

/** Makes a field from its reader. */
export const field = <T>(
  read: Field<T>['read'],
  schema: TSchema,
  options: Partial<Pick<Field<T>, 'description' | 'isRequired' | 'hasKeys' | 'isOffered'>> = {},
): Field<T> => ({ description: '', isRequired: false, hasKeys: false, isOffered: true, ...options, schema, read });

/** Returns a field of text; null where it is not given. */
export const textField = (
  { maxLength = maxNameLength }: { readonly maxLength?: number } = {},
  description = '',
): Field<string | null> =>
  field((reader, name) => reader.text(name, maxLength), Type.String({ maxLength }), { description });

/** Returns a field of true or false, also as text; null where it is not given. */
export const booleanField = (description = ''): Field<boolean | null> =>
  field((reader, name) => reader.boolean(name), Type.Boolean(), { description });

/** Returns a field of a finite number, also as text; null where it is not given. */
export const numberField = (range: NumberRange, description = ''): Field<number | null> =>
  field((reader, name) => reader.number(name, range), Type.Number(boundsOf(range)), { description });

/** Returns a field of a whole number, also as text; null where it is not given. */
export const integerField = (range: NumberRange): Field<number | null> =>
  field((reader, name) => reader.integer(name, range), Type.Integer(boundsOf(range)));

/** Returns a field of one of the words; null where it is not given. */
export const choiceField = <const Word extends string>(words: readonly Word[], description = ''): Field<Word | null> =>
  field((reader, name) => reader.choice(name, words), Type.Enum([...words]), { description });

/** Returns the field of a date, read as epoch milliseconds. */
export const dateField = (description: string): Field<number | null> =>
  field((reader, name) => reader.time(name), Type.String(), { description });

/** A field of clients of the wire format that Fenceline does not use. */
export const ignoredField: Field<null> = field(() => null, Type.Unknown(), { isOffered: false });

/** Returns the schema of required text, which has a character: blank text counts as not given. */
export const requiredText = (schema: TSchema): TSchema =>
  (schema as { type?: unknown }).type === 'string' ? { ...schema, minLength: 1 } : schema;

/** Returns the field with an error when it is not given. */
export const required = <T>(of: Field<T | null>): Field<T> => ({
  ...of,
  schema: requiredText(of.schema),
  isRequired: true,
  read: (reader, name, earlier) => reader.required(name, of.read(reader, name, earlier)) as T,
});

/** Returns the field with a value for when it is not given. */
export const withDefault = <T>(of: Field<T | null>, value: T): Field<T> => ({
  ...of,
  schema: { ...of.schema, default: value },
  read: (reader, name, earlier) => of.read(reader, name, earlier) ?? value,
});

const isNullable = (schema: TSchema): boolean =>
  (schema as { anyOf?: readonly { type?: string }[] }).anyOf?.some(({ type }) => type === 'null') === true;

const withNull = (schema: TSchema): TSchema => (isNullable(schema) ? schema : Type.Union([schema, Type.Null()]));

/** Returns the field with a schema that allows null, which puts the field back to its default. */
export const nullable = <T>(of: Field<T>): Field<T> => ({ ...of, schema: withNull(of.schema) });

/** A table as rows of files are read: its fields as a list, and an object that has all of their names. */
interface Prepared {
  readonly fields: readonly (readonly [name: string, field: Field<unknown>])[];
  readonly none: Readonly<Record<string, undefined>>;
}

const preparedTables = new WeakMap<FieldTable, Prepared>();

function prepared(table: FieldTable): Prepared {
  const known = preparedTables.get(table);
  if (known !== undefined) return known;
  const fields = Object.entries(table);
  const made = { fields, none: Object.fromEntries(fields.map(([name]) => [name, undefined])) };
  preparedTables.set(table, made);
  return made;
}

/** Reads all fields of a table. */
export function readTable<const Table extends FieldTable>(reader: FieldReader, table: Table): ValuesOf<Table> {
  const { fields, none } = prepared(table);
  // An object that has its names already takes a third of the memory of one that gets them one by one.
  const values: Record<string, unknown> = { ...none };
  for (const [name, { read }] of fields) values[name] = read(reader, name, values);
  return values as ValuesOf<Table>;
}

/**
 * Reads a change. A field that is not named keeps its current value and is not checked again. One that is null or empty
 * gets its default. Without current values all fields are read.
 */
export function readChange<const Table extends FieldTable>(
  reader: FieldReader,
  table: Table,
  fields: RawFields,
  current: ValuesOf<Table> | undefined,
): ValuesOf<Table> {
  const values: Record<string, unknown> = {};
  for (const [name, { read }] of Object.entries(table)) {
    const isKept = current !== undefined && !Object.hasOwn(fields, name);
    values[name] = isKept ? current[name] : read(reader, name, values);
  }
  return values as ValuesOf<Table>;
}

/**
 * Returns the JSON Schema of a body. `allOptional` describes a change of an existing record, in which null clears a
 * field that is not required, or puts it back to its default.
 */
export function schemaOf(
  table: FieldTable,
  { without = [], allOptional = false }: { readonly without?: readonly string[]; readonly allOptional?: boolean } = {},
): TObject {
  const offered = Object.entries(table).filter(([name, { isOffered }]) => isOffered && !without.includes(name));
  const properties = offered.map(([name, { schema, description, isRequired }]): [string, TSchema] => {
    const shown = allOptional && !isRequired ? withNull(schema) : schema;
    const described = description === '' ? shown : { ...shown, description };
    return [name, isRequired && !allOptional ? described : Type.Optional(described)];
  });
  return Type.Object(Object.fromEntries(properties));
}

/** Returns the field that a name is a part of: `metadata` for `metadata.key` and `metadata[key]`. */
export const baseOf = (name: string): string => name.split(/[.[]/, 1)[0]!;

/**
 * Returns the fields of an answer that a record may bring along when it is sent back. One whose metadata is left out is
 * not whole: it would delete the metadata.
 */
export const answeredFields = (properties: object): string[] =>
  Object.keys(properties).filter((name) => name !== 'metadataOmitted');

/**
 * Returns the first field that the table does not know: ignoring a misspelt `dwellThreshold` would turn dwell events
 * off without notice.
 * @param answered names of the fields of answers, so that a record that was read can be sent back.
 */
export function unknownField(
  table: FieldTable,
  fields: RawFields,
  answered: readonly string[] = [],
): FieldProblem | undefined {
  const isKnown = (name: string): boolean => {
    const base = baseOf(name);
    if (answered.includes(name)) return true;
    return Object.hasOwn(table, base) && (base === name || table[base]!.hasKeys);
  };
  return firstUnknown(fields, isKnown, () => Object.keys(table).filter((name) => table[name]!.isOffered));
}

/** Returns the problem of the first field that is not known, with the nearest of those that are offered. */
export function firstUnknown(
  fields: RawFields,
  isKnown: (name: string) => boolean,
  offered: () => readonly string[],
): FieldProblem | undefined {
  const unknown = Object.keys(fields).find((name) => !isKnown(name));
  if (unknown === undefined) return undefined;
  return { param: shownName(unknown), rule: `is not a known field; ${suggestion(unknown, offered())}` };
}

/** Notes an error for the first field that the table does not know. */
export function refuseUnknown(
  reader: FieldReader,
  table: FieldTable,
  fields: RawFields,
  answered: readonly string[] = [],
): void {
  const problem = unknownField(table, fields, answered);
  if (problem !== undefined) reader.refuse(problem.param, problem.rule);
}

const boundsOf = ({ minimum, maximum }: NumberRange) => ({
  ...(minimum !== undefined && { minimum }),
  ...(maximum !== undefined && { maximum }),
});
