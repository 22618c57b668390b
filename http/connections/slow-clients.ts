/** Ends connections whose client sends a body, or reads its answers, too slowly. */
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { ApiError } from '../../schemas/errors.js';
import type { Connection } from './connection.js';

/** The slowest client that is served. One that is slower is disconnected. */
export interface SpeedBounds {
  /** Time that the server waits for a body, apart from the time that its bytes earn. */
  readonly bodyTimeoutMs: number;
  /** Each time that a body has sent this many bytes, it gets another second. */
  readonly minBodyBytesPerSecond: number;
  /** Time that the server waits for a client to read its answers, apart from the time that the read bytes earn. */
  readonly answerTimeoutMs: number;
  /** Each time that a client has read this many bytes, it gets another second. */
  readonly minAnswerBytesPerSecond: number;
}

const maxCheckEveryMs = 1_000;
/**
 * The rest of a body that is already answered is read and dropped. If the connection were closed, the sender would not
 * see the answer.
 */
const maxDroppedBytes = 64 * 2 ** 20;
const dropTimeoutMs = 5_000;

/**
 * Returns the bytes that the kernel has not taken yet. `writableLength` keeps a whole answer until its last byte has
 * left, so it would not show that a slow client reads. Node measures its own socket timeout in the same way.
 */
const unsentBytesOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;

/** Ends a request whose body is too slow, with an answer where none was given. */
function endBody({ socket, responses }: Connection, request: IncomingMessage, bounds: SpeedBounds): void {
  const [response] = responses;
  if (response === undefined || response.headersSent || request.listenerCount('error') === 0) {
    socket.destroy();
    return;
  }
  const { bodyTimeoutMs, minBodyBytesPerSecond } = bounds;
  const rule = `${bodyTimeoutMs / 1_000} s, plus one second for each ${minBodyBytesPerSecond} bytes`;
  // Node reports a body that was cut off in the same way. Destroying the request would destroy the connection before
  // the answer.
  request.emit('error', new ApiError('request_timeout', `the body did not arrive within ${rule}`));
}

function checkBody(connection: Connection, elapsedMs: number, bounds: SpeedBounds): void {
  const { request, socket, responses } = connection;
  if (request === undefined || request.complete || connection.isEnding) return;
  // The server is behind, not the sender.
  if (connection.held.length > 0 || request.readableLength > 0 || request.isPaused()) return;
  connection.waitedMs += elapsedMs;
  const receivedBytes = socket.bytesRead - connection.bytesBeforeBody;
  const earnedMs = (receivedBytes / bounds.minBodyBytesPerSecond) * 1_000;
  if (responses.size === 0 && (connection.waitedMs > dropTimeoutMs + earnedMs || receivedBytes > maxDroppedBytes))
    socket.destroy();
  else if (connection.waitedMs > bounds.bodyTimeoutMs + earnedMs) endBody(connection, request, bounds);
}

function checkReader(connection: Connection, elapsedMs: number, bounds: SpeedBounds): void {
  const unsentBytes = unsentBytesOf(connection.socket);
  // More unsent bytes than before are those of another answer, so all earlier ones have left.
  const sentBytes = connection.unsentBytes - (unsentBytes > connection.unsentBytes ? 0 : unsentBytes);
  const earnedMs = (sentBytes / bounds.minAnswerBytesPerSecond) * 1_000;
  connection.unsentBytes = unsentBytes;
  connection.unreadMs = unsentBytes === 0 ? 0 : Math.max(0, connection.unreadMs + elapsedMs - earnedMs);
  if (connection.unreadMs > bounds.answerTimeoutMs) connection.socket.destroy();
}

/** Checks the connections, which may become more and fewer, until the server has closed. */
export function endSlowClients(
  server: Server,
  connections: Pick<ReadonlyMap<Socket, Connection>, 'values'>,
  bounds: SpeedBounds,
): void {
  const checkEveryMs = Math.min(maxCheckEveryMs, bounds.bodyTimeoutMs / 4, bounds.answerTimeoutMs / 4);
  let checkedAt = performance.now();
  const checks = setInterval(() => {
    const now = performance.now();
    // A check that is late shows that the server stood still. Clients do not answer for that time.
    const elapsedMs = Math.min(now - checkedAt, 2 * checkEveryMs);
    checkedAt = now;
    for (const connection of connections.values()) {
      checkBody(connection, elapsedMs, bounds);
      checkReader(connection, elapsedMs, bounds);
    }
  }, checkEveryMs);
  checks.unref();
  server.once('close', () => clearInterval(checks));
}
