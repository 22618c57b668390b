/**
 * Receivers that misbehave: each responds with raw bytes as the test defines.
 *
 * They record requests and connections, so that a test can check that nothing arrived.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { certificate, certificateKey } from './certificate.js';

/** Called once per request, with the head and the data that arrived with it. */
export type Answering = (socket: Socket, request: string) => void;

/** A listening receiver, with what it has received. */
export class RawReceiver {
  /** Accepted sockets, in order. */
  readonly sockets: Socket[] = [];
  /** Raw requests, one entry each. */
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor(answering: Answering, secure: boolean) {
    const receive = (socket: Socket): void => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        const text = data.toString('latin1');
        this.requests.push(text);
        answering(socket, text);
      });
    };
    this.#server = secure
      ? createTlsServer({ cert: certificate, key: certificateKey }, receive)
      : createServer(receive);
    this.#server.on('connection', (socket) => this.sockets.push(socket));
  }

  /** Starts a receiver on loopback, over TLS if it is secure. */
  static async start(
    answering: Answering,
    { secure = false, host = '127.0.0.1', port = 0 }: { secure?: boolean; host?: string; port?: number } = {},
  ): Promise<RawReceiver> {
    const receiver = new RawReceiver(answering, secure);
    await new Promise<void>((resolve) => receiver.#server.listen(port, host, resolve));
    return receiver;
  }

  /** Returns the port. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Destroys all sockets and stops listening. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Builds a complete response. */
export const answer = (status: string, headers: readonly string[] = [], body = ''): string =>
  [`HTTP/1.1 ${status}`, ...headers, `content-length: ${body.length}`, '', body].join('\r\n');
