/**
 * Follows a live stream of events through losses of the connection: each time it comes back with the last id that it
 * was told, later and later while nothing answers.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Block, createBlockReader } from './blocks.js';

export interface FollowOptions {
  /** Of the stream, with its filters. */
  readonly url: string;
  readonly key: string;
  readonly onMessage: (message: Block & { readonly data: string }) => void;
  /** The stream is open, for the first time or again. */
  readonly onConnected?: () => void;
  /** The connection is lost, or was not made; the next try comes after so long. */
  readonly onLoss: (reason: string, retryAfterMs: number) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly minRetryMs?: number;
}

/** The server will not have us, and would not the next time either. */
export class Refused extends Error {}

/** A server that was restarted is followed again within five seconds. */
const maxRetryMs = 4_000;
/** Three of the server's heartbeats. */
const maxSilenceMs = 45_000;

/** Resolves when `signal` is aborted. Throws {@link Refused}, also when nothing answers the very first try. */
export async function follow({
  url,
  key,
  onMessage,
  onConnected = () => {},
  onLoss,
  signal,
  minRetryMs = 500,
}: FollowOptions): Promise<void> {
  let lastEventId = '';
  let hasAnswered = false;
  let losses = 0;

  /** Resolves or rejects when the connection ends, by whatever end. */
  async function connect(): Promise<void> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('nothing came for too long')), maxSilenceMs);
    try {
      const response = await fetch(url, {
        headers: {
          authorization: key,
          accept: 'text/event-stream',
          ...(lastEventId && { 'last-event-id': lastEventId }),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      hasAnswered = true;
      await checkStatus(response);
      onConnected();
      const read = createBlockReader(lastEventId);
      const decoder = new TextDecoder();
      for await (const bytes of response.body ?? []) {
        timer.refresh();
        losses = 0;
        for (const block of read(decoder.decode(bytes, { stream: true }))) take(block);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  function take(block: Block): void {
    lastEventId = block.id;
    if (block.data !== null) onMessage({ ...block, data: block.data });
  }

  while (!signal.aborted) {
    const reason = await connect().then(() => 'the server ended the stream', reasonOf);
    if (signal.aborted) return;
    if (reason instanceof Refused) throw reason;
    if (!hasAnswered) throw new Refused(`nothing answers at ${new URL(url).origin} (${reason}); is it running?`);
    const retryMs = Math.min(maxRetryMs, minRetryMs * 2 ** losses) * (0.5 + Math.random() / 2);
    losses += 1;
    onLoss(reason, retryMs);
    await delay(retryMs, undefined, { signal }).catch(() => {});
  }
}

/** What is wrong with the request stays wrong; what is wrong with the moment passes. */
async function checkStatus(response: Response): Promise<void> {
  if (response.status === 200) return;
  const { meta } = (await response.json().catch(() => ({}))) as { meta?: { message?: string } };
  const message = meta?.message ?? `answered ${response.status}`;
  throw response.status === 429 || response.status >= 500 ? new Error(message) : new Refused(message);
}

function reasonOf(error: Error): string | Refused {
  return error instanceof Refused ? error : ((error.cause as Error | undefined)?.message ?? error.message);
}
