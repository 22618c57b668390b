/**
 * Tracks every connection of a server: the requests that wait for an answer, and the time since the last byte.
 *
 * Flows in: sockets and requests from Node. Flows out: the requests of a connection, one after another. Connections
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
import { normalizeAddress } from '../location/address.js';
import { rawAnswer } from './raw-answers.js';

/** Bounds that have a setting. */
export interface ConnectionSettings {
  readonly maxConnections: number;
  /** 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  /** Addresses of proxies. Many devices share a proxy, so it may have any number of connections. */
  readonly proxies: Networks;
  /** Time that the server waits for a body, apart from the time that its bytes earn. */
  readonly bodyTimeoutMs: number;
  /** Each time that a body has sent this many bytes, it gets another second. */
  readonly minBodyBytesPerSecond: number;
}

/** Bounds without a setting. */
export const fixedConnectionBounds = {
  /** From the start of a request or connection to the end of the headers. */
  headersTimeoutMs: 20_000,
  /** Pipelined requests of all connections that wait for the answers before them. */
  maxHeldRequests: 10_000,
  /** Time that the server waits for a client to read its answers, apart from the time that the read bytes earn. */
  answerTimeoutMs: 60_000,
  /** Each time that a client has read this many bytes, it gets another second. */
  minAnswerBytesPerSecond: 1_000,
};

export type ConnectionBounds = ConnectionSettings & Readonly<typeof fixedConnectionBounds>;

export interface DrainOptions {
  /** A connection without a request is closed after this time without a byte. */
  readonly silentMs: number;
  /** After this time all open connections are destroyed. */
  readonly timeoutMs: number;
}

export interface Connections {
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

const checkEveryMs = 25;
const maxSpeedCheckEveryMs = 1_000;
/**
 * The rest of a body that is already answered is read and dropped. If the connection were closed, the sender would not
 * see the answer.
 */
const maxDroppedBytes = 64 * 2 ** 20;
const dropTimeoutMs = 5_000;
/** Time between the end of the answer and the destruction of the connection, for the other side to read. */
const lingerMs = 1_000;
/** Refused connections that may linger at the same time; more are destroyed without an answer. */
const maxRefused = 100;

const addressOf = ({ remoteAddress = '' }: Socket): string => normalizeAddress(remoteAddress) ?? '';

/**
 * Returns the bytes that the kernel has not taken yet. `writableLength` keeps a whole answer until its last byte has
 * left, so it would not show that a slow client reads. Node measures its own socket timeout in the same way.
 */
const unsentBytesOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;

/** One socket and its requests. */
class Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Responses of the requests that wait for an answer, in the order of the requests. Only the first is handled. */
  readonly responses = new Set<ServerResponse>();
  /** Handles the requests after the first, in their order. */
  readonly held: (() => void)[] = [];
  isPausedWhileHolding = false;
  unsentBytes = 0;
  unreadMs = 0;
  /** The latest request. */
  request: IncomingMessage | undefined;
  waitedMs = 0;
  bytesBeforeBody = 0;
  /** Time when the last answer ended or the connection was opened, and the bytes read until then. */
  restingSince = performance.now();
  bytesAtRest = 0;
  bytesSeen = 0;
  heardAt = performance.now();
  refusal: string | undefined;
  isEnding = false;

  constructor(socket: Socket) {
    this.socket = socket;
    this.address = addressOf(socket);
  }

  /** Asks the sender to close, with the answer to its latest request. Nothing is read after that request. */
  announceClose(): void {
    const all = [...this.responses];
    for (const [index, response] of all.entries()) {
      if (response.headersSent) continue;
      if (index === all.length - 1) response.setHeader('Connection', 'close');
      else response.removeHeader('Connection');
    }
  }

  /** Notes the bytes that arrived since the last call. */
  listen(now: number): void {
    if (this.socket.bytesRead === this.bytesSeen) return;
    this.bytesSeen = this.socket.bytesRead;
    this.heardAt = now;
  }

