/** A small HTTP client for one key, with persistent connections. */
import { Agent, type IncomingMessage, request } from 'node:http';

/** The body is JSON if the answer is, else text. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: answers are examined field by field
  readonly body: any;
}

/** A client with one key. */
export interface ApiClient {
  /** Rejects when the connection fails or times out. A string body is sent unchanged. */
  call(method: string, path: string, body?: object | string): Promise<Answer>;
  close(): void;
}

/**
 * How long a call waits for its answer. On a busy machine a server waits almost as long for the events of a track call,
 * and an answer that the client does not await takes those events with it.
 */
export const callTimeoutMs = 60_000;

/** Creates a client of the server at `address`, such as `http://127.0.0.1:8080`. Requests beyond `maxSockets` wait. */
export function createApiClient(address: string, key: string, maxSockets: number): ApiClient {
  const agent = new Agent({ keepAlive: true, maxSockets, timeout: callTimeoutMs });

  function call(method: string, path: string, body?: object | string): Promise<Answer> {
    const payload = typeof body === 'object' ? JSON.stringify(body) : body;
    return new Promise((resolve, reject) => {
      const outgoing = request(`${address}${path}`, {
        method,
        agent,
        timeout: callTimeoutMs,
        headers: {
          authorization: key,
          ...(payload !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
        },
      });
      outgoing.once('timeout', () =>
        outgoing.destroy(new Error(`no answer to ${method} ${path} within ${callTimeoutMs} ms`)),
      );
      outgoing.once('error', reject);
      outgoing.once('response', (response) => {
        read(response).then(resolve, reject);
      });
      outgoing.end(payload);
    });
  }
  return { call, close: () => agent.destroy() };
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = String(response.headers['content-type']).includes('json');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
}
