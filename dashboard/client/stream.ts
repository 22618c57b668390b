/** Reads server-sent events with `fetch`: their names are the types of events, which `EventSource` must know before. */
import { urlOf } from './call';

export interface StreamMessage {
  readonly type: string;
  readonly data: string;
}

const firstDelayMs = 1_000;
const maxDelayMs = 15_000;

/**
 * Returns the messages in the text, and the rest, which is not yet complete. A block with only an id is a heartbeat: it
 * has no data, and says where to resume.
 */
export function splitMessages(text: string): {
  readonly messages: readonly { readonly type: string; readonly data?: string; readonly id?: string }[];
  readonly rest: string;
} {
  const blocks = text.split('\n\n');
  const rest = blocks.pop() ?? '';
  const messages = blocks.map((block) => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
    }
    const [data, id] = [fields.get('data'), fields.get('id')];
    return { type: fields.get('event') ?? 'message', ...(data !== undefined && { data }), ...(id && { id }) };
  });
  return { messages, rest };
}

interface Listener {
  onMessage(message: StreamMessage): void;
  /** Called when the stream opens, and when it is lost. It is opened again by itself. */
  onState?(isOpen: boolean): void;
}

/** Follows a stream until the returned function is called. Continues after the last message that was received. */
export function followStream(path: string, query: object, { onMessage, onState }: Listener): () => void {
  const stop = new AbortController();
  let lastEventId: string | undefined;

  async function readOnce(): Promise<void> {
    const url = urlOf(path, lastEventId === undefined ? query : { ...query, lastEventId });
    const response = await fetch(url, { signal: stop.signal, headers: { Accept: 'text/event-stream' } });
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
    onState?.(true);
    let text = '';
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const { messages, rest } = splitMessages(text + value);
      text = rest;
      for (const { type, data, id } of messages) {
        if (id !== undefined) lastEventId = id;
        if (data !== undefined) onMessage({ type, data });
      }
    }
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
      if (stop.signal.aborted) return;
      onState?.(false);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
  void follow();
  return () => stop.abort();
}
