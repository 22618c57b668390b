/**
 * Knows every connection of a server: how many there are, which requests each of them waits for, and how long it has
 * been silent.
 *
 * Flows in: sockets and requests as Node tells of them. Flows out: refusals of connections beyond the limits, an end to
 * bodies that come too slowly, and, when the server stops, an order in which every request that was sent is answered
 * before its connection is closed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, isIP, Server, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../schemas/errors.js';
import { rawAnswer } from './raw-answers.js';

export interface ConnectionBounds {
  readonly maxConnections: number;
  /** 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  /** Addresses and CIDRs of proxies: many devices stand behind one, so it may have any number of connections. */
  readonly proxies: readonly string[];
  /** From the beginning of a request, or of a connection, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** How long a body may keep us waiting, apart from what its bytes earn. */
  readonly bodyTimeoutMs: number;
  /** Each so many bytes of a body earn it another second. */
  readonly minBodyBytesPerSecond: number;
}

export const defaultConnectionBounds: ConnectionBounds = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 2_000,
  proxies: [],
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 30_000,
  minBodyBytesPerSecond: 1_000,
};

export interface DrainOptions {
  /** A connection without a request is closed once it has been silent for so long. */
  readonly silentMs: number;
  /** Whatever is open still is cut then. */
  readonly timeoutMs: number;
}

export interface Connections {
  /** The server is to stop: readiness is refused, and everything else goes on. */
  isStopping: boolean;
  /**
   * Accepts what waits to be accepted, and then no more. Only from then on answers ask their senders to close the
   * connection: whoever was asked before would connect anew in the moment in which the listener ends.
   */
  stopAccepting(): Promise<void>;
  /** Resolves when all connections are closed, with how many had to be cut. */
  drained(options: DrainOptions): Promise<number>;
  /** Answers a request that is no HTTP, after those before it on its connection, and closes the connection. */
  refuse(socket: Socket, failure: ApiError): void;
}

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections;
  }
}

const checkEveryMs = 25;
const bodyCheckEveryMs = 1_000;
/**
 * The end of a body that was answered already is read and dropped; a sender whose connection were closed would not see
 * the answer.
 */
const maxDroppedBytes = 64 * 2 ** 20;
const dropTimeoutMs = 5_000;
/** Between our end of a connection and its destruction: for the other side to read what was sent. */
const lingerMs = 1_000;
/** Refused connections that linger at once; more are cut without an answer. */
const maxRefused = 100;

/** IPv4 in its own form also where it came mapped into IPv6. */
const addressOf = ({ remoteAddress = '' }: Socket): string => remoteAddress.replace(/^::ffff:/, '');

/** One socket and what was asked on it. */
class Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Of requests that wait for an answer, in the order of their requests. */
  readonly responses = new Set<ServerResponse>();
  /** The latest. */
  request: IncomingMessage | undefined;
  waitedMs = 0;
  bytesBeforeBody = 0;
  /** When the last answer was done, or the connection was made; and how much had been read then. */
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

  /** Asks the sender to close, by the answer to its latest request: after that one nothing more is read. */
  announceClose(): void {
    const all = [...this.responses];
    for (const [index, response] of all.entries()) {
      if (response.headersSent) continue;
      if (index === all.length - 1) response.setHeader('Connection', 'close');
      else response.removeHeader('Connection');
    }
  }

  /** Notes what has come since the last time. */
  listen(now: number): void {
    if (this.socket.bytesRead === this.bytesSeen) return;
    this.bytesSeen = this.socket.bytesRead;
    this.heardAt = now;
  }

  isSilent(now: number, silentMs: number): boolean {
    return (
      this.responses.size === 0 &&
      // Else a request has begun to come.
      this.socket.bytesRead === this.bytesAtRest &&
      now - Math.max(this.restingSince, this.heardAt) >= silentMs
    );
  }

  /**
   * Ends our side; what the other side still says is read and dropped, because a reset could take the last answer with
   * it.
   */
  end(text = ''): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.socket.end(text);
    setTimeout(() => this.socket.destroy(), lingerMs).unref();
  }
}

