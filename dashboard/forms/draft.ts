/** What forms of geofences and beacons share: the difference between two bodies, metadata, and problems at fields. */
import { Failure } from '../client/call';
import type { Problem } from '../components/problem';

/** A row of the metadata editor. */
export interface MetadataRow {
  /** Keeps React's state with the row. */
  readonly id: number;
  readonly name: string;
  readonly value: string;
  readonly type: 'text' | 'number' | 'boolean';
}

/** What the drafts of all records have. */
export interface WithMetadata {
  readonly metadata: readonly MetadataRow[];
}

/** Metadata as the API has them: flat. */
export type Metadata = Readonly<Record<string, string | number | boolean>>;

let lastRowId = 0;
/** Returns a row with an id of its own, and with the type of its value. */
export function newRow(name = '', value: string | number | boolean = ''): MetadataRow {
  lastRowId += 1;
  const type = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
  return { id: lastRowId, name, value: String(value), type };
}

/** Returns the rows of a form for metadata. */
export const rowsOf = (metadata: Metadata = {}): readonly MetadataRow[] =>
  Object.entries(metadata).map(([name, value]) => newRow(name, value));

const isUsed = ({ name, value, type }: MetadataRow): boolean => name !== '' || (type !== 'boolean' && value !== '');
const isNumber = (value: string): boolean => value.trim() !== '' && Number.isFinite(Number(value));

/** Returns what would be lost or changed in silence if the rows were sent; undefined: nothing. */
export function problemOfMetadata(rows: readonly MetadataRow[]): string | undefined {
  const used = rows.filter(isUsed);
  if (used.some(({ name }) => name === '')) return 'A value of the metadata has no name.';
  const repeated = used.find(({ name }, index) => used.findIndex((row) => row.name === name) !== index);
  if (repeated) return `The name ${repeated.name} is used twice.`;
  const wrong = used.find(({ type, value }) => type === 'number' && !isNumber(value));
  if (wrong) return `The value of ${wrong.name} is not a number: write it with digits and a decimal point.`;
  return undefined;
}

/** Throws what {@link problemOfMetadata} finds, at the field. */
export function refuseMetadata(rows: readonly MetadataRow[]): void {
  const message = problemOfMetadata(rows);
  if (message !== undefined) throw new Failure(400, { type: 'invalid', param: 'metadata', message });
}

/** Returns undefined without rows. Rows that {@link refuseMetadata} refuses keep their text. */
export function metadataOf(rows: readonly MetadataRow[]): Metadata | undefined {
  const named = rows.filter(({ name }) => name !== '');
  if (named.length === 0) return undefined;
  return Object.fromEntries(
    named.map(({ name, value, type }) => {
      if (type === 'boolean') return [name, value === 'true'];
      return [name, type === 'number' && isNumber(value) ? Number(value) : value];
    }),
  );
}

/** The fields of a record, as the API takes them. */
export type RecordBody = Readonly<Record<string, unknown>>;

/** Tests whether two plain values are equal, with their keys in the same order. */
export const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Metadata are merged key by key, so a key that is gone must be named. */
function patchOfMetadata(before: Metadata | undefined, after: Metadata | undefined): unknown {
  if (after === undefined) return null;
  const gone = Object.keys(before ?? {}).filter((name) => !Object.hasOwn(after, name));
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...after };
}

/** Returns the merge patch that turns a body into another. */
export function patchOf(before: RecordBody, after: RecordBody): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !isEqual(before[name], after[name]));
  return Object.fromEntries(
    changed.map((name) => [
      name,
      name === 'metadata'
        ? patchOfMetadata(before[name] as Metadata | undefined, after[name] as Metadata | undefined)
        : (after[name] ?? null),
    ]),
  );
}

/** Returns what the validator says, if it is about the field, or about something inside it. */
export function problemAt(error: unknown, field: string): Problem | undefined {
  if (!(error instanceof Failure) || error.param === undefined) return undefined;
  const { param, message } = error;
  const isInside = param.startsWith(`${field}.`) || param.startsWith(`${field}[`);
  if (param !== field && !isInside) return undefined;
  // The API begins with its own name of the field, which a form does not show.
  const prefix = `${param}: `;
  if (!message.startsWith(prefix)) return message;
  return {
    part: isInside ? param.slice(field.length).replace(/^\./, '') : undefined,
    rule: message.slice(prefix.length),
  };
}

