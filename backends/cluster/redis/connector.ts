/** Opens the sockets of ioredis. */
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';
import type { ClientObserver } from '../client-observer.js';

/**
 * Returns a connector that connects like ioredis' own, but handles every error of a socket. ioredis handles only the
 * first one. A connection that a server refuses while it closes causes two, and the second one would end the process.
 */
export const createConnector = (observer: ClientObserver) =>
  class extends AbstractConnector {
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
      observer.connections(1);
      stream.once('close', () => observer.connections(-1));
      stream.on('error', (error) => {
        // ioredis reports it if the socket failed at once.
        this.firstError ??= error;
      });
      this.stream = stream;
      return stream;
    }
  };
