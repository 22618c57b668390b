/**
 * The order of stored events: by time, then by the receipt of what caused them, and of one location as its evaluation
 * made them. The position of an event in this order is the cursor of a list.
 */
import type { ListCursor } from '../../pipeline/catalog/types.js';
import { transitionOrder } from '../../pipeline/evaluation/evaluate.js';
import { literal } from '../../schemas/sql.js';
import type { Condition } from '../sql.js';

/** The position of an event. `timeMs` is its time, epoch ms. */
export interface EventPosition extends ListCursor {
  /** When the server received the cause, epoch ms. */
  readonly receivedMs: number;
  /** The id of the location, or of the event itself where there is none. */
  readonly cause: string;
  /** From 1 in the order of {@link transitionOrder}; 0 for an event that is no transition. */
  readonly rank: number;
  /** `_id` of the geofence or beacon; empty if there is none. */
  readonly subject: string;
}

/** The expressions over table `events`, by their names in a row. */
export const positionColumns = {
  timeMs: 'toUnixTimestamp64Milli(created_at)',
  receivedMs: 'toUnixTimestamp64Milli(actual_created_at)',
  cause: "if(location_id = '', id, location_id)",
  rank: `toUInt8(indexOf([${transitionOrder.map(literal).join(', ')}], type))`,
  subject: "if(geofence = '', beacon, geofence)",
  id: 'id',
} as const satisfies { readonly [name in keyof EventPosition]: string };

/** What a query selects for rows with a position. */
export const selectPosition = Object.entries(positionColumns)
  .map(([name, sql]) => (sql === name ? sql : `${sql} AS ${name}`))
  .join(', ');

// Times as the table has them, so that a short page reads only the end of a long table.
const { cause, rank, subject, id } = positionColumns;
const keys = ['created_at', 'actual_created_at', cause, rank, subject, id];

/** The text of `ORDER BY`. */
export const newestEventsFirst = keys.map((key) => `${key} DESC`).join(', ');
/** The text of `ORDER BY` for queries that continue forward. */
export const oldestEventsFirst = keys.join(', ');

/** Returns the conditions of events before a position; none without one. */
export const beforePosition = (position: EventPosition | null): Condition[] => [
  // The first uses the key of the table.
  ['created_at <= {time}', position?.timeMs],
  [
    `(${keys.join(', ')}) < ({time}, {time}, {text}, {number}, {text}, {text})`,
    position?.timeMs,
    position?.receivedMs,
    position?.cause,
    position?.rank,
    position?.subject,
    position?.id,
  ],
];

/** Returns the text that `parsePosition` reads: base64url, opaque to clients. */
export const encodePosition = ({ timeMs, receivedMs, cause, rank, subject, id }: EventPosition): string =>
  Buffer.from([timeMs, receivedMs, cause, rank, subject, id].join('.')).toString('base64url');

const pattern = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{24})\.(\d)\.((?:[0-9a-f]{24})?)\.([0-9a-f]{24})$/;

/** Returns the position that a text names; undefined if it is none. */
export function parsePosition(text: string): EventPosition | undefined {
  const found = pattern.exec(Buffer.from(text, 'base64url').toString());
  if (found === null) return undefined;
  const [, time, received, cause, rank, subject, id] = found as unknown as readonly string[] & { length: 7 };
  return {
    timeMs: Number(time),
    receivedMs: Number(received),
    cause: cause as string,
    rank: Number(rank),
    subject: subject as string,
    id: id as string,
  };
}