interface Degrees {
  readonly latitude: string;
  readonly longitude: string;
}
const limits = { latitude: 90, longitude: 180 } as const;
/** What the API says of numbers that {@link ruleOfDegrees} refuses. It is over when they are corrected. */
const rulesOfDegrees = /^((latitude|longitude), which comes|must be two finite numbers|is required)/;

/**
 * Returns what is wrong with one of the two fields of `coordinates`. The API has one field for both, with the longitude
 * first. The latitude also shows a problem that is about neither of them.
 */
export function problemOfDegrees(error: unknown, axis: keyof Degrees, typed: Degrees): Problem | undefined {
  const problem = problemAt(error, 'coordinates');
  if (problem === undefined) return undefined;
  const own = { latitude: ruleOfDegrees('latitude', typed), longitude: ruleOfDegrees('longitude', typed) };
  const rule = own[axis];
  if (rule !== undefined) return { part: undefined, rule };
  if (axis === 'longitude' || own.longitude !== undefined) return undefined;
  return typeof problem === 'object' && rulesOfDegrees.test(problem.rule) ? undefined : problem;
}

/** Returns the rule that typed degrees break; undefined: none. */
function ruleOfDegrees(axis: keyof Degrees, typed: Degrees): string | undefined {
  const degrees = degreesOf(typed[axis]);
  if (degrees === undefined) return 'is required';
  const limit = limits[axis];
  return Math.abs(degrees) <= limit ? undefined : `must be a number from -${limit} to ${limit}`;
}

/** A draft, and what its fields need. */
export interface DraftFields<Draft> {
  readonly draft: Draft;
  change(part: Partial<Draft>): void;
  /** Returns the setter of a field. */
  set<Name extends keyof Draft>(name: Name): (value: Draft[Name]) => void;
  /** Returns the properties of a text field. `param` is the API's name of it. */
  text(
    name: keyof Draft & string,
    param?: string,
  ): { value: string; problem: Problem | undefined; onChange(value: string): void };
}

/** Returns what the fields of a draft need. `problemOf` finds the problem at a field of the API. */
export function draftFields<Draft extends object>(
  draft: Draft,
  setDraft: (change: (draft: Draft) => Draft) => void,
  problemOf: (param: string) => Problem | undefined,
): DraftFields<Draft> {
  const put = (name: keyof Draft, value: unknown) => setDraft((all) => ({ ...all, [name]: value }));
  return {
    draft,
    change: (part) => setDraft((all) => ({ ...all, ...part })),
    set: (name) => (value) => put(name, value),
    text: (name, param = name) => ({
      value: String(draft[name] ?? ''),
      problem: problemOf(param),
      onChange: (value) => put(name, value),
    }),
  };
}

/** Tests whether the problem belongs to none of the fields, so that the form must show it as a whole. */
export const isElsewhere = (error: unknown, fields: readonly string[]): boolean =>
  error !== null && error !== undefined && !fields.some((field) => problemAt(error, field) !== undefined);

/** The validator's message about a text says what the field must be. */
const numberOr = (text: string, plain: string): number | undefined => {
  if (plain === '') return undefined;
  const number = Number(plain);
  return Number.isFinite(number) ? number : (text as unknown as number);
};

/**
 * Returns metres, minutes or hours if the text is a number, else the text, for the validator to refuse. Empty:
 * undefined. Commas separate thousands, as the forms write them, and nothing else.
 */
export function quantityOf(text: string): number | undefined {
  const trimmed = text.trim();
  const hasThousands = /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(trimmed);
  return numberOr(text, hasThousands ? trimmed.replaceAll(',', '') : trimmed);
}

/** Returns degrees as {@link quantityOf}, but with a decimal point or comma: degrees have no thousands. */
export const degreesOf = (text: string): number | undefined => numberOr(text, text.trim().replace(',', '.'));

/** Returns the trimmed text; undefined if nothing is left. */
export const textOf = (text: string): string | undefined => text.trim() || undefined;

/** Removes what is not set. */
export const compact = (body: RecordBody): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/** What names a record for its owner. */
interface Pair {
  readonly tag: string;
  readonly externalId: string;
}

/** Returns the pair that names a record; undefined if one of both is missing. */
export function pairOf({ tag, externalId }: RecordBody): Pair | undefined {
  return typeof tag === 'string' && typeof externalId === 'string' ? { tag, externalId } : undefined;
}
