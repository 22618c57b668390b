/**
 * One connection to an origin, kept alive between requests.
 *
 * Input: requests with their handlers, one at a time. Output: undici's calls of the handlers. Connects when there is a
 * request to send, and again when the other side has closed in the meantime.
 */
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { type ConnectorParts, connect, type Destination } from './connector.js';

/**
 * Idle connections are closed before servers without a `keep-alive` hint close them (5 s is common). They are closed
 * early even if the server would keep them longer.
 */
const keepAliveMs = 4_000;
const maxKeepAliveMs = 10_000;
/** A busy connection is replaced after this many requests, so that changes in DNS take effect. */
const maxRequestsPerConnection = 1_000;

/** One connection, which serves one request at a time. */
export class Connection {
  /** The current socket has had a response, so the other side may have closed it in the meantime. */
  kept = false;
  readonly #client: Client;
  #socket: Socket | undefined;
  /** Once connected; the TLS socket for https. */
  #connected: Socket | undefined;
  /** Bytes that the connected socket had received before the request. */
  #bytesBefore = 0;
  #onReceived: (bytes: number) => void = () => {};
  #isPaused = false;

  /** @param origin As {@link URL.origin}. @param onDisconnect Called whenever the socket is closed. */
  constructor(
    origin: string,
    parts: ConnectorParts,
    maxHeaderBytes: number,
    onDisconnect: (connection: Connection) => void,
  ) {
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.kept = false;
        this.#connected = undefined;
        this.#socket = connect(destination(options), parts, (...result) => {
          const [, socket] = result;
          if (socket !== null) this.#watch(socket);
          callback(...result);
        });
      },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: maxKeepAliveMs,
      maxRequestsPerClient: maxRequestsPerConnection,
      maxHeaderSize: maxHeaderBytes,
      // Each exchange has its own time limits.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => onDisconnect(this));
  }

  /** @param onReceived is called with all bytes of the response so far, with those around its body. */
  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    onReceived: (bytes: number) => void,
  ): void {
    this.#bytesBefore = this.#connected?.bytesRead ?? 0;
    this.#onReceived = onReceived;
    this.#isPaused = false;
    this.#client.dispatch(options, handler);
  }

  /** Returns whether the connection ended by an error, such as a reset, and not by the other side closing it. */
  get isBroken(): boolean {
    return this.#connected?.errored != null;
  }

  /**
   * Lets undici read nothing more of the socket until {@link resume}. undici 7 throws where nobody can catch it when
   * the other side closes or resets a connection that undici has paused itself (nodejs/undici#5360).
   */
  pause(): void {
    this.#isPaused = true;
  }

  /** Lets undici read on. */
  resume(): void {
    this.#isPaused = false;
    this.#connected?.emit('readable');
  }

  #watch(socket: Socket): void {
    this.#connected = socket;
    this.#bytesBefore = 0;
    const read = socket.read.bind(socket);
    socket.read = (size) => (this.#isPaused && socket === this.#connected ? null : read(size));
    socket.on('readable', () => {
      if (socket === this.#connected) this.#onReceived(socket.bytesRead - this.#bytesBefore);
    });
  }

  /** Closes the connection at once, even while connecting; a request in flight fails. */
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
