/** A webhook receiver: an HTTP server that keeps every request and answers as the test says. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The exact bytes. */
  readonly body: Buffer;
  /** Epoch ms. */
  readonly receivedAtMs: number;
}

/** Answers one request that has been read and kept. */
export type Answering = (request: ReceivedRequest, response: ServerResponse) => void;

/** Answers 204 to every request. */
export const acknowledging: Answering = (_, response) => void response.writeHead(204).end();

/** A listening receiver. It answers 204 until a test sets `answering`. */
export class Receiver {
  readonly requests: ReceivedRequest[] = [];
  /** May be replaced at any time. */
  answering: Answering = acknowledging;
  readonly #server = createServer((incoming, response) => void this.#receive(incoming, response));

  /** Starts a receiver on a free port of loopback. */
  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** Returns the URL of a path. */
  url(path = '/'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Returns the requests to a path, in order of arrival. */
  at(path: string): ReceivedRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** Cuts all connections and stops listening. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      // The sender was killed during the request, so nothing was received.
      return;
    }
    const { url: path = '/', headers } = incoming;
    const request = { path, headers, body: Buffer.concat(chunks), receivedAtMs: Date.now() };
    this.requests.push(request);
    this.answering(request, response);
  }
}
