/**
 * A client of Fenceline's API for Node 20 and later, browsers and other runtimes with `fetch`. It has no dependencies.
 *
 * ```ts
 * const fenceline = createClient({ address: 'http://127.0.0.1:8080', key: process.env.FENCELINE_KEY });
 * const { geofence } = await fenceline.call('PUT /v1/geofences/{tag}/{externalId}', {
 *   path: { tag: 'store', externalId: '17' },
 *   body: { description: 'Store 17', type: 'circle', coordinates: [13.4, 52.5], radius: 100 },
 * });
 * ```
 */
import { type Failure, isPassingStatus, type Outcome, reasonOf, repeat, retryAfterMs } from './attempts.js';
import { type EventStreamItem, type EventStreamOptions, followEvents } from './events.js';
import {
  type Answer,
  type Given,
  type Input,
  type Operation,
  type PagedOperation,
  pathOf,
  queryOf,
  type RecordOf,
} from './operations.js';

export type { EventStreamItem, EventStreamOptions } from './events.js';
export type { Answer, Input, Operation, PagedOperation, RecordOf } from './operations.js';
export type * from './types.js';

/** Where requests go, with which key, and how patiently. */
export interface ClientOptions {
  /** Address of the server, such as `https://fenceline.example.com`. */
  readonly address: string;
  /** Secret or publishable key. It selects the project and the environment. */
  readonly key: string;
  /** How often a request that failed for a passing reason is sent again. Default 4. */
  readonly maxRetries?: number;
  /** Time limit of each attempt, beyond the `waitMs` that the call asks for. Default 30 seconds. */
  readonly timeoutMs?: number;
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
}

/** Calls the API of one server with one key. */
export interface Client {
  /**
   * Sends a request and resolves to the answer.
   *
   * Passing failures are retried with growing delays, or after the server's `Retry-After`. Each POST carries an
   * `Idempotency-Key`, so that a repetition changes nothing. A repeated location is recognised by its device time
   * instead, such as `updatedAtMs`, and counts again without one. An edit with `ifMatch` or `ifNoneMatch` is not
   * repeated when its outcome is unknown. Rejects with {@link FencelineError}, {@link NoAnswerError}, or the reason of
   * the caller's signal.
   */
  call<O extends Operation>(operation: O, input: Input<O>): Promise<Answer<O>>;
  /** Yields the records of all pages of a list. Pages are requested as they are read. */
  all<O extends PagedOperation>(operation: O, input: Input<O>): AsyncGenerator<RecordOf<O>, void, undefined>;
  /**
   * Follows the events of the key's project and environment, until `signal` aborts. After a lost connection it
   * continues behind the last item, without gaps or repetitions. Rejects with {@link FencelineError} when the server
   * refuses the stream for good.
   */
  events(options?: EventStreamOptions): AsyncGenerator<EventStreamItem, void, undefined>;
}

/** The server refused a request. `type` is one of the stable codes in docs/errors.md. */
export class FencelineError extends Error {
  override readonly name = 'FencelineError';
  /** HTTP status. */
  readonly status: number;
  readonly type: string;
  /** The field that broke its rule. */
  readonly param: string | undefined;
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined;

  constructor(status: number, meta: { type?: string; param?: string; message?: string; requestId?: string }) {
    super(meta.message ?? `the server answered ${status}`);
    this.status = status;
    this.type = meta.type ?? 'unknown';
    this.param = meta.param;
    this.requestId = meta.requestId;
  }
}

/** No attempt got an answer. Whether the last one took effect is unknown. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** Conflicts that pass by themselves. */
const passingConflicts = new Set(['edit_conflict', 'request_in_progress']);

