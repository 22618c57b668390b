/** Follows the stream of events, and resumes it. docs/subscribers.md describes its messages. */
import type { Event } from './types.js';

/** Filters as in `GET /v1/events`; all must match. */
export interface EventStreamOptions {
  readonly type?: string;
  readonly user?: string;
  readonly userId?: string;
  readonly deviceId?: string;
  readonly geofence?: string;
  readonly beacon?: string;
  readonly tag?: string;
  readonly externalId?: string;
  /** Where a stream without `lastEventId` begins: `latest`, which is the default, or the oldest stored event. */
  readonly from?: 'latest' | 'earliest';
  /** Continues behind this item. Store the `id` of each item together with its effect. */
  readonly lastEventId?: string;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

export type EventStreamItem =
  | { readonly kind: 'event'; readonly id: string; readonly event: Event }
  /** Records that were deleted before they were read, per partition: an upper bound over all projects. */
  | {
      readonly kind: 'gap';
      readonly id: string;
      readonly partitions: readonly { readonly partition: number; readonly missing: number }[];
    };

interface Refusal {
  readonly error: Error;
  readonly isPassing: boolean;
  readonly retryAfterMs: number | undefined;
}

type Opened = { readonly ok: true; readonly body: ReadableStream<Uint8Array> } | ({ readonly ok: false } & Refusal);

interface Connection {
  open(query: object, headers: Record<string, string>, signal: AbortSignal): Promise<Opened>;
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  delayAfter(attempts: number): number;
  /** A connection without data for this time is lost. The server sends a heartbeat after 15 seconds. */
  readonly silenceMs: number;
}

/** Yields events and gaps until the signal aborts. Rejects when the server refuses the stream for good. */
export async function* followEvents(
  connection: Connection,
  { signal, lastEventId, ...query }: EventStreamOptions,
): AsyncGenerator<EventStreamItem, void, undefined> {
  let position = lastEventId;
  let failures = 0;
  while (!signal?.aborted) {
    const lost = new AbortController();
    const ending = signal ? AbortSignal.any([signal, lost.signal]) : lost.signal;
    let delayMs: number | undefined;
    try {
      const headers: Record<string, string> = position === undefined ? {} : { 'Last-Event-ID': position };
      const opened = await connection.open(query, headers, ending);
      if (!opened.ok) {
        if (!opened.isPassing) throw new Refused(opened.error);
        delayMs = opened.retryAfterMs;
      } else {
        for await (const message of messagesIn(opened.body, connection.silenceMs, lost)) {
          failures = 0;
          position = message.id ?? position;
          const item = itemOf(message, position);
          if (item !== undefined) yield item;
        }
      }
    } catch (error) {
      if (error instanceof Refused) throw error.cause;
      // Any other error is a lost connection.
    } finally {
      // Also when the caller stops reading.
      lost.abort();
    }
    if (signal?.aborted) return;
    failures += 1;
    await connection.sleep(delayMs ?? connection.delayAfter(failures), signal).catch(() => {});
  }
}

/** Tells a refusal from a lost connection. */
class Refused extends Error {
  constructor(override readonly cause: Error) {
    super();
  }
}

interface Message {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

async function* messagesIn(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
  lost: AbortController,
): AsyncGenerator<Message, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const timer = setTimeout(() => lost.abort(), silenceMs);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield messageOf(block);
  }
}

function messageOf(block: string): Message {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields[name] = value;
  }
  return fields;
}

/** Returns undefined for a message that only moves the position. */
function itemOf({ event, data }: Message, id = ''): EventStreamItem | undefined {
  if (data === undefined) return undefined;
  const content = JSON.parse(data);
  // A conversion may be named gap as well; its data has an id.
  if (event === 'gap' && content._id === undefined) return { kind: 'gap', id, partitions: content.partitions };
  return { kind: 'event', id, event: content };
}
