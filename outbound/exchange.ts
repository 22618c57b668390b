/**
 * One request and its response.
 *
 * Input: undici's events of the response, and time limits. Output: one {@link OutboundResult}. Once status and headers
 * have arrived, the request is answered, whatever happens to the body.
 */
import type { Dispatcher } from 'undici';
import { BoundedBody } from './body.js';
import type { Connection } from './connection.js';
import type { Job, OriginPool } from './connections.js';
import { failureOf, isConnectionLost, OutboundError } from './failures.js';
import type { BodyReceiver, OutboundRequest, OutboundResult } from './result.js';

/** Bounds of one request and its response. */
interface ExchangeBounds {
  /** Total time limit: waiting for a connection, resolving, connecting, sending, reading. */
  readonly timeoutMs: number;
  /** Time limit for the body after the headers, within the total. */
  readonly bodyTimeoutMs: number;
  readonly maxBodyBytes: number;
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** The phase at a timeout, for the message. */
type Phase = 'waiting' | 'connecting' | 'sent';

const timeouts: Readonly<Record<Phase, string>> = {
  waiting: 'no connection was free: other requests to the same host used all of them',
  connecting: 'no connection was established in time',
  sent: 'connected, but no response arrived in time',
};

/**
 * Bytes of a response that are no part of its body: status lines, headers, certificates, and what the socket has read
 * ahead. Each has a limit of its own, but not informational responses, empty lines, the reason phrase, and the lengths
 * and extensions of chunks.
 */
const maxBytesAroundBody = 2 ** 19;
/** A chunk of one byte has six. */
const bytesPerBodyByte = 8;

/** A request that is sent later gets no answer in time, but the other side may act on it. */
const minShareLeft = 0.05;

/** A request under way. It settles once, whatever fails. */
export class Exchange implements Job, Dispatcher.DispatchHandler {
  readonly #options: Dispatcher.DispatchOptions;
  readonly #bounds: ExchangeBounds;
  readonly #pool: OriginPool;
  readonly #choose: NonNullable<OutboundRequest['receiver']>;
  readonly #settle: (result: OutboundResult) => void;
  readonly #startedAtMs = performance.now();
  readonly #body: BoundedBody;
  #timer: NodeJS.Timeout;
  #connection: Connection | undefined;
  #phase: Phase = 'waiting';
  #status = 0;
  #headers: Record<string, string> = {};
  #receiver: BodyReceiver | undefined;
  #bodyBytes = 0;
  /** Pieces that the receiver has not taken, and when it has taken all. */
  #untaken = 0;
  #taken: Promise<void> = Promise.resolve();
  #repeated = false;
  #settled = false;

  /** Starts the time limit. `settle` is called once. */
  constructor(
    options: Dispatcher.DispatchOptions,
    bounds: ExchangeBounds,
    pool: OriginPool,
    settle: (result: OutboundResult) => void,
    choose: NonNullable<OutboundRequest['receiver']> = () => undefined,
  ) {
    this.#options = options;
    this.#bounds = bounds;
    this.#pool = pool;
    this.#settle = settle;
    this.#choose = choose;
    this.#body = new BoundedBody(bounds.maxBodyBytes);
    this.#timer = setTimeout(timeOut, bounds.timeoutMs, this);
  }

  hasTime(): boolean {
    return this.#durationMs() < (1 - minShareLeft) * this.#bounds.timeoutMs;
  }

  run(connection: Connection): void {
    this.#connection = connection;
    this.#phase = 'connecting';
    connection.dispatch(this.#options, this, (bytes) => this.#limitReceived(bytes));
  }

  abandon(reason: string): void {
    this.#fail(new OutboundError('connection_failed', reason));
  }

  timeOut(): void {
    this.#fail(new OutboundError('timed_out', timeouts[this.#phase]));
  }

  onRequestStart(): void {
    this.#phase = 'sent';
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Ignore informational responses such as 103.
    if (status < 200) return;
    this.#status = status;
    this.#headers = joined(headers);
    this.#receiver = this.#choose(status, this.#headers);
    this.#limitBody();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#receiver !== undefined) this.#hand(this.#receiver, chunk);
    else if (!this.#body.add(chunk)) this.#answer('truncated');
  }

  /** Hands a piece over after those before it. Nothing more is read until all are taken. */
  #hand(receiver: BodyReceiver, piece: Buffer): void {
    this.#untaken++;
    this.#connection?.pause();
    this.#taken = this.#taken.then(async () => {
      const isWanted = !this.#settled && (await receiver.write(piece).catch(() => false));
      this.#untaken--;
      if (!isWanted) this.#answer('truncated');
      else if (this.#untaken === 0) this.#connection?.resume();
    });
  }

  /** A body without a length ends with its connection, and undici takes a reset for such an end. */
  onResponseEnd(): void {
    const extent = this.#connection?.isBroken ? 'truncated' : 'whole';
    if (this.#receiver === undefined) this.#answer(extent);
    else void this.#taken.then(() => this.#answer(extent));
  }

  /**
   * Sends the request once more if the other side was closing the kept-alive connection in the meantime.
   */
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const connection = this.#connection;
    if (connection?.kept && this.#status === 0 && !this.#repeated && !this.#settled && isConnectionLost(error)) {
      this.#repeated = true;
      this.#pool.replace(connection, this);
    } else {
      this.#fail(error);
    }
  }

  /** Starts the time limit of the body, unless the total limit ends sooner. */
  #limitBody(): void {
    const leftMs = this.#startedAtMs + this.#bounds.timeoutMs - performance.now();
    if (this.#bounds.bodyTimeoutMs >= leftMs) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(timeOut, this.#bounds.bodyTimeoutMs, this);
  }

  #limitReceived(bytes: number): void {
    if (bytes <= maxBytesAroundBody + bytesPerBodyByte * this.#bodyBytes) return;
    this.#fail(new OutboundError('invalid_answer', 'the response has too many bytes around its body'));
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
    // The other side may have closed the connection while the receiver took the last piece.
    const isReusable = !truncated && this.#receiver === undefined;
    this.#end({ kind: 'answered', status, headers, body, truncated, durationMs: this.#durationMs() }, isReusable);
  }

  /** Ends the exchange. Later events, such as errors of a destroyed connection, are ignored. */
  #end(result: OutboundResult, reusable: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#settle(result);
    if (this.#connection === undefined) this.#pool.cancel(this);
    else this.#pool.release(this.#connection, reusable);
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
