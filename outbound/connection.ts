/**
 * One connection to an origin, kept between requests.
 *
 * Flows in: requests with their handlers, one at a time. Flows out: what undici tells the handlers. It connects when
 * there is something to send, and again when the other side has closed in the meantime.
 */
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { type ConnectorParts, connect, type Destination } from './connector.js';

/**
 * Idle connections are closed before servers that say nothing close them (5 s is common), and soon even where they
 * would wait longer.
 */
const keepAliveMs = 4_000;
const maxKeepAliveMs = 10_000;
/** A busy connection is made anew now and then, so that a name that moves is followed. */
const maxRequestsPerConnection = 1_000;

export class Connection {
  /** The other side has answered on the socket that there is now, and so may have closed it without our knowing. */
  kept = false;
  readonly #client: Client;
  #socket: Socket | undefined;

  /** `origin` as in {@link URL.origin}; `onDisconnect` is called whenever the socket is gone. */
  constructor(
    origin: string,
    parts: ConnectorParts,
    maxHeaderBytes: number,
    onDisconnect: (connection: Connection) => void,
  ) {
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.kept = false;
        this.#socket = connect(destination(options), parts, callback);
      },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: maxKeepAliveMs,
      maxRequestsPerClient: maxRequestsPerConnection,
      maxHeaderSize: maxHeaderBytes,
      // Each exchange keeps its own time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => onDisconnect(this));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** At once, also while it is being made; a request in flight fails. */
  async destroy(): Promise<void> {
    const destroyed = this.#client.destroy();
    this.#socket?.destroy();
    await destroyed;
  }
}

function destination({ protocol, hostname, port }: { protocol: string; hostname: string; port: string }): Destination {
  const secure = protocol === 'https:';
  return { secure, hostname, port: Number(port || (secure ? 443 : 80)) };
}
