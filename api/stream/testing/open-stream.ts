/** A client of the live stream over plain HTTP, for tests. */
import { type DispatchedMessage, interpret } from './standard-parser.js';

/** A stream that a test reads over a real connection. */
export interface OpenStream {
  readonly response: Response;
  messages(): readonly DispatchedMessage[];
  /** Ids of the received events. */
  ids(): string[];
  lastEventId(): string;
  text(): string;
  readonly isClosed: boolean;
  close(): void;
}

/** Opens a stream and reads it as fast as it arrives. `response` has a response that is not a stream. */
export async function openStream(url: string, key: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: { authorization: key, ...headers }, signal: abort.signal });
  const decoder = new TextDecoder();
  let text = '';
  let isClosed = false;
  async function read(): Promise<void> {
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
  }
  if (response.status === 200) {
    void read()
      .catch(() => {})
      .finally(() => {
        isClosed = true;
      });
  }
  const messages = () => interpret(text).messages;
  return {
    response,
    messages,
    ids: () => messages().map(({ data }) => JSON.parse(data)._id),
    lastEventId: () => interpret(text).lastEventId,
    text: () => text,
    get isClosed() {
      return isClosed;
    },
    close: () => abort.abort(),
  };
}
