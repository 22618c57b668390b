/** Queries events in the analytics store, newest first. */

import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { ListCursor, Scope } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import type { Event } from '../../schemas/json/user.js';
import { readCursor, readLimit, readPageOfTimes, readTimeBounds } from '../lists.js';
import type { Page } from '../page.js';
import { type Statement, where } from '../sql.js';
import { type EventFilters, filterConditions, readEventFilters } from './filters.js';

/** Query of a list of events. Bounds are exclusive, epoch ms; null: any. */
interface EventQuery extends EventFilters {
  readonly limit: number;
  readonly createdBefore?: number;
  readonly createdAfter?: number;
  readonly cursor: ListCursor | null;
}

/** A row of table `events`. */
interface EventRow {
  readonly id: string;
  readonly timeMs: number;
  /** The event in wire form, as JSON. */
  readonly body: string;
}

const columns = 'id, toUnixTimestamp64Milli(created_at) AS timeMs, body';

export function readEventQuery(query: RawFields): Outcome<EventQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const bounds = readTimeBounds(reader, ['createdBefore', 'createdAfter']);
  const cursor = readCursor(reader);
  const filters = readEventFilters(reader);
  return reader.outcome(() => ({ limit, cursor, ...bounds, ...filters }));
}

/**
 * Selects events, newest first, one more than the limit. Rows of one event are equal, so LIMIT 1 BY replaces FINAL. It
 * keeps the order of the table's key, so a short page reads only the end of a long table.
 */
export function eventsStatement(scope: Scope, query: EventQuery): Statement {
  const { sql, parameters } = where(scope, [
    ['created_at < {time}', query.createdBefore],
    ['created_at > {time}', query.createdAfter],
    ['created_at <= {time}', query.cursor?.timeMs],
    ['(created_at, id) < ({time}, {text})', query.cursor?.timeMs, query.cursor?.id],
    ...filterConditions(query),
  ]);
  return {
    sql: `SELECT ${columns} FROM events WHERE ${sql}
      ORDER BY created_at DESC, id DESC LIMIT 1 BY id LIMIT ${query.limit + 1}`,
    parameters,
  };
}

/** Returns a page of events in wire form. */
export async function listEvents(
  analytics: Pick<Analytics, 'query'>,
  scope: Scope,
  query: EventQuery,
): Promise<Page<EventRow>> {
  const { meta, rows } = await readPageOfTimes(query, (page) => {
    const { sql, parameters } = eventsStatement(scope, { ...query, ...page });
    return analytics.query<EventRow>(sql, parameters);
  });
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
