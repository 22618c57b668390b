/** Reads server-sent events with `fetch`: their names are the types of events, which `EventSource` must know before. */
import { createBlockReader } from '../../client/server-sent-events';
import { urlOf } from './call';

/** A server-sent event. Its data are JSON. */
export interface StreamMessage {
  readonly type: string;
  readonly data: string;
}

const firstDelayMs = 1_000;
const maxDelayMs = 15_000;
const pollEveryMs = 2_000;
/** The server sends something at once. A stream without it is held back on its way. */
const firstTextMs = 8_000;
/** The server sends a heartbeat every 15 seconds. Without it, the connection is gone. */
const maxSilenceMs = 40_000;

/** Whether messages come by the stream, by asking for them, or not at all. */
export type StreamState = 'open' | 'polling' | 'lost';

interface Listener {
  onMessage(message: StreamMessage): void;
  /** Called when the stream opens, and when it is lost. It is opened again by itself. */
  onState?(state: StreamState): void;
  /**
   * Asks once for the messages since an id, or since now. Used as long as no stream comes through: some proxies hold
   * streams back or end them. A message may come a second time when the stream opens.
   */
  poll?(after: string | undefined, signal: AbortSignal): Promise<Polled>;
}

/** What came since the last question. */
export interface Polled {
  readonly messages: readonly StreamMessage[];
  /** Id of the last message. */
  readonly next: string;
}

/** Calls `onText` with the parts of a stream, and ends it when it is silent for too long. Resolves at its end. */
async function readText(url: string, stop: AbortSignal, onText: (text: string) => void): Promise<void> {
  const silence = new AbortController();
  const signal = AbortSignal.any([stop, silence.signal]);
  const abort = () => silence.abort();
  let timer = setTimeout(abort, firstTextMs);
  try {
    // It stays open for as long as the view, and nothing of the view waits for it.
    const response = await fetch(url, { signal, headers: { Accept: 'text/event-stream' }, priority: 'low' });
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(abort, maxSilenceMs);
      onText(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Follows a stream until the returned function is called. Continues after the last message that was received. */
export function followStream(path: string, query: object, { onMessage, onState, poll }: Listener): () => void {
  const stop = new AbortController();
  let lastEventId: string | undefined;

  async function readOnce(): Promise<void> {
    const url = urlOf(path, lastEventId === undefined ? query : { ...query, lastEventId });
    const read = createBlockReader(lastEventId);
    let isOpen = false;
    await readText(url, stop.signal, (part) => {
      if (!isOpen) onState?.('open');
      isOpen = true;
      for (const { type, data, id } of read(part)) {
        // A heartbeat has no data, and says where to resume.
        lastEventId = id || undefined;
        if (data !== null) onMessage({ type, data });
      }
    });
  }

  /** Polls repeatedly for this duration. */
  async function pollFor(durationMs: number): Promise<void> {
    const untilMs = performance.now() + durationMs;
    do {
      const polled = await poll?.(lastEventId, stop.signal).catch(() => undefined);
      if (stop.signal.aborted) return;
      onState?.(polled ? 'polling' : 'lost');
      lastEventId = polled?.next ?? lastEventId;
      for (const message of polled?.messages ?? []) onMessage(message);
      await sleep(Math.max(0, Math.min(pollEveryMs, untilMs - performance.now())));
    } while (!stop.signal.aborted && performance.now() < untilMs);
  }

  async function follow(): Promise<void> {
    let delayMs = firstDelayMs;
    while (!stop.signal.aborted) {
      try {
        await readOnce();
        delayMs = firstDelayMs;
      } catch {
        delayMs = Math.min(delayMs * 1.7, maxDelayMs);
      }
      if (!stop.signal.aborted) await pollFor(delayMs);
    }
  }
  void follow();
  return () => stop.abort();
}