  isSilent(now: number, silentMs: number): boolean {
    return (
      this.responses.size === 0 &&
      // Otherwise a request has begun to arrive.
      this.socket.bytesRead === this.bytesAtRest &&
      now - Math.max(this.restingSince, this.heardAt) >= silentMs
    );
  }

  /**
   * Ends the server's side. What the other side still sends is read and dropped, because a reset could lose the last
   * answer. Requests in it have no effect.
   */
  end(text = ''): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.socket.end(text);
    setTimeout(() => this.socket.destroy(), lingerMs).unref();
  }
}

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

/** Watches the connections of the server. Call it before the server listens. */
export function watchConnections({ server }: Pick<FastifyInstance, 'server'>, bounds: ConnectionBounds): Connections {
  const connections = new Map<Socket, Connection>();
  const perAddress = createOpenCounts();
  let isAccepting = true;
  let refused = 0;
  let heldRequests = 0;

  function limitReached(address: string): string | undefined {
    if (connections.size >= bounds.maxConnections)
      return `the server has reached its limit of ${bounds.maxConnections} connections`;
    const { maxConnectionsPerAddress: most } = bounds;
    if (most > 0 && perAddress.of(address) >= most && !bounds.proxies.has(address))
      return `this address has reached its limit of ${most} connections`;
    return undefined;
  }

  function refuseConnection(socket: Socket, reason: string): void {
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
  }

  function keep(socket: Socket): void {
    const connection = new Connection(socket);
    const { address } = connection;
    connections.set(socket, connection);
    const takeOff = perAddress.add(address);
    socket.once('close', () => {
      heldRequests -= connection.held.splice(0).length;
      connections.delete(socket);
      takeOff();
    });
  }

  // Node's own listener would read requests from a refused connection.
  interceptEvents<[Socket]>(server, 'connection', (pass, socket) => {
    const reason = limitReached(addressOf(socket));
    if (reason !== undefined) return refuseConnection(socket, reason);
    keep(socket);
    pass();
  });

  /**
   * Holds a request back until the answers before it have left this process. So a client that sends many requests and
   * reads nothing has one answer in memory. Nothing more is read meanwhile. Node passes on what it has already read.
   */
  function hold(connection: Connection, handle: () => void): void {
    const { held, socket } = connection;
    held.push(handle);
    heldRequests += 1;
    const pause = (): void => {
      if (held.length > 0) socket.pause();
    };
    // Node reads on by itself after each request and after each answer that had filled the socket.
    if (!connection.isPausedWhileHolding) socket.on('resume', pause);
    connection.isPausedWhileHolding = true;
    process.nextTick(pause);
  }

  function handleNext(connection: Connection): void {
    const handle = connection.held.shift();
    if (handle === undefined) return;
    heldRequests -= 1;
    if (connection.held.length === 0) {
      connection.waitedMs = 0;
      connection.socket.resume();
    }
    handle();
  }

  interceptEvents<[IncomingMessage, ServerResponse]>(server, 'request', (handle, request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return handle();
    const isFirst = connection.responses.size === 0;
    if (!isFirst && heldRequests >= bounds.maxHeldRequests && connection.refusal === undefined) {
      const rule = `${bounds.maxHeldRequests} pipelined requests wait on this node`;
      connection.refusal = rawAnswer(new ApiError('overloaded', rule, { retryAfterS: 1 }));
    }
    if (connection.isEnding || connection.refusal !== undefined) {
      // Nothing can be answered any more. What has no effect can be sent again on another connection.
      request.resume();
      return;
    }
    connection.request = request;
    connection.waitedMs = 0;
    connection.bytesBeforeBody = request.socket.bytesRead;
    connection.responses.add(response);
    if (!isAccepting) connection.announceClose();
    response.once('close', () => {
      connection.responses.delete(response);
      if (connection.responses.size > 0) {
        // Answers that are sent at once would otherwise follow each other without a turn for other connections.
        setImmediate(handleNext, connection);
        return;
      }
      connection.restingSince = performance.now();
      connection.bytesAtRest = connection.socket.bytesRead;
      if (connection.refusal !== undefined) connection.end(connection.refusal);
    });
    if (isFirst) handle();
    else hold(connection, handle);
  });

  /** Ends a request whose body is too slow, with an answer where none was given. */
  function endBody(connection: Connection, request: IncomingMessage): void {
    const [response] = connection.responses;
    if (response === undefined || response.headersSent || request.listenerCount('error') === 0) {
      connection.socket.destroy();
      return;
    }
    const { bodyTimeoutMs, minBodyBytesPerSecond } = bounds;
    const rule = `${bodyTimeoutMs / 1_000} s, plus one second for each ${minBodyBytesPerSecond} bytes`;
    // Node reports a body that was cut off in the same way. Destroying the request would destroy the connection before
    // the answer.
    request.emit('error', new ApiError('request_timeout', `the body did not arrive within ${rule}`));
  }

  function checkBody(connection: Connection, elapsedMs: number): void {
    const { request, socket, responses } = connection;
    if (request === undefined || request.complete || connection.isEnding) return;
    // The server is behind, not the sender.
    if (connection.held.length > 0 || request.readableLength > 0 || request.isPaused()) return;
    connection.waitedMs += elapsedMs;
    const receivedBytes = socket.bytesRead - connection.bytesBeforeBody;
    const earnedMs = (receivedBytes / bounds.minBodyBytesPerSecond) * 1_000;
    if (responses.size === 0 && (connection.waitedMs > dropTimeoutMs + earnedMs || receivedBytes > maxDroppedBytes))
      socket.destroy();
    else if (connection.waitedMs > bounds.bodyTimeoutMs + earnedMs) endBody(connection, request);
  }

  /** Ends a connection that reads its answers too slowly. */
  function checkReader(connection: Connection, elapsedMs: number): void {
    const unsentBytes = unsentBytesOf(connection.socket);
    // More unsent bytes than before are those of another answer, so all earlier ones have left.
    const sentBytes = connection.unsentBytes - (unsentBytes > connection.unsentBytes ? 0 : unsentBytes);
    const earnedMs = (sentBytes / bounds.minAnswerBytesPerSecond) * 1_000;
    connection.unsentBytes = unsentBytes;
    connection.unreadMs = unsentBytes === 0 ? 0 : Math.max(0, connection.unreadMs + elapsedMs - earnedMs);
    if (connection.unreadMs > bounds.answerTimeoutMs) connection.socket.destroy();
  }

  const checkSpeedsEveryMs = Math.min(maxSpeedCheckEveryMs, bounds.bodyTimeoutMs / 4, bounds.answerTimeoutMs / 4);
  let checkedAt = performance.now();
  const speedChecks = setInterval(() => {
    const now = performance.now();
    // A check that is late shows that the server stood still. Clients do not answer for that time.
    const elapsedMs = Math.min(now - checkedAt, 2 * checkSpeedsEveryMs);
    checkedAt = now;
    for (const connection of connections.values()) {
      checkBody(connection, elapsedMs);
      checkReader(connection, elapsedMs);
    }
  }, checkSpeedsEveryMs);
  speedChecks.unref();
  server.once('close', () => clearInterval(speedChecks));

  return {
    isStopping: false,
    async stopAccepting() {
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
      isAccepting = false;
      for (const connection of connections.values()) connection.announceClose();
    },
    async drained({ silentMs, timeoutMs }) {
      const startedAt = performance.now();
      while (connections.size > 0) {
        await delay(checkEveryMs);
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
    },
    refuse(socket, failure, requestId) {
      const connection = connections.get(socket);
      const text = rawAnswer(failure, requestId);
      if (connection === undefined) {
        socket.destroy();
        return;
      }
      if (connection.refusal !== undefined || connection.isEnding) return;
      // The server is behind, not the sender: the rest of the headers is not read while requests are held back.
      if (failure.code === 'request_timeout' && connection.held.length > 0) return;
      connection.refusal = text;
      const [first] = connection.responses;
      const isItsOwn = connection.responses.size === 1 && !first!.headersSent && connection.request?.complete === false;
      if (first === undefined || isItsOwn) connection.end(text);
    },
  };
}
