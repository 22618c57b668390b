/** Queries events in the analytics store, newest first. */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import type { Event } from '../../schemas/json/user.js';
import { readCursorAs, readLimit, readPageOfTimes, readTimeBounds } from '../lists.js';
import type { Page } from '../page.js';
import { type Statement, where } from '../sql.js';
import { type EventFilters, filterConditions, readEventFilters } from './filters.js';
import {
  beforePosition,
  type EventPosition,
  encodePosition,
  newestEventsFirst,
  parsePosition,
  selectPosition,
} from './order.js';

/** Query of a list of events. Bounds are exclusive, epoch ms; null: any. */
interface EventQuery extends EventFilters {
  readonly limit: number;
  readonly createdBefore?: number;
  readonly createdAfter?: number;
  readonly cursor: EventPosition | null;
}

/** A row of table `events`. */
interface EventRow extends EventPosition {
  /** The event in wire form, as JSON. */
  readonly body: string;
}

const columns = `${selectPosition}, body`;

/** Reads the parameters of a list of events: filters, times of creation, cursor and limit. */
export function readEventQuery(query: RawFields): Outcome<EventQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const bounds = readTimeBounds(reader, ['createdBefore', 'createdAfter']);
  const cursor = readCursorAs(reader, parsePosition);
  const filters = readEventFilters(reader);
  return reader.outcome(() => ({ limit, cursor, ...bounds, ...filters }));
}

/**
 * Selects events, newest first, one more than the limit. Rows of one event are equal, so LIMIT 1 BY replaces FINAL.
 *
 * The table is ordered by time and id. In this order narrow columns determine how far the page reaches, so a short page
 * reads only the end of a long table.
 */
export function eventsStatement(scope: Scope, query: EventQuery): Statement {
  const { sql, parameters } = where(scope, [
    ['created_at < {time}', query.createdBefore],
    ['created_at > {time}', query.createdAfter],
    ...beforePosition(query.cursor),
    ...filterConditions(query),
  ]);
  const limits = `LIMIT 1 BY id LIMIT ${query.limit + 1}`;
  const times = `SELECT created_at FROM events WHERE ${sql} ORDER BY created_at DESC, id DESC ${limits}`;
  return {
    sql: `SELECT ${columns} FROM events WHERE ${sql} AND created_at >= (SELECT min(created_at) FROM (${times}))
      ORDER BY ${newestEventsFirst} ${limits}`,
    parameters,
  };
}

/** Returns a page of events in wire form. */
export async function listEvents(
  analytics: Pick<Analytics, 'query'>,
  scope: Scope,
  query: EventQuery,
): Promise<Page<EventRow>> {
  const read = (page: Pick<EventQuery, 'limit' | 'cursor'>) => {
    const { sql, parameters } = eventsStatement(scope, { ...query, ...page });
    return analytics.query<EventRow>(sql, parameters);
  };
  const { meta, rows } = await readPageOfTimes(query, read, encodePosition);
  return { meta, name: 'events', items: rows, text: ({ body }) => body };
}

/** Finds an event; undefined if there is none. */
export async function findEvent(
  analytics: Pick<Analytics, 'query'>,
  scope: Scope,
  id: string,
): Promise<Event | undefined> {
  const { sql, parameters } = where(scope, [['id = {text}', id]]);
  const [row] = await analytics.query<EventRow>(`SELECT ${columns} FROM events WHERE ${sql} LIMIT 1`, parameters);
  return row && (JSON.parse(row.body) as Event);
}
