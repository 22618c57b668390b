/** Follows the stream of events, and resumes it. docs/subscribers.md describes its messages. */
import { delayAfter, type Failure, sleep } from './attempts.js';
import { type Block, createBlockReader } from './server-sent-events.js';
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
  /** Called when the stream is open, for the first time or again. */
  readonly onOpen?: () => void;
  /**
   * Called when the connection is lost or can't be opened, before the next attempt: with a `FencelineError` if the
   * server refused it for a passing reason. What it throws ends the stream.
   */
  readonly onLoss?: (error: Error, retryAfterMs: number) => void;
}

/** An event, or a gap. With its `id` a later stream continues behind it. */
export type EventStreamItem =
  | { readonly kind: 'event'; readonly id: string; readonly event: Event }
  /** Records that were deleted before they were read, per partition: an upper bound over all projects. */
  | {
      readonly kind: 'gap';
      readonly id: string;
      readonly partitions: readonly { readonly partition: number; readonly missing: number }[];
    };

type Opened = { readonly ok: true; readonly body: ReadableStream<Uint8Array> } | ({ readonly ok: false } & Failure);

interface Connection {
  open(query: object, headers: Record<string, string>, signal: AbortSignal): Promise<Opened>;
  /** Time limit of the answer. */
  readonly openMs: number;
  /** A connection without data for this time is lost. The server sends a heartbeat after 15 seconds. */
  readonly silenceMs: number;
}

/** Keeps the pause after a restart of the server under five seconds. */
const maxDelayMs = 4_000;

/** Yields events and gaps until the signal aborts. Rejects when the server refuses the stream for good. */
export async function* followEvents(
  { open, openMs, silenceMs }: Connection,
  { signal, lastEventId = '', onOpen, onLoss, ...query }: EventStreamOptions,
): AsyncGenerator<EventStreamItem, void, undefined> {
  let position = lastEventId;
  let losses = 0;

  /** Yields the items of one connection. Returns why it ended. */
  async function* follow(): AsyncGenerator<EventStreamItem, Failure, undefined> {
    const lost = new AbortController();
    try {
      const headers: Record<string, string> = position === '' ? {} : { 'Last-Event-ID': position };
      const ending = signal ? AbortSignal.any([signal, lost.signal]) : lost.signal;
      const opened = await within(openMs, lost, open(query, headers, ending));
      if (!opened.ok) return opened;
      onOpen?.();
      for await (const block of blocksIn(opened.body, position, silenceMs, lost)) {
        losses = 0;
        position = block.id;
        if (block.data !== null) yield itemOf(block.id, block.type, block.data);
      }
      return { error: new Error('the server ended the stream'), isPassing: true, retryAfterMs: undefined };
    } catch (error) {
      return { error: error as Error, isPassing: true, retryAfterMs: undefined };
    } finally {
      // Also when the caller stops reading.
      lost.abort();
    }
  }

  while (!signal?.aborted) {
    const { error, isPassing, retryAfterMs } = yield* follow();
    if (signal?.aborted) return;
    if (!isPassing) throw error;
    losses += 1;
    const delayMs = retryAfterMs ?? Math.min(maxDelayMs, delayAfter(losses));
    onLoss?.(error, delayMs);
    await sleep(delayMs, signal).catch(() => {});
  }
}

/** Ends the connection when the promise takes longer. */
function within<Value>(timeMs: number, lost: AbortController, promise: Promise<Value>): Promise<Value> {
  const timer = setTimeout(() => lost.abort(new Error(`the server sent nothing for ${timeMs / 1_000} s`)), timeMs);
  return promise.finally(() => clearTimeout(timer));
}

async function* blocksIn(
  body: ReadableStream<Uint8Array>,
  lastId: string,
  silenceMs: number,
  lost: AbortController,
): AsyncGenerator<Block, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const read = createBlockReader(lastId);
  for (;;) {
    const { done, value } = await within(silenceMs, lost, reader.read());
    if (done) return;
    yield* read(decoder.decode(value, { stream: true }));
  }
}

function itemOf(id: string, type: string, data: string): EventStreamItem {
  const content = JSON.parse(data);
  // A conversion may be named gap as well; its data has an id.
  if (type === 'gap' && content._id === undefined) return { kind: 'gap', id, partitions: content.partitions };
  return { kind: 'event', id, event: content };
}
