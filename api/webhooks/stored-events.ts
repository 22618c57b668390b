/** Events as a redelivery finds them in the analytics store, and what of them a webhook was sent already. */
import { transitionOrder } from '../../pipeline/evaluation/evaluate.js';
import type { Analytics } from '../../pipeline/ports.js';
import type { AttemptState, WebhookRecord } from '../../schemas/json/webhook.js';
import type { Cursor } from '../lists.js';
import { where } from '../sql.js';
import type { EventRange } from './redelivery-fields.js';

/** A row of table `events`. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly tag: string;
  /** `createdAt`, epoch ms. */
  readonly timeMs: number;
  /** When the server received what caused it, epoch ms. */
  readonly receivedMs: number;
  /** Empty: no location caused it. */
  readonly locationId: string;
  /** The id of the location, or of the event itself where there is none. */
  readonly cause: string;
  readonly deviceId: string;
  /** `_id` of the user. */
  readonly user: string;
  /** `_id` of the geofence or beacon. */
  readonly subject: string;
  /** The event in wire form, JSON. */
  readonly body: string;
}

/** A try to send events, and what became of it. */
export interface SentEvents {
  /** `webhook-id` of the request. */
  readonly delivery: string;
  readonly state: AttemptState;
  readonly events: string[];
  readonly body: string;
}

/** An attempt is after its event by the server's clock; in a cluster by those of two servers. */
const clockDifferenceMs = 3_600_000;

const cause = "if(location_id = '', id, location_id)";
const columns =
  'id, type, tag, toUnixTimestamp64Milli(created_at) AS timeMs, toUnixTimestamp64Milli(actual_created_at) AS receivedMs, ' +
  `location_id AS locationId, ${cause} AS cause, device_id AS deviceId, user, ` +
  "if(geofence = '', beacon, geofence) AS subject, body";

/**
 * The first events of the range that the webhook takes, oldest first, in the order in which their locations caused
 * them, and where the next begin.
 * Those of one location are never parted, so there may be a few more than `limit`.
 */
export async function eventsOfRange(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  { fromMs, toMs, cursor }: Omit<EventRange, 'failedOnly'>,
  limit: number,
): Promise<{ readonly events: StoredEvent[]; readonly next: Cursor | null }> {
  const { sql, parameters } = where(webhook, [
    ['created_at >= {time}', cursor?.timeMs ?? fromMs],
    ['created_at < {time}', toMs],
    [`(created_at, ${cause}) > ({time}, {text})`, cursor?.timeMs, cursor?.id],
    ['type IN {texts}', webhook.types],
    ['tag IN {texts}', webhook.tags],
  ]);
  // The table is in order of time alone: how far the page may reach is found out first, from a few narrow columns.
  const reach = `SELECT max(created_at) FROM (SELECT created_at FROM events WHERE ${sql} ORDER BY created_at LIMIT ${limit})`;
  const rows = await analytics.query<StoredEvent>(
    `SELECT ${columns} FROM events WHERE ${sql} AND created_at <= (${reach}) ORDER BY created_at, cause LIMIT ${limit} WITH TIES`,
    parameters,
  );
  const last = rows.at(-1);
  const next = last && rows.length >= limit ? { timeMs: last.timeMs, id: last.cause } : null;
  // A row may be there twice.
  const events = [...new Map(rows.map((event) => [event.id, event])).values()];
  return { events: events.sort(inOrder), next };
}

const typeRank = ({ type }: StoredEvent): number => (transitionOrder as readonly string[]).indexOf(type);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** As evaluation puts the events of a location. */
const inOrder = (a: StoredEvent, b: StoredEvent): number =>
  a.timeMs - b.timeMs || compare(a.cause, b.cause) || typeRank(a) - typeRank(b) || compare(a.subject, b.subject);

export async function eventById(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  id: string,
): Promise<StoredEvent | undefined> {
  const { sql, parameters } = where(webhook, [['id = {text}', id]]);
  const [row] = await analytics.query<StoredEvent>(`SELECT ${columns} FROM events WHERE ${sql} LIMIT 1`, parameters);
  return row;
}

/** For each of the events that was ever sent to the webhook: its last try. */
export async function lastSent(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<string, SentEvents>> {
  const { sql, parameters } = where(webhook, [
    ['webhook = {text}', webhook._id],
    ['at >= {time}', Math.min(...events.map(({ receivedMs }) => receivedMs)) - clockDifferenceMs],
  ]);
  // Bodies are read of the last tries alone: all that were made since the events would be gigabytes.
  const last = `SELECT max(at), argMax(id, at) FROM webhook_attempts ARRAY JOIN events AS event
    WHERE ${sql} AND event IN {ids:Array(String)} GROUP BY event`;
  const rows = await analytics.query<SentEvents>(
    `SELECT delivery, state, events, request_body AS body FROM webhook_attempts WHERE ${sql} AND (at, id) IN (${last}) ORDER BY at`,
    { ...parameters, ids: events.map(({ id }) => id) },
  );
  // A try may be the last of one of its events and not of another.
  return new Map(rows.flatMap((row) => row.events.map((event) => [event, row])));
}
