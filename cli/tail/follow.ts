/**
 * Follows a live stream of events and reconnects when the connection is lost. It resumes from the last id that it
 * received, with increasing delays while the server does not answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Block, createBlockReader } from './blocks.js';

export interface FollowOptions {
  /** The URL of the stream, with its filters. */
  readonly url: string;
  readonly key: string;
  readonly onMessage: (message: Block & { readonly data: string }) => void;
  /** Called when the stream is open, for the first time or again. */
  readonly onConnected?: () => void;
  /** Called when the connection is lost or fails, with the delay before the next attempt. */
  readonly onLoss: (reason: string, retryAfterMs: number) => void;
  /** Ends the following. */
  readonly signal: AbortSignal;
  readonly minRetryMs?: number;
}

/** The server refused the request, and would refuse it again. */
export class Refused extends Error {}

/** Keeps the pause after a restart of the server under five seconds. */
const maxRetryMs = 4_000;
/** Three heartbeats of the server. */
const maxSilenceMs = 45_000;

/** Resolves when `signal` is aborted. Throws {@link Refused}, also when nothing answers the first attempt. */
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

  /** Resolves or rejects when the connection ends. */
  async function connect(): Promise<void> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('the server sent nothing for 45 s')), maxSilenceMs);
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

/** Throws {@link Refused} for errors of the request, and an ordinary error for those worth a retry. */
async function checkStatus(response: Response): Promise<void> {
  if (response.status === 200) return;
  const { meta } = (await response.json().catch(() => ({}))) as { meta?: { message?: string } };
  const message = meta?.message ?? `answered ${response.status}`;
  throw response.status === 429 || response.status >= 500 ? new Error(message) : new Refused(message);
}

function reasonOf(error: Error): string | Refused {
  return error instanceof Refused ? error : ((error.cause as Error | undefined)?.message ?? error.message);
}
