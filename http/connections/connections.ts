/**
 * Tracks every connection of a server: the requests that wait for an answer, and the time since the last byte.
 *
 * Input: sockets and requests from Node. Output: the requests of a connection, one after another. Connections
 * beyond the limits are refused, and bodies and readers that are too slow are ended. A shutdown answers every request
 * that was sent before it closes the connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Networks } from '../../outbound/addresses.js';
import { ApiError } from '../../schemas/errors.js';
import { createOpenCounts } from '../../schemas/open-counts.js';
import { clientOf } from '../location/address.js';
import { addressOf, Connection, lingerMs } from './connection.js';
import { rawAnswer } from './raw-answers.js';
import { endSlowClients, type SpeedBounds } from './slow-clients.js';

/** Bounds that have a setting. */
export interface ConnectionSettings extends Pick<SpeedBounds, 'bodyTimeoutMs' | 'minBodyBytesPerSecond'> {
  readonly maxConnections: number;
  /** 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  /** Addresses of proxies. Many devices share a proxy, so it may have any number of connections. */
  readonly proxies: Networks;
}

/** Bounds without a setting. */
export const fixedConnectionBounds = {
  /** From the start of a request or connection to the end of the headers. */
  headersTimeoutMs: 20_000,
  /** Pipelined requests of all connections that wait for the answers before them. */
  maxHeldRequests: 10_000,
  answerTimeoutMs: 60_000,
  minAnswerBytesPerSecond: 1_000,
};

/** All bounds of connections: those with a setting and the fixed ones. */
export type ConnectionBounds = ConnectionSettings & Readonly<typeof fixedConnectionBounds>;

interface DrainOptions {
  /** A connection without a request is closed after this time without a byte. */
  readonly silentMs: number;
  /** After this time all open connections are destroyed. */
  readonly timeoutMs: number;
}

interface Connections {
  /** The server is going to stop: readiness is refused, and everything else goes on. */
  isStopping: boolean;
  /**
   * Accepts the connections that are already queued, and then no more. From then on answers ask their senders to close
   * the connection. A sender that was asked earlier could reconnect while the listener closes.
   */
  stopAccepting(): Promise<void>;
  /** Resolves when all connections are closed, to the number that had to be destroyed. */
  drained(options: DrainOptions): Promise<number>;
  /** Answers malformed HTTP after the earlier requests of its connection, and closes the connection. */
  refuse(socket: Socket, failure: ApiError, requestId: string): void;
}

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections;
  }
}

const drainCheckEveryMs = 25;
/** Refused connections that may linger at the same time; more are destroyed without an answer. */
const maxRefused = 100;

/** Calls the present listeners of an event only when `intercept` calls `pass`. */
function interceptEvents<Parameters extends unknown[]>(
  server: Server,
  event: string,
  intercept: (pass: () => void, ...parameters: Parameters) => void,
): void {
  const listeners = server.listeners(event) as ((...parameters: Parameters) => void)[];
  server.removeAllListeners(event);
  server.on(event, (...parameters: unknown[]) => {
    const pass = (): void => {
      for (const listener of listeners) listener.apply(server, parameters as Parameters);
    };
    intercept(pass, ...(parameters as Parameters));
  });
}

/** The open connections by their sockets. */
type OpenConnections = Map<Socket, Connection>;

