/** Opens the sockets of ioredis. */
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';

/**
 * Connects like ioredis' own connector, but handles every error of a socket. ioredis handles the first one only. A
 * connection that a server refuses while it closes causes two, and the second one would end the process.
 */
export class RedisConnector extends AbstractConnector {
  readonly #options: StandaloneConnectionOptions;

  constructor(given: unknown) {
    const options = given as StandaloneConnectionOptions & { readonly disconnectTimeout: number };
    super(options.disconnectTimeout);
    this.#options = options;
  }

  async connect(): Promise<Socket | TLSSocket> {
    this.connecting = true;
    // ioredis may disconnect in the same turn.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (!this.connecting) throw new Error('Connection is closed.');
    const { host, port, family, tls } = this.#options as { host: string; port: number } & StandaloneConnectionOptions;
    const stream = tls
      ? connectTls({ host, port, ...tls })
      : createConnection({ host, port, ...(family && { family }) });
    stream.on('error', (error) => {
      // ioredis reports it if the socket failed at once.
      this.firstError ??= error;
    });
    this.stream = stream;
    return stream;
  }
}
