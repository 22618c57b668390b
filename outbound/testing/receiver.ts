/**
 * Receivers that do what decent HTTP servers don't: each answers with raw bytes, when and as far as a test says.
 *
 * They keep what was sent to them and how often they were connected to, so that a test can tell that nothing came.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { certificate, certificateKey } from './certificate.js';

/** Called with the head and what else came with it, once per request. */
export type Answering = (socket: Socket, request: string) => void;

export class RawReceiver {
  /** Sockets that were connected, in order. */
  readonly sockets: Socket[] = [];
  /** Everything that came, as it came, one entry per request. */
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

  static async start(
    answering: Answering,
    { secure = false, host = '127.0.0.1', port = 0 }: { secure?: boolean; host?: string; port?: number } = {},
  ): Promise<RawReceiver> {
    const receiver = new RawReceiver(answering, secure);
    await new Promise<void>((resolve) => receiver.#server.listen(port, host, resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A whole answer. */
export const answer = (status: string, headers: readonly string[] = [], body = ''): string =>
  [`HTTP/1.1 ${status}`, ...headers, `content-length: ${body.length}`, '', body].join('\r\n');
