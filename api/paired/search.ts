/**
 * Searches in lists of geofences and beacons, and counts.
 *
 * A search reads records in the order of an index and keeps those that match, so its cost is bounded by what it
 * examines. It lets other requests in between. A page may be short, or empty, before the end.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import { answerOf, capitalized, described, success } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { endingDigits } from '../../pipeline/catalog/store/tables/keys.js';
import { isBeyondCursor } from '../../pipeline/catalog/store/tables/list-reader.js';
import type {
  ConfigurationReader,
  ListQuery,
  Page,
  Scope,
  SearchPart,
  SearchQuery,
} from '../../pipeline/catalog/types.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { createTurns } from '../../schemas/turns.js';
import { grouped } from '../../schemas/wording.js';
import { listParameters, pageMeta, readListQuery } from '../lists.js';

type Listed = GeofenceRecord | BeaconRecord;

const sorts = ['createdAt', '-createdAt', 'updatedAt', '-updatedAt', 'description', '-description'] as const;
const maxWords = 10;

/** Records that one turn of the event loop examines. Each may have 150 kB. */
export const examinedPerTurn = 20;
/** Ends the turn of the event loop between parts of a search. */
export const nextTurn = createTurns();
const maxExaminedByList = 20_000;
const maxExaminedByCount = 100_000;

/** The parameters with which a list is a search. */
const searchParameters = ['search', 'enabled', 'sort'] as const;

/** The parameters of a list that can search: those of any list, words, `enabled` and the order. */
export const searchListParameters = Type.Object({
  ...listParameters.properties,
  search: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        'Words that are all in the description, tag, external id or address; case and accents do not count. ' +
        'A page may be short or empty before the end',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'Only those that make events, or only those that do not' })),
  sort: Type.Optional(
    Type.Union(
      sorts.map((sort) => Type.Literal(sort)),
      { description: 'A minus sorts downwards. With externalId, only the records of a page are sorted' },
    ),
  ),
});

type Found = Omit<SearchQuery, 'from' | 'limit' | 'maxExamined'>;

const isGiven = (query: RawFields): boolean => {
  const reader = new FieldReader(query);
  return searchParameters.some((name) => reader.value(name) !== undefined);
};

/** Returns the cursor of a search, which names the place in its index. */
export const cursorOf = (next: string): string => Buffer.from(`s.${next}`).toString('base64url');

