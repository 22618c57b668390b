/** The parameters of lists: limit, cursor, time bounds and filters. Every list pages by its cursor. */
import Type, { type TSchema } from 'typebox';
import { success } from '../http/describe.js';
import { FieldReader, type Outcome, type RawFields } from '../http/fields/reader.js';
import { readMetadataFilter } from '../http/fields/structures.js';
import { isBeyondCursor } from '../pipeline/catalog/store/tables/list-reader.js';
import type { ListCursor, ListQuery, Scope } from '../pipeline/catalog/types.js';

const defaultLimit = 100;
const maxLimit = 1_000;

type TimeBound = 'createdBefore' | 'createdAfter' | 'updatedBefore' | 'updatedAfter' | 'before' | 'after';

/** Returns a cursor as the text of `meta.cursor`, which {@link readCursor} reads. */
export const encodeCursor = ({ timeMs, id }: ListCursor): string =>
  Buffer.from(`${timeMs}.${id}`).toString('base64url');

function parseCursor(text: string): ListCursor | undefined {
  const [, time, id] = /^(\d{1,15})\.([0-9a-f]{24})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return time === undefined || id === undefined ? undefined : { timeMs: Number(time), id };
}

/** Returns the `meta` of a page. `cursor` names its last row; null: there is none. */
export const pageMeta = (hasMore: boolean, cursor: string | null) => ({
  ...success,
  hasMore,
  ...(hasMore && cursor !== null && { cursor }),
});

/**
 * Returns a page of rows, which were read with one more than the limit, and the `meta` of its answer.
 *
 * @param encode returns the cursor of a row.
 */
export function pageOf<Row extends ListCursor>(
  rows: readonly Row[],
  limit: number,
  encode: (row: Row) => string = encodeCursor,
) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, meta: pageMeta(rows.length > limit, last ? encode(last) : null) };
}

/** Records of one time that a page has beyond its limit. */
const maxTied = 1_000;

/**
 * Reads a page and the `meta` of its answer. A page that begins without a cursor may be followed by one that begins at
 * the time of its last row, which is exclusive. So it also has the other rows of that time.
 *
 * @param read returns the rows of a page in their order, and one more.
 * @param encode returns the cursor of a row.
 */
export async function readPageOfTimes<Cursor extends ListCursor, Row extends Cursor>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: Cursor | null },
  read: (page: { readonly limit: number; readonly cursor: Cursor | null }) => Promise<readonly Row[]>,
  encode: (row: Cursor) => string = encodeCursor,
) {
  const rows = await read({ limit, cursor: cursor ?? null });
  const [last, next] = rows.slice(limit - 1);
  if (cursor != null || last === undefined || last.timeMs !== next?.timeMs) return pageOf(rows, limit, encode);
  const others = await read({ limit: maxTied, cursor: last });
  const tied = others.slice(0, maxTied).filter(({ timeMs }) => timeMs === last.timeMs);
  return pageOf([...rows.slice(0, limit), ...others], limit + tied.length, encode);
}

/** Returns the size of a page, 1 to {@link maxLimit}. */
export const readLimit = (reader: FieldReader): number =>
  reader.integer('limit', { minimum: 1, maximum: maxLimit }) ?? defaultLimit;

/** Reads `cursor`; null if it is not given. Refuses text that no list answered. */
export const readCursor = (reader: FieldReader): ListCursor | null => readCursorAs(reader, parseCursor);

/** Reads a cursor that has a form of its own. `parse` returns undefined for other text. */
export function readCursorAs<Cursor>(reader: FieldReader, parse: (text: string) => Cursor | undefined): Cursor | null {
  const text = reader.text('cursor');
  return text === null
    ? null
    : (parse(text) ?? reader.refuse('cursor', 'must be the `meta.cursor` of an earlier answer'));
}

/** Returns the `meta` of a page of records that were read with `hasMore`, in the order of a time. */
export function metaOfPage<T extends { readonly _id: string }>(
  items: readonly T[],
  hasMore: boolean,
  timeOf: (record: T) => number,
) {
  const last = items.at(-1);
  return pageMeta(hasMore, last ? encodeCursor({ timeMs: timeOf(last), id: last._id }) : null);
}

