/**
 * One request and what comes back.
 *
 * Flows in: what undici tells of the answer, and the passing of time. Flows out: one {@link OutboundResult}. From the
 * moment that status and headers are there the request is answered, whatever becomes of the body.
 */
import type { Dispatcher } from 'undici';
import { BoundedBody } from './body.js';
import type { OutboundResult } from './client.js';
import type { Connection } from './connection.js';
import type { Job, OriginConnections } from './connections.js';
import { failureOf, isConnectionLost, OutboundError } from './failures.js';

export interface ExchangeBounds {
  /** For everything: waiting for a connection, resolving, connecting, sending, reading. */
  readonly timeoutMs: number;
  /** For the body once the headers are there, within the whole. */
  readonly bodyTimeoutMs: number;
  readonly maxBodyBytes: number;
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Where the time went, for the owner to read. */
type Phase = 'waiting' | 'connecting' | 'sent';

const timeouts: Readonly<Record<Phase, string>> = {
  waiting: 'no connection was free: other requests to the same host took all of them',
  connecting: 'no connection could be made in time',
  sent: 'connected, but no answer came in time',
};

export class Exchange implements Job, Dispatcher.DispatchHandler {
  readonly #options: Dispatcher.DispatchOptions;
  readonly #bounds: ExchangeBounds;
  readonly #connections: OriginConnections;
  readonly #settle: (result: OutboundResult) => void;
  readonly #startedAtMs = performance.now();
  readonly #body: BoundedBody;
  #timer: NodeJS.Timeout;
  #connection: Connection | undefined;
  #phase: Phase = 'waiting';
  #status = 0;
  #headers: Record<string, string> = {};
  #repeated = false;
  #settled = false;

  /** The time runs from here. `settle` is called once. */
  constructor(
    options: Dispatcher.DispatchOptions,
    bounds: ExchangeBounds,
    connections: OriginConnections,
    settle: (result: OutboundResult) => void,
  ) {
    this.#options = options;
    this.#bounds = bounds;
    this.#connections = connections;
    this.#settle = settle;
    this.#body = new BoundedBody(bounds.maxBodyBytes);
    this.#timer = setTimeout(timeOut, bounds.timeoutMs, this);
  }

  run(connection: Connection): void {
    this.#connection = connection;
    this.#phase = 'connecting';
    connection.dispatch(this.#options, this);
  }

  abandon(): void {
    this.#fail(new OutboundError('connection_failed', 'the client was closed'));
  }

  timeOut(): void {
    this.#fail(new OutboundError('timed_out', timeouts[this.#phase]));
  }

  onRequestStart(): void {
    this.#phase = 'sent';
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // 103 and its like only precede an answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = joined(headers);
    this.#limitBody();
  }

  onResponseData(_: Dispatcher.DispatchController, piece: Buffer): void {
    if (!this.#body.add(piece)) this.#answer('truncated');
  }

  onResponseEnd(): void {
    this.#answer('whole');
  }

  /**
   * A kept connection that the other side was closing while the request was under way is no failure yet: the request is
   * sent once more.
   */
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const connection = this.#connection;
    if (connection?.kept && this.#status === 0 && !this.#repeated && !this.#settled && isConnectionLost(error)) {
      this.#repeated = true;
      this.#connections.replace(connection, this);
    } else {
      this.#fail(error);
    }
  }

  /** From now on the body's limit counts, unless the whole exchange ends before it. */
  #limitBody(): void {
    const leftMs = this.#startedAtMs + this.#bounds.timeoutMs - performance.now();
    if (this.#bounds.bodyTimeoutMs >= leftMs) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(timeOut, this.#bounds.bodyTimeoutMs, this);
  }

  #fail(error: Error): void {
    if (this.#status === 0) {
      const { failure, message } = failureOf(error);
      this.#end({ kind: 'failed', failure, message, durationMs: this.#durationMs() }, false);
    } else {
      this.#answer('truncated');
    }
  }

  #answer(extent: 'whole' | 'truncated'): void {
    const truncated = extent === 'truncated';
    const [status, headers, body] = [this.#status, this.#headers, this.#body.bytes];
    this.#end({ kind: 'answered', status, headers, body, truncated, durationMs: this.#durationMs() }, !truncated);
  }

  /** What comes later, such as the errors of a connection that is being destroyed, changes nothing. */
  #end(result: OutboundResult, reusable: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#settle(result);
    if (this.#connection === undefined) this.#connections.leave(this);
    else this.#connections.giveBack(this.#connection, reusable);
  }

  #durationMs(): number {
    return performance.now() - this.#startedAtMs;
  }
}

const timeOut = (exchange: Exchange): void => exchange.timeOut();

function joined(headers: Headers): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name] ?? '';
    result[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return result;
}