function proxyMatcher(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) continue;
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Watches the connections of the server from now on, before it listens. */
export function watchConnections({ server }: Pick<FastifyInstance, 'server'>, bounds: ConnectionBounds): Connections {
  const connections = new Map<Socket, Connection>();
  const perAddress = new Map<string, number>();
  const isProxy = proxyMatcher(bounds.proxies);
  let isAccepting = true;
  let refused = 0;

  function limitReached(address: string): string | undefined {
    if (connections.size >= bounds.maxConnections) return `the server has ${bounds.maxConnections} connections`;
    const { maxConnectionsPerAddress: most } = bounds;
    if (most > 0 && (perAddress.get(address) ?? 0) >= most && !isProxy(address))
      return `this address has ${most} connections`;
    return undefined;
  }

  function turnAway(socket: Socket, reason: string): void {
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
    perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
    socket.once('close', () => {
      connections.delete(socket);
      const others = perAddress.get(address)! - 1;
      if (others > 0) perAddress.set(address, others);
      else perAddress.delete(address);
    });
  }

  // In front of Node's own listener, which would read requests from a connection that is turned away.
  const serve = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const reason = limitReached(addressOf(socket));
    if (reason !== undefined) return turnAway(socket, reason);
    keep(socket);
    for (const listener of serve) listener.call(server, socket);
  });

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.request = request;
    connection.waitedMs = 0;
    connection.bytesBeforeBody = request.socket.bytesRead;
    connection.responses.add(response);
    if (!isAccepting) connection.announceClose();
    response.once('close', () => {
      connection.responses.delete(response);
      if (connection.responses.size > 0) return;
      connection.restingSince = performance.now();
      connection.bytesAtRest = connection.socket.bytesRead;
      if (connection.refusal !== undefined) connection.end(connection.refusal);
    });
  });

  /** Ends a request whose body keeps us waiting, with an answer where none was given. */
  function endBody(connection: Connection, request: IncomingMessage): void {
    const [response] = connection.responses;
    if (response === undefined || response.headersSent || request.listenerCount('error') === 0) {
      connection.socket.destroy();
      return;
    }
    const { bodyTimeoutMs, minBodyBytesPerSecond } = bounds;
    const rule = `${bodyTimeoutMs / 1_000} s, and a second more for each ${minBodyBytesPerSecond} bytes`;
    // As Node tells a reader of a body that was cut; destroying the request would destroy the connection before the
    // answer.
    request.emit('error', new ApiError('request_timeout', `the body did not come within ${rule}`));
  }

  function checkBody(connection: Connection, elapsedMs: number): void {
    const { request, socket, responses } = connection;
    if (request === undefined || request.complete || connection.isEnding) return;
    // What has come waits for us, not we for it.
    if (request.readableLength > 0 || request.isPaused()) return;
    connection.waitedMs += elapsedMs;
    const receivedBytes = socket.bytesRead - connection.bytesBeforeBody;
    const earnedMs = (receivedBytes / bounds.minBodyBytesPerSecond) * 1_000;
    if (responses.size === 0 && (connection.waitedMs > dropTimeoutMs + earnedMs || receivedBytes > maxDroppedBytes))
      socket.destroy();
    else if (connection.waitedMs > bounds.bodyTimeoutMs + earnedMs) endBody(connection, request);
  }

  let checkedAt = performance.now();
  const bodyChecks = setInterval(
    () => {
      const now = performance.now();
      for (const connection of connections.values()) checkBody(connection, now - checkedAt);
      checkedAt = now;
    },
    Math.min(bodyCheckEveryMs, bounds.bodyTimeoutMs / 4),
  );
  bodyChecks.unref();
  server.once('close', () => clearInterval(bodyChecks));

  return {
    isStopping: false,
    async stopAccepting() {
      // Node takes all that waits to be accepted in each turn of its loop. What comes between that and the end of the
      // listener is reset by the kernel, so the end follows a turn that was short.
      for (let turn = 0; turn < 1_000; turn++) {
        const startedAt = performance.now();
        await nextTurn();
        if (performance.now() - startedAt < 1) break;
      }
      // Closing idle connections is left to `drained`: one of them may have a request under way.
      server.closeIdleConnections = () => {};
      if (server.listening) Server.prototype.close.call(server);
      isAccepting = false;
      for (const connection of connections.values()) connection.announceClose();
    },
    async drained({ silentMs, timeoutMs }) {
      const startedAt = performance.now();
      while (connections.size > 0) {
        await delay(checkEveryMs);
        // After the turn's reading, so that whoever is found silent had said nothing up to this moment.
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
    refuse(socket, failure) {
      const connection = connections.get(socket);
      const text = rawAnswer(failure);
      if (connection === undefined) {
        socket.destroy();
        return;
      }
      if (connection.refusal !== undefined || connection.isEnding) return;
      connection.refusal = text;
      const [first] = connection.responses;
      const isItsOwn = connection.responses.size === 1 && !first!.headersSent && connection.request?.complete === false;
      if (first === undefined || isItsOwn) connection.end(text);
    },
  };
}