/** Answers a connection beyond the limits, and ends it. */
function createRefusals(): (socket: Socket, reason: string) => void {
  let refused = 0;
  return (socket, reason) => {
    socket.on('error', () => {});
    if (refused >= maxRefused) {
      socket.destroy();
      return;
    }
    refused += 1;
    socket.once('close', () => {
      refused -= 1;
    });
    socket.resume();
    socket.end(rawAnswer(new ApiError('overloaded', reason, { retryAfterS: 1 })));
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}

/** Keeps new connections in `connections` until they close, and refuses those beyond the limits. */
function admitConnections(server: Server, connections: OpenConnections, bounds: ConnectionBounds): void {
  const perClient = createOpenCounts();
  const refuse = createRefusals();

  function limitReached(address: string, client: string): string | undefined {
    if (connections.size >= bounds.maxConnections)
      return `the server has reached its limit of ${bounds.maxConnections} connections`;
    const { maxConnectionsPerAddress: most } = bounds;
    if (most > 0 && perClient.of(client) >= most && !bounds.proxies.has(address))
      return `this address has reached its limit of ${most} connections`;
    return undefined;
  }

  // Node's own listener would read requests from a refused connection.
  interceptEvents<[Socket]>(server, 'connection', (pass, socket) => {
    const address = addressOf(socket);
    const client = clientOf(address);
    const reason = limitReached(address, client);
    if (reason !== undefined) return refuse(socket, reason);
    connections.set(socket, new Connection(socket));
    const takeOff = perClient.add(client);
    socket.once('close', () => {
      connections.delete(socket);
      takeOff();
    });
    pass();
  });
}

/** Holds pipelined requests back until the answers before them have left, and bounds those of all connections. */
class HeldRequests {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns why no more requests can be held; undefined if they can. */
  get refusal(): ApiError | undefined {
    if (this.#count < this.#max) return undefined;
    return new ApiError('overloaded', `${this.#max} pipelined requests wait on this node`, { retryAfterS: 1 });
  }

  /**
   * Holds a request back until the answers before it have left this process. So a client that sends many requests and
   * reads nothing has one answer in memory. Nothing more is read meanwhile. Node passes on what it has already read.
   */
  hold(connection: Connection, handle: () => void): void {
    const { held, socket } = connection;
    held.push(handle);
    this.#count += 1;
    const pause = (): void => {
      if (held.length > 0) socket.pause();
    };
    if (!connection.hasHeld) {
      // Node reads on by itself after each request and after each answer that had filled the socket.
      socket.on('resume', pause);
      socket.once('close', () => {
        this.#count -= held.splice(0).length;
      });
    }
    connection.hasHeld = true;
    process.nextTick(pause);
  }

  handleNext(connection: Connection): void {
    const handle = connection.held.shift();
    if (handle === undefined) return;
    this.#count -= 1;
    if (connection.held.length === 0) {
      connection.waitedMs = 0;
      connection.socket.resume();
    }
    handle();
  }
}

/** Handles the requests of each connection one after another. `isClosing` tells whether answers announce the close. */
function orderRequests(
  server: Server,
  connections: OpenConnections,
  { maxHeldRequests }: ConnectionBounds,
  isClosing: () => boolean,
): void {
  const heldRequests = new HeldRequests(maxHeldRequests);

  function answered(connection: Connection, response: ServerResponse): void {
    connection.responses.delete(response);
    if (connection.responses.size > 0) {
      // Answers that are sent at once would otherwise follow each other without a turn for other connections.
      setImmediate(() => heldRequests.handleNext(connection));
      return;
    }
    connection.rest();
    if (connection.refusal !== undefined) connection.end(connection.refusal);
  }

  interceptEvents<[IncomingMessage, ServerResponse]>(server, 'request', (handle, request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return handle();
    const isFirst = connection.responses.size === 0;
    const refusal = isFirst ? undefined : heldRequests.refusal;
    if (refusal !== undefined) connection.refusal ??= rawAnswer(refusal);
    if (connection.isEnding || connection.refusal !== undefined) {
      // Nothing can be answered any more. What has no effect can be sent again on another connection.
      request.resume();
      return;
    }
    connection.begin(request, response);
    if (isClosing()) connection.announceClose();
    response.once('close', () => answered(connection, response));
    if (isFirst) handle();
    else heldRequests.hold(connection, handle);
  });
}

/** Accepts the connections that are already queued, and then no more. */
async function stopListening(server: FastifyInstance['server']): Promise<void> {
  // In each turn of its event loop Node accepts all queued connections. The kernel resets those that arrive between
  // that and the close of the listener, so the close follows a turn that was short.
  for (let turn = 0; turn < 1_000; turn++) {
    const startedAt = performance.now();
    await nextTurn();
    if (performance.now() - startedAt < 1) break;
  }
  // `drained` closes idle connections, because a request may be on its way on one of them.
  server.closeIdleConnections = () => {};
  if (server.listening) Server.prototype.close.call(server);
}

async function drain(connections: OpenConnections, { silentMs, timeoutMs }: DrainOptions): Promise<number> {
  const startedAt = performance.now();
  while (connections.size > 0) {
    await delay(drainCheckEveryMs);
    // Runs after the turn has read its sockets, so that a silent connection had sent nothing until this moment.
    await nextTurn();
    const now = performance.now();
    for (const connection of connections.values()) {
      connection.listen(now);
      if (connection.isSilent(now, silentMs)) connection.end();
    }
    if (now - startedAt <= timeoutMs) continue;
    const cut = connections.size;
    for (const { socket } of connections.values()) socket.destroy();
    return cut;
  }
  return 0;
}

/** Watches the connections of the server. Call it before the server listens. */
export function watchConnections({ server }: Pick<FastifyInstance, 'server'>, bounds: ConnectionBounds): Connections {
  const connections: OpenConnections = new Map();
  let isAccepting = true;
  admitConnections(server, connections, bounds);
  orderRequests(server, connections, bounds, () => !isAccepting);
  endSlowClients(server, connections, bounds);

  return {
    isStopping: false,
    async stopAccepting() {
      await stopListening(server);
      isAccepting = false;
      for (const connection of connections.values()) connection.announceClose();
    },
    drained: (options) => drain(connections, options),
    refuse(socket, failure, requestId) {
      const connection = connections.get(socket);
      if (connection === undefined) {
        socket.destroy();
        return;
      }
      if (connection.refusal !== undefined || connection.isEnding) return;
      // The server is behind, not the sender: the rest of the headers is not read while requests are held back.
      if (failure.code === 'request_timeout' && connection.held.length > 0) return;
      connection.refusal = rawAnswer(failure, requestId);
      const [first] = connection.responses;
      const isItsOwn = connection.responses.size === 1 && !first!.headersSent && connection.request?.complete === false;
      if (first === undefined || isItsOwn) connection.end(connection.refusal);
    },
  };
}
