/**
 * Lists the waiting deliveries of a webhook, the next due first.
 *
 * They are in the queues of all sources: one per partition of topics `events` and `deliveries`. A page merges these
 * queues.
 */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import {
  type DeliveryPlace,
  type DeliveryQueue,
  type DeliverySource,
  deliverySources,
  type Log,
} from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import type { WaitingDelivery, WebhookRecord } from '../../schemas/json/webhook.js';
import { createTurns } from '../../schemas/turns.js';
import { waitingDeliveryJson } from '../../schemas/wire/webhook.js';
import { pageMeta, readCursorAs, readLimit } from '../lists.js';
import type { Page } from '../page.js';

/** Queues that are read at the same time. */
const maxConcurrentReads = 4;
/** Deliveries of a queue that are read in one turn of the event loop, in some milliseconds. */
const readPerTurn = 16;
const nextTurn = createTurns();

/** The last delivery of a page: its due time, its queue, and its place there. */
interface WaitingCursor {
  readonly dueAtMs: number;
  readonly queue: number;
  readonly sequence: number;
}

interface WaitingQuery {
  readonly limit: number;
  readonly cursor: WaitingCursor | null;
}

/** A waiting delivery as it is shown, without its body, which may have 450 kB. */
interface Found extends WaitingCursor {
  readonly shown: WaitingDelivery;
}

const encodeCursor = ({ dueAtMs, queue, sequence }: WaitingCursor): string =>
  Buffer.from(`${dueAtMs}.${queue}.${sequence}`).toString('base64url');

function parseCursor(text: string): WaitingCursor | undefined {
  const decoded = Buffer.from(text, 'base64url').toString();
  const [, dueAtMs, queue, sequence] = /^(\d{1,15})\.(\d{1,6})\.(\d{1,16})$/.exec(decoded) ?? [];
  if (dueAtMs === undefined) return undefined;
  return { dueAtMs: Number(dueAtMs), queue: Number(queue), sequence: Number(sequence) };
}

/** Reads `limit` and `cursor`. */
export function readWaitingQuery(query: RawFields): Outcome<WaitingQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const cursor = readCursorAs(reader, parseCursor);
  return reader.outcome(() => ({ limit, cursor }));
}

interface WaitingParts {
  readonly log: Pick<Log, 'partitions'>;
  readonly waiting: DeliveryQueue['waiting'];
}

/** Returns a page of the waiting deliveries of the webhook, by due time. Rejects when the signal aborts. */
export async function listWaiting(
  { log, waiting }: WaitingParts,
  { _id }: WebhookRecord,
  { limit, cursor }: WaitingQuery,
  signal: AbortSignal,
): Promise<Page<Found>> {
  /** Reads a few deliveries in each turn of the event loop, because they are read with their bodies. */
  async function firstOf(source: DeliverySource, queue: number): Promise<Found[]> {
    const found: Found[] = [];
    let after = cursor ? placeAfter(_id, cursor, queue) : undefined;
    for (;;) {
      const asked = Math.min(limit + 1 - found.length, readPerTurn);
      const part = await waiting(source, _id, asked, after);
      for (const { dueAtMs, sequence, attempts, value } of part) {
        const shown = waitingDeliveryJson({ dueAtMs, attempts, delivery: codecs.delivery.decode(value) });
        found.push({ dueAtMs, sequence, queue, shown });
      }
      if (part.length < asked || found.length > limit) return found;
      after = part.at(-1);
      await nextTurn(signal);
    }
  }

  const queues = deliverySources(log);
  let first: Found[] = [];
  for (let start = 0; start < queues.length; start += maxConcurrentReads) {
    const reads = queues.slice(start, start + maxConcurrentReads);
    const found = await Promise.all(reads.map((source, index) => firstOf(source, start + index)));
    // Only one page stays in memory, however many queues there are.
    first = [...first, ...found.flat()].sort(byPlace).slice(0, limit + 1);
  }
  const page = first.slice(0, limit);
  const last = page.at(-1);
  return {
    meta: pageMeta(first.length > limit, last ? encodeCursor(last) : null),
    name: 'deliveries',
    items: page,
    text: ({ shown }) => JSON.stringify(shown),
  };
}

/**
 * Returns the place in a queue after which the next page begins. Of deliveries with the same due time, those in earlier
 * queues are already answered.
 */
function placeAfter(
  webhook: string,
  { dueAtMs, queue: last, sequence }: WaitingCursor,
  queue: number,
): DeliveryPlace | undefined {
  if (queue === last) return { webhook, dueAtMs, sequence };
  if (queue < last) return { webhook, dueAtMs, sequence: Number.MAX_SAFE_INTEGER };
  // The place just before the due time. Times are whole milliseconds.
  return dueAtMs === 0 ? undefined : { webhook, dueAtMs: dueAtMs - 1, sequence: Number.MAX_SAFE_INTEGER };
}

const byPlace = (a: Found, b: Found): number => a.dueAtMs - b.dueAtMs || a.queue - b.queue || a.sequence - b.sequence;
