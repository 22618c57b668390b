/**
 * Idempotency-Key: a POST with a key takes effect once, and its repetitions get the first answer.
 *
 * Input: POST requests with the header. Output: a lock while the first request runs, then its answer, compressed
 * and encrypted because it may contain new keys. Both are in ExpiringValues, so that every node sees them. Only answers
 * of success are kept. After a failure the key is free again. A caller who has much kept is not refused: its further
 * answers are kept for a shorter time. See docs/decisions/037.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip as gunzipCallback, gzip as gzipCallback } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { createHeldLeases, type HeldLease, type HeldLeases } from '../../pipeline/held-lease.js';
import { type ExpiringValues, maxExpiringValueBytes } from '../../pipeline/ports.js';
import { dayMs, minuteMs } from '../../schemas/durations.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import type { Caller } from '../access/keys.js';

const gzip = promisify(gzipCallback);
const gunzip = promisify(gunzipCallback);

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Repeating the request changes nothing more, so a POST has no Idempotency-Key: its body may be a stream, and its
     * answer is not worth keeping. Only a location without a device time counts again.
     */
    isRepeatable?: boolean;
  }
  interface FastifyRequest {
    /** The lock that this request holds; null: it has no Idempotency-Key, or is a repetition. */
    idempotency: Lock | null;
  }
}

interface Lock {
  readonly key: string;
  readonly value: string;
  readonly fingerprint: string;
  readonly lease: HeldLease;
}

/** What is stored under a key. `answer` is absent while the request runs, null if it is not kept. */
interface Entry {
  readonly fingerprint: string;
  /** Distinguishes competing requests. */
  readonly holder: string;
  readonly answer?: StoredAnswer | null;
}

interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Compressed and encrypted; base64. */
  readonly body: string;
}

/** How long something is kept, and the bytes that may be stored in that time. */
export interface Retention {
  /** `success`: only the fact that the request succeeded, so that a repetition changes nothing. */
  readonly keeps: 'answer' | 'success';
  readonly keptMs: number;
  /** Of a kind of key of an environment of a project. */
  readonly maxBytesPerCaller: number;
  /** Of all callers. Up to twice as much is stored, at the end of one period and the beginning of the next. */
  readonly maxBytes: number;
}

/** Where answers under an Idempotency-Key are kept. They are stored encrypted. */
export interface IdempotencyParts {
  /** Counts bytes. Has its own space, so that answers leave sessions and leases alone. */
  readonly values: Pick<ExpiringValues, 'increment'>;
  readonly answers: ExpiringValues;
  readonly secretCipher: SecretCipher;
  /** The first that has enough space is chosen. */
  readonly retentions?: readonly Retention[];
  /** No other process takes keys, so one that this process does not hold is that of a process that has ended. */
  readonly isOnlyNode?: boolean;
}

const mib = 2 ** 20;
/** Twice their total must fit into the space of answers, with the locks of running requests. */
const defaultRetentions: readonly Retention[] = [
  { keeps: 'answer', keptMs: dayMs, maxBytesPerCaller: 32 * mib, maxBytes: 384 * mib },
  { keeps: 'answer', keptMs: 10 * minuteMs, maxBytesPerCaller: 4 * mib, maxBytes: 64 * mib },
  { keeps: 'success', keptMs: 10 * minuteMs, maxBytesPerCaller: 4 * mib, maxBytes: 32 * mib },
];
/** If a node of a cluster ends while it works, the key is free again after this time. */
const lockMs = 2 * minuteMs;
const renewLockEveryMs = minuteMs / 2;
/** A request that has begun is answered before the server stops, so its lock is held until then. */
const neverClosing = new AbortController().signal;
const maxKeyCharacters = 255;
const keptHeaders = ['content-type', 'etag', 'location'];
/** Of a key, with what a store adds to it. */
const keyBytes = 100;
/** Of an entry, beside the body of the answer. */
const entryBytes = 2_048;
const keyPattern = /^[\x21-\x7e]+$/;

/** The request header that names an attempt, so that a repeat is answered from the first answer. */
export const idempotencyHeader = 'Idempotency-Key';
const replayedHeader = 'Idempotency-Replayed';

const sha256 = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
};

const projectScopeOf = ({ project, environment, kind }: Caller): string => `${project}.${environment}.${kind}`;

/** Identifies the callers that share a key: those with the same authority over the same records. */
function scopeOf({ caller, session }: FastifyRequest): string {
  const project = caller === null ? '' : projectScopeOf(caller);
  if (session !== null) return `session.${session.account?._id ?? session.hint}.${project}`;
  return caller === null ? 'admin' : project;
}

/** Identifies what is requested: path, query, preconditions and body. */
function fingerprintOf({ method, url, headers, body }: FastifyRequest): string {
  const bytes = Buffer.isBuffer(body) ? body : (JSON.stringify(body) ?? '');
  const { 'if-match': match = '', 'if-none-match': noneMatch = '', 'content-type': type = '' } = headers;
  return sha256(method, url, match, noneMatch, type, bytes);
}

function keyOf(request: FastifyRequest): string | undefined {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given.length <= maxKeyCharacters && keyPattern.test(given)) return given;
  const rule = `must be 1 to ${maxKeyCharacters} visible ASCII characters`;
  throw parameterError({ param: idempotencyHeader, rule });
}