/** Creates a client. It opens no connection until the first call. Throws a TypeError if the address is not a URL. */
export function createClient(options: ClientOptions): Client {
  const { key, maxRetries = 4, timeoutMs = 30_000, fetch: send = fetch } = options;
  const base = new URL(options.address).href.replace(/\/+$/, '');

  async function attempt(method: string, url: string, headers: Headers, given: Given): Promise<Outcome<unknown>> {
    // The server answers only after the time that the caller lets it wait.
    const limitMs = timeoutMs + ((given.query as { readonly waitMs?: number } | undefined)?.waitMs ?? 0);
    const limit = AbortSignal.timeout(limitMs);
    const signal = given.signal ? AbortSignal.any([given.signal, limit]) : limit;
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    // The first attempt of an edit may have changed the revision that it expects, or created the record.
    const isOnce = given.ifMatch !== undefined || given.ifNoneMatch !== undefined;
    try {
      const body = hasBody ? { body: JSON.stringify(given.body ?? {}) } : {};
      const response = await send(url, { method, headers, signal, ...body });
      const answer = await bodyOf(response);
      if (response.ok) return { ok: true, answer };
      const refusal = refusalOf(response, answer);
      return { ok: false, ...refusal, isPassing: refusal.isPassing && !(isOnce && response.status >= 500) };
    } catch (error) {
      given.signal?.throwIfAborted();
      const reason = limit.aborted ? `no answer within ${limitMs} ms` : reasonOf(error);
      const unanswered = new NoAnswerError(`${method} ${url}: ${reason}`, { cause: error });
      return { ok: false, error: unanswered, isPassing: !isOnce, retryAfterMs: undefined };
    }
  }

  async function call<O extends Operation>(operation: O, input: Input<O>): Promise<Answer<O>> {
    const given = input as Given;
    const [method = '', template = ''] = operation.split(' ');
    const url = base + pathOf(template, given.path) + queryOf(given.query);
    const headers = new Headers({ Authorization: key, Accept: 'application/json' });
    if (method !== 'GET' && method !== 'DELETE') headers.set('Content-Type', 'application/json');
    if (method === 'POST') headers.set('Idempotency-Key', crypto.randomUUID());
    if (given.ifMatch !== undefined) headers.set('If-Match', given.ifMatch);
    if (given.ifNoneMatch !== undefined) headers.set('If-None-Match', given.ifNoneMatch);
    const answer = await repeat(() => attempt(method, url, headers, given), maxRetries, given.signal);
    return answer as Answer<O>;
  }

  async function* all<O extends PagedOperation>(operation: O, input: Input<O>) {
    const given = input as Given;
    let cursor: string | undefined;
    do {
      const query = { ...given.query, ...(cursor !== undefined && { cursor }) };
      const page = (await call(operation, { ...given, query } as Input<O>)) as {
        readonly meta: { readonly hasMore: boolean; readonly cursor?: string };
      };
      const { meta, ...lists } = page;
      // An answer may have plain values beside its list.
      for (const value of Object.values(lists)) if (Array.isArray(value)) yield* value as RecordOf<O>[];
      cursor = meta.hasMore ? meta.cursor : undefined;
    } while (cursor !== undefined);
  }

  async function openStream(query: object, headers: Record<string, string>, signal: AbortSignal) {
    const url = `${base}/v1/events/stream${queryOf(query)}`;
    const response = await send(url, { headers: { ...headers, Authorization: key }, signal });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.ok && isStream && response.body) return { ok: true, body: response.body } as const;
    if (response.ok) {
      await response.body?.cancel();
      const error = new FencelineError(response.status, { message: `${base} does not answer with a stream of events` });
      return { ok: false, error, isPassing: false, retryAfterMs: undefined } as const;
    }
    return { ok: false, ...refusalOf(response, await bodyOf(response)) } as const;
  }

  return {
    call,
    all,
    events: (streamOptions = {}) =>
      followEvents({ open: openStream, openMs: timeoutMs, silenceMs: Math.max(timeoutMs, 30_000) }, streamOptions),
  };
}

const jsonType = /^application\/(?:[^;]*\+)?json\s*(?:;|$)/i;
const textType = /^(?:text\/|application\/x-ndjson\b)/i;

/** Returns JSON as its value, text such as CSV or lines of JSON as a string, and other files as their bytes. */
async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (jsonType.test(type)) return JSON.parse(await response.text());
  return type === '' || textType.test(type) ? response.text() : new Uint8Array(await response.arrayBuffer());
}

function refusalOf(response: Response, body: unknown): Failure {
  const meta = (body as { readonly meta?: object } | null)?.meta ?? {};
  const error = new FencelineError(response.status, meta);
  const isPassing = isPassingStatus(response.status) || passingConflicts.has(error.type);
  return { error, isPassing, retryAfterMs: retryAfterMs(response) };
}
