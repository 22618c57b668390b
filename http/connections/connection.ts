/** One connection: its socket, the requests that wait for an answer, and what they have waited for. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { normalizeAddress } from '../location/address.js';

/** Time between the end of the answer and the destruction of the connection, for the other side to read. */
export const lingerMs = 1_000;

/** Returns the address of the other side; empty if it has left. */
export const addressOf = ({ remoteAddress = '' }: Socket): string => normalizeAddress(remoteAddress) ?? '';

/** A connection that was admitted. */
export class Connection {
  readonly socket: Socket;
  /** Responses of the requests that wait for an answer, in the order of the requests. Only the first is handled. */
  readonly responses = new Set<ServerResponse>();
  /** Handles the requests after the first, in their order. */
  readonly held: (() => void)[] = [];
  /** Requests have been held back. */
  hasHeld = false;
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
  }

  /** Notes a request that waits for its answer. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.request = request;
    this.waitedMs = 0;
    this.bytesBeforeBody = this.socket.bytesRead;
    this.responses.add(response);
  }

  /** Notes that all requests have their answers. */
  rest(): void {
    this.restingSince = performance.now();
    this.bytesAtRest = this.socket.bytesRead;
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

  /** Returns whether no request is open or arriving and the client has sent nothing for `silentMs`. */
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