/** Counts what is stored under a key, and returns the retention that has space for it. */
async function retentionFor(
  request: FastifyRequest,
  texts: Readonly<Record<Retention['keeps'], string>>,
  { values, retentions = defaultRetentions }: IdempotencyParts,
): Promise<Retention | undefined> {
  const caller = request.caller === null ? scopeOf(request) : projectScopeOf(request.caller);
  for (const retention of retentions) {
    const { keeps, keptMs, maxBytesPerCaller, maxBytes } = retention;
    const bytes = keyBytes + texts[keeps].length;
    const counter = `kept-bytes/${keeps}/${keptMs}`;
    // The total does not count what the caller's own bound refuses, so others keep their space.
    if ((await values.increment(`${counter}/${caller}`, keptMs, bytes)) > maxBytesPerCaller) continue;
    if ((await values.increment(counter, keptMs, bytes)) <= maxBytes) return retention;
  }
  return undefined;
}

async function replay(
  reply: FastifyReply,
  { answer }: Entry,
  key: string,
  { secretCipher }: IdempotencyParts,
): Promise<FastifyReply> {
  if (answer === undefined) {
    const message = `a request with this ${idempotencyHeader} has not been answered yet`;
    throw new ApiError('request_in_progress', message, { retryAfterS: 1 });
  }
  // An answer that was encrypted with another encryption key is as good as none.
  const kept = answer === null ? undefined : secretCipher.decrypt(answer.body, key);
  if (answer === null || kept === undefined)
    throw new ApiError('conflict', 'the first request with this key succeeded; its answer was not kept');
  const body = await gunzip(Buffer.from(kept, 'base64'));
  return reply.code(answer.status).headers(answer.headers).header(replayedHeader, 'true').send(body);
}

/** Takes the key, or answers with what is stored under it. */
async function begin(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: IdempotencyParts,
  leases: HeldLeases,
): Promise<void> {
  const given = keyOf(request);
  if (given === undefined) return;
  /** Returns whether the process that took the key has ended without an answer. */
  const isAbandoned = (stored: string): boolean =>
    leases.isOrphan(stored) && (JSON.parse(stored) as Entry).answer === undefined;
  const key = `idempotency.${sha256(scopeOf(request), given)}`;
  const fingerprint = fingerprintOf(request);
  for (;;) {
    const stored = await parts.answers.get(key);
    if (stored !== undefined && !isAbandoned(stored)) {
      const entry = JSON.parse(stored) as Entry;
      if (entry.fingerprint !== fingerprint)
        throw new ApiError('idempotency_key_reused', `this ${idempotencyHeader} belongs to another request`, {
          param: idempotencyHeader,
        });
      await replay(reply, entry, key, parts);
      return;
    }
    const value = JSON.stringify({ fingerprint, holder: freshId() } satisfies Entry);
    const terms = { leaseMs: lockMs, renewEveryMs: renewLockEveryMs, closing: neverClosing, isAbandoned };
    const lease = await leases.hold(key, value, terms);
    if (lease !== undefined) {
      request.idempotency = { key, value, fingerprint, lease };
      return;
    }
  }
}

async function storedAnswer(
  { key }: Lock,
  reply: FastifyReply,
  payload: string | Buffer,
  { secretCipher }: IdempotencyParts,
): Promise<StoredAnswer | null> {
  const body = secretCipher.encrypt((await gzip(payload)).toString('base64'), key);
  if (body.length > maxExpiringValueBytes - entryBytes) return null;
  const headers = keptHeaders.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, `${value}`]];
  });
  return { status: reply.statusCode, headers: Object.fromEntries(headers), body };
}

/** Stores the answer of a request that holds its key, or frees the key. */
async function finish(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  parts: IdempotencyParts,
): Promise<void> {
  const lock = request.idempotency;
  if (lock === null) return;
  request.idempotency = null;
  const { key, value: current, fingerprint, lease } = lock;
  try {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (reply.statusCode < 200 || reply.statusCode > 299 || !isText) {
      await lease.release();
      return;
    }
    const entry: Entry = { fingerprint, holder: request.id, answer: await storedAnswer(lock, reply, payload, parts) };
    const texts = { answer: JSON.stringify(entry), success: JSON.stringify({ ...entry, answer: null }) };
    const retention = await retentionFor(request, texts, parts);
    if (retention === undefined) await lease.release();
    else await parts.answers.put(key, texts[retention.keeps], retention.keptMs, { current });
  } catch (error) {
    // The request has taken effect. Its key is free again once the lock expires, or at once on an only node.
    request.log.warn({ err: error }, 'the answer to a request with an Idempotency-Key could not be kept');
  } finally {
    await lease.leave();
  }
}

/** Their callers have neither a project nor a session, so all strangers would share their keys. */
const withoutScope = ['none', 'sign-in'];

/** Returns whether a route honours Idempotency-Key. */
export const honoursIdempotencyKey = (
  method: string | readonly string[],
  config: { readonly isRepeatable?: boolean; readonly authority?: string } | undefined,
): boolean =>
  [method].flat().includes('POST') && !config?.isRepeatable && !withoutScope.includes(config?.authority ?? '');

/** Adds the hooks to the routes that honour the header, and to no other. Call it before routes are added. */
export function keepAnswers(app: FastifyInstance, parts: IdempotencyParts): void {
  const leases = createHeldLeases(parts.answers, parts);
  app.decorateRequest('idempotency', null);
  app.addHook('onRoute', (route) => {
    if (!honoursIdempotencyKey(route.method, route.config)) return;
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      async (request: FastifyRequest, reply: FastifyReply) => begin(request, reply, parts, leases),
    ];
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        await finish(request, reply, payload, parts);
      },
    ];
  });
}
