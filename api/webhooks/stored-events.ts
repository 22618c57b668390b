/** Reads events and their earlier deliveries from the analytics store, for redeliveries. */
import type { ListCursor } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import { hourMs } from '../../schemas/durations.js';
import type { AttemptState, WebhookRecord } from '../../schemas/json/webhook.js';
import { type EventPosition, positionColumns, selectPosition } from '../events/order.js';
import { where } from '../sql.js';
import type { EventRange } from './redelivery-fields.js';

/** A row of table `events`. */
export interface StoredEvent extends EventPosition {
  readonly type: string;
  readonly tag: string;
  /** Empty when no location caused the event. */
  readonly locationId: string;
  readonly deviceId: string;
  /** `_id` of the user. */
  readonly user: string;
  /** The event in wire form, JSON. */
  readonly body: string;
}

/** An attempt to send events, and its result. */
export interface SentEvents {
  /** `webhook-id` of the request. */
  readonly delivery: string;
  readonly state: AttemptState;
  readonly events: string[];
  readonly body: string;
}

/**
 * An attempt follows its event by the server's clock. In a cluster the clocks of two servers may differ by this much.
 */
const clockDifferenceMs = hourMs;

const columns = `${selectPosition}, type, tag, location_id AS locationId, device_id AS deviceId, user, body`;

/**
 * Returns the first events of the range that match the webhook's types and tags, oldest first, in the order of their
 * locations, and the cursor of the next page. Events of one location stay together, so there may be a few more than
 * `limit`.
 */
export async function eventsOfRange(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  { fromMs, toMs, cursor }: Omit<EventRange, 'failedOnly'>,
  limit: number,
): Promise<{ readonly events: StoredEvent[]; readonly next: ListCursor | null }> {
  const { sql, parameters } = where(webhook, [
    ['created_at >= {time}', cursor?.timeMs ?? fromMs],
    ['created_at < {time}', toMs],
    [`(created_at, ${positionColumns.cause}) > ({time}, {text})`, cursor?.timeMs, cursor?.id],
    ['type IN {texts}', webhook.types],
    ['tag IN {texts}', webhook.tags],
  ]);
  // The table is ordered by time alone. Narrow columns determine how far the page reaches.
  const firstTimes = `SELECT created_at FROM events WHERE ${sql} ORDER BY created_at LIMIT ${limit}`;
  const reach = `SELECT max(created_at) FROM (${firstTimes})`;
  const rows = await analytics.query<StoredEvent>(
    `SELECT ${columns} FROM events WHERE ${sql} AND created_at <= (${reach})
     ORDER BY created_at, cause LIMIT ${limit} WITH TIES`,
    parameters,
  );
  const last = rows.at(-1);
  const next = last && rows.length >= limit ? { timeMs: last.timeMs, id: last.cause } : null;
  // Rows may be duplicated.
  const events = [...new Map(rows.map((event) => [event.id, event])).values()];
  return { events: events.sort(inOrder), next };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Compares events in the order of evaluation. */
const inOrder = (a: StoredEvent, b: StoredEvent): number =>
  a.timeMs - b.timeMs || compare(a.cause, b.cause) || a.rank - b.rank || compare(a.subject, b.subject);

/** Resolves to the event that the webhook may receive; undefined if there is none. */
export async function eventById(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  id: string,
): Promise<StoredEvent | undefined> {
  const { sql, parameters } = where(webhook, [['id = {text}', id]]);
  const [row] = await analytics.query<StoredEvent>(`SELECT ${columns} FROM events WHERE ${sql} LIMIT 1`, parameters);
  return row;
}

/** Returns the last attempt of each event that was ever sent to the webhook. */
export async function lastSent(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<string, SentEvents>> {
  const { sql, parameters } = where(webhook, [
    ['webhook = {text}', webhook._id],
    ['at >= {time}', Math.min(...events.map(({ receivedMs }) => receivedMs)) - clockDifferenceMs],
  ]);
  // Only bodies of the last attempts are read: those of all attempts would be gigabytes.
  const last = `SELECT max(at), argMax(id, at) FROM webhook_attempts ARRAY JOIN events AS event
    WHERE ${sql} AND event IN {ids:Array(String)} GROUP BY event`;
  const rows = await analytics.query<SentEvents>(
    `SELECT delivery, state, events, request_body AS body FROM webhook_attempts
     WHERE ${sql} AND (at, id) IN (${last}) ORDER BY at`,
    { ...parameters, ids: events.map(({ id }) => id) },
  );
  // An attempt may be the last of one of its events and not of another.
  return new Map(rows.flatMap((row) => row.events.map((event) => [event, row])));
}