/** Reads the given bounds as epoch ms. Times before 1970 become 0. */
export function readTimeBounds<Name extends TimeBound>(
  reader: FieldReader,
  names: readonly Name[],
): { [N in Name]?: number } {
  const bounds: { [N in Name]?: number } = {};
  for (const name of names) {
    const time = reader.time(name);
    if (time !== null) bounds[name] = Math.max(0, time);
  }
  return bounds;
}

/** The query of a list that is in memory as a whole. Bounds are exclusive, epoch ms. */
type ShortListQuery = Pick<ListQuery, 'limit' | 'cursor' | 'createdBefore' | 'createdAfter'>;

/** Reads the parameters of a list without filters: limit, cursor, and times of creation. */
export function readShortListQuery(query: RawFields): Outcome<ShortListQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const cursor = readCursor(reader);
  const bounds = readTimeBounds(reader, ['createdBefore', 'createdAfter']);
  return reader.outcome(() => ({ limit, cursor, ...bounds }));
}

/** Returns a page, newest first, of a list that is ordered oldest first, and the `meta` of its answer. */
export function shortPage<T extends { readonly _id: string; readonly createdAt: number }>(
  all: readonly T[],
  query: ShortListQuery,
) {
  const { limit, cursor, createdBefore = Infinity, createdAfter = -Infinity } = query;
  const rows = all
    .filter(({ createdAt }) => createdAt < createdBefore && createdAt > createdAfter)
    .map((record) => ({ timeMs: record.createdAt, id: record._id, record }))
    .filter(({ timeMs, id }) => isBeyondCursor(cursor, timeMs, id))
    .sort((a, b) => b.timeMs - a.timeMs || (a.id < b.id ? 1 : -1));
  const { rows: page, meta } = pageOf(rows, limit);
  return { rows: page.map(({ record }) => record), meta };
}

/** Reads the query of a list of geofences or beacons. */
export function readListQuery(scope: Scope, query: RawFields, orderBy: ListQuery['orderBy']): Outcome<ListQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const cursor = readCursor(reader);
  const bounds = readTimeBounds(reader, ['createdBefore', 'createdAfter', 'updatedBefore', 'updatedAfter']);
  const tag = reader.text('tag');
  const externalId = reader.text('externalId');
  const metadata = reader.take(readMetadataFilter(query.metadata));
  return reader.outcome(() => ({
    project: scope.project,
    environment: scope.environment,
    orderBy,
    limit,
    cursor,
    ...bounds,
    ...(tag !== null && { tag }),
    ...(externalId !== null && { externalId }),
    ...(metadata && { metadata }),
  }));
}

const timeDescription = 'A date, or an ISO 8601 date and time; exclusive';

/** The parameter `limit` of lists. */
export const limitParameter = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit })),
};
/** The limit of {@link readPageOfTimes}. */
export const limitOfTimesParameter = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      default: defaultLimit,
      description: 'A page without a cursor also has the other items of the time of its last one',
    }),
  ),
};
/** The parameter `cursor` of lists. */
export const cursorParameter = {
  cursor: Type.Optional(
    Type.String({ description: '`meta.cursor` of the page before, with otherwise equal parameters' }),
  ),
};

/** Returns the schemas of the named bounds, for the API's description. */
export const timeParameters = (...names: TimeBound[]): Record<string, TSchema> =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String({ description: timeDescription }))]));

/** The schema of the query of a list that is in memory as a whole. */
export const shortListParameters = Type.Object({
  ...limitParameter,
  ...cursorParameter,
  ...timeParameters('createdBefore', 'createdAfter'),
});

/** How to page through such a list. */
export const listPaging = 'While `meta.hasMore` is true, pass `meta.cursor` as `cursor` for the next page.';

/** The schema of the query of a list of geofences or beacons. */
export const listParameters = Type.Object({
  ...limitOfTimesParameter,
  ...cursorParameter,
  ...timeParameters('createdBefore', 'createdAfter', 'updatedBefore', 'updatedAfter'),
  tag: Type.Optional(Type.String()),
  externalId: Type.Optional(Type.String()),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        '`metadata[key]=value`; all must match. `true` is the boolean, digits are the number, `1` and `0` are both',
    }),
  ),
});