function placeOf(cursor: string): string | undefined {
  const [, place] = /^s\.((?:[0-9a-f]{2})+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const isFitting = place !== undefined && place.length >= endingDigits.minimum && place.length <= endingDigits.maximum;
  return isFitting ? place : undefined;
}

/** Reads the cursor of a search. Returns null where there is none. */
export function readPlace(reader: FieldReader): string | null {
  const cursor = reader.text('cursor');
  const place = cursor === null ? null : placeOf(cursor);
  if (place === undefined) reader.refuse('cursor', 'must be the `meta.cursor` of an earlier answer to this search');
  return place ?? null;
}

function readConditions(reader: FieldReader) {
  const words = (reader.text('search') ?? '').split(/\s+/).filter((word) => word !== '');
  if (words.length > maxWords) reader.refuse('search', `must have at most ${maxWords} words`);
  const enabled = reader.boolean('enabled');
  return { words, ...(enabled !== null && { enabled }) };
}

/** Reads what a search looks for, without its page. */
function readFound(scope: Scope, query: RawFields, orderBy: ListQuery['orderBy']): Outcome<Found> {
  // The cursor of a search has another form than that of a list.
  const conditions = readListQuery(scope, { ...query, cursor: undefined }, orderBy);
  if (!conditions.ok) return conditions;
  const { limit: _, cursor: __, orderBy: ___, ...rest } = conditions.value;
  const reader = new FieldReader(query);
  const more = readConditions(reader);
  const sort = reader.choice('sort', sorts) ?? (`-${orderBy}` as const);
  return reader.outcome(() => ({
    ...rest,
    ...more,
    sort: sort.replace('-', '') as SearchQuery['sort'],
    isDescending: sort.startsWith('-'),
  }));
}

/** What a search needs to know about a kind of record. */
export interface SearchedResource<Stored extends Listed> {
  readonly name: 'geofence' | 'beacon';
  readonly orderBy: ListQuery['orderBy'];
  search(query: SearchQuery): SearchPart<Stored>;
}

const byTime =
  ({ sort, isDescending }: Pick<Found, 'sort' | 'isDescending'>) =>
  (a: Listed, b: Listed): number => {
    const order = compare(a[sort], b[sort]) || compare(a._id, b._id);
    return isDescending ? -order : order;
  };

const compare = <Value extends number | string>(a: Value, b: Value): number => Number(a > b) - Number(a < b);

/**
 * Reads a page of a search; undefined if the query is that of a plain list. Answers `cursor` while there may be more.
 * Rejects with the reason of the signal when it aborts.
 */
export async function searchPage<Stored extends Listed>(
  resource: SearchedResource<Stored>,
  scope: Scope,
  query: RawFields,
  signal: AbortSignal,
): Promise<{ readonly items: Stored[]; readonly meta: object } | undefined> {
  if (!isGiven(query)) return undefined;
  const found = accepted(readFound(scope, query, resource.orderBy));
  const reader = new FieldReader(query);
  const limit = accepted(readListQuery(scope, { limit: query.limit }, resource.orderBy)).limit;
  const place = readPlace(reader);
  let from = accepted(reader.outcome(() => place));
  const items: Stored[] = [];
  for (let examined = 0; ; ) {
    const part = resource.search({ ...found, from, limit: limit - items.length, maxExamined: examinedPerTurn });
    items.push(...part.items);
    from = part.next;
    examined += part.examined;
    const isFull = part.next !== null && part.examined < examinedPerTurn;
    if (from === null || isFull || examined >= maxExaminedByList) break;
    await nextTurn(signal);
  }
  if (found.externalId !== undefined) items.sort(byTime(found));
  return { items, meta: pageMeta(from !== null, from === null ? null : cursorOf(from)) };
}

/** What a plain list needs to know about a kind of record. */
interface ListedResource<Stored extends Listed> extends Pick<SearchedResource<Stored>, 'search'> {
  list(query: ListQuery): Page<Stored>;
}

/**
 * Reads a page of a plain list, however many records do not match its conditions. Rejects with the reason of the signal
 * when it aborts.
 */
export async function listPage<Stored extends Listed>(
  resource: ListedResource<Stored>,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Page<Stored>> {
  if (query.externalId !== undefined) return pageOfExternalId(resource, query, signal);
  const items: Stored[] = [];
  for (let cursor = query.cursor ?? null; ; ) {
    const limit = query.limit - items.length;
    const part = resource.list({ ...query, cursor, limit, maxExamined: examinedPerTurn });
    items.push(...part.items);
    if (part.next === undefined) return { items, hasMore: part.hasMore };
    cursor = part.next;
    await nextTurn(signal);
  }
}

/**
 * Reads a page of the records with one external id. They are in no order, and each tag may have one, so all of them are
 * read, and those of the page are kept.
 */
async function pageOfExternalId<Stored extends Listed>(
  { search }: Pick<SearchedResource<Stored>, 'search'>,
  { limit, cursor, orderBy, ...conditions }: ListQuery,
  signal: AbortSignal,
): Promise<Page<Stored>> {
  const order = { sort: orderBy, isDescending: true } as const;
  const part = { limit: examinedPerTurn, maxExamined: examinedPerTurn };
  let kept: Stored[] = [];
  for (let from: string | null = null; ; ) {
    const { items, next } = search({ ...conditions, ...order, ...part, from });
    const ahead = items.filter((record) => isBeyondCursor(cursor, record[orderBy], record._id));
    kept = [...kept, ...ahead].sort(byTime(order)).slice(0, limit + 1);
    if (next === null) return { items: kept.slice(0, limit), hasMore: kept.length > limit };
    from = next;
    await nextTurn(signal);
  }
}

/** Counts what a search finds. Examines a bounded number of records; then `complete` is false. */
async function countFound<Stored extends Listed>(
  resource: SearchedResource<Stored>,
  found: Found,
  signal: AbortSignal,
) {
  let from: string | null = null;
  let count = 0;
  for (let examined = 0; examined < maxExaminedByCount; examined += examinedPerTurn) {
    const part = resource.search({ ...found, from, limit: examinedPerTurn, maxExamined: examinedPerTurn });
    count += part.items.length;
    from = part.next;
    if (from === null) return { count, complete: true };
    await nextTurn(signal);
  }
  return { count, complete: false };
}

/** Tests whether a count needs no records to be read. */
const isPlain = ({ externalId, metadata, words, enabled, ...rest }: Found): boolean =>
  externalId === undefined &&
  metadata === undefined &&
  words?.length === 0 &&
  enabled === undefined &&
  rest.createdAfter === undefined &&
  rest.createdBefore === undefined &&
  rest.updatedAfter === undefined &&
  rest.updatedBefore === undefined;

const config = { authority: 'secret', limit: 'management' } as const;

/** Adds the route that counts what a list has. */
export function addCountRoute<Stored extends Listed>(
  app: FastifyInstance,
  resource: SearchedResource<Stored>,
  configuration: Pick<ConfigurationReader, 'count'>,
): void {
  const { name, orderBy } = resource;
  const tag = `${name}s`;
  const { limit: _, cursor: __, sort: ___, ...conditions } = searchListParameters.properties;

  app.get(`/v1/${tag}/count`, {
    config,
    schema: described({
      operationId: `count${capitalized(tag)}`,
      tag,
      summary: `Count ${tag}`,
      description:
        `With the conditions of the list. After it has examined ${grouped(maxExaminedByCount)} records, ` +
        '`complete` is false, and there may be more.',
      querystring: Type.Object(conditions),
      answer: answerOf({ count: Type.Integer(), complete: Type.Boolean() }),
    }),
    handler: async (request, reply) => {
      const scope = callerOf(request);
      const query = { ...(request.query as RawFields), limit: undefined, sort: 'createdAt' };
      const found = accepted(readFound(scope, query, orderBy));
      const leaving = leavingOf(reply);
      // A million keys take 40 ms: counts of many requests must not share a turn.
      await nextTurn(leaving);
      const counted = isPlain(found)
        ? { count: configuration.count(name, found), complete: true }
        : await countFound(resource, found, leaving);
      return { meta: success, ...counted };
    },
  });
}
