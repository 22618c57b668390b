/** An outbound client that answers as the test defines, and records its requests. */
import type { OutboundClient, OutboundRequest, OutboundResult } from '../../../../outbound/client.js';

/** A request that the stage sent. `id` is its header `webhook-id`. */
export interface SentRequest {
  readonly url: string;
  readonly id: string;
  readonly headers: OutboundRequest['headers'];
  readonly body: string;
  readonly atMs: number;
}

/** Returns a whole response with the status. */
export const answer = (status: number, headers: Record<string, string> = {}, body = ''): OutboundResult => ({
  kind: 'answered',
  status,
  headers,
  body: Buffer.from(body),
  truncated: false,
  durationMs: 1,
});

/** The result of a request that timed out. */
export const failure: OutboundResult = {
  kind: 'failed',
  failure: 'timed_out',
  message: 'too slow',
  durationMs: 15_000,
};

type Answering = (request: SentRequest) => OutboundResult | Promise<OutboundResult>;

/** Answers 204 until a test sets `answering`. */
export class ScriptedClient implements Pick<OutboundClient, 'send'> {
  readonly requests: SentRequest[] = [];
  answering: Answering = () => answer(204);
  readonly #clock: () => number;

  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  async send({ url, headers, body }: OutboundRequest): Promise<OutboundResult> {
    const id = headers['webhook-id'] as string;
    const request = { url, id, headers, body: Buffer.from(body as Uint8Array).toString(), atMs: this.#clock() };
    this.requests.push(request);
    // Like a real client, never answers in the same turn of the event loop.
    await new Promise(setImmediate);
    return this.answering(request);
  }

  to(url: string): SentRequest[] {
    return this.requests.filter((request) => request.url === url);
  }
}
