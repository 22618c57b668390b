/**
 * Calls the API with the types of its description. The browser adds the session's cookie; the chosen project and
 * environment go along as headers.
 */
import { type Answer, type Given, type Input, type Operation, pathOf, queryOf } from '../../client/operations';
import { counted } from '../components/counts';
import { checkReachable, isJson, reportReachable, reportUnreachable } from '../state/connection';
import { forgetUnanswered, once, wasUnanswered } from './repetition';
import { Unreachable } from './unreachable';

export type { Answer, Input, Operation } from '../../client/operations';
export { Unreachable } from './unreachable';

/** Each project has both, with keys and data of their own. */
export type Environment = 'test' | 'live';

/** What a session acts on. */
export interface Scope {
  readonly project: string;
  readonly environment: Environment;
}

/** What the API says of a refusal. */
interface Meta {
  readonly type?: string;
  readonly param?: string;
  readonly message?: string;
  readonly requestId?: string;
}

/** Refusals of proxies, which give no reason. */
const unexplained: Readonly<Record<number, string>> = {
  413: 'This is larger than the server accepts, or a proxy in front of it.',
  429: 'These were too many requests.',
};

/** In place of the API's words about headers, which a page sends by itself. */
const plainWords: Readonly<Record<string, string>> = {
  precondition_failed: 'Somebody else has changed this record meanwhile. Nothing was changed.',
  request_in_progress: 'The server still works on this. Try again in a moment.',
  storage_full: 'The disk of the server is nearly full, so nothing can be saved. Ask its operator.',
};

/** Refusals that end by themselves, also where the API does not say when. */
const passing: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'unavailable', 'request_timeout']);

/** Returns for example "in 14 minutes": rounded up, because an attempt before that is refused. */
function waitText(seconds: number): string {
  if (seconds < 60) return `in ${counted(Math.max(1, seconds), 'second')}`;
  if (seconds < 3_600) return `in ${counted(Math.ceil(seconds / 60), 'minute')}`;
  return `in ${counted(Math.ceil(seconds / 3_600), 'hour')}`;
}

/** Returns when a later attempt may succeed; undefined: nobody knows. A date of a proxy counts as nothing. */
function timeOfAttempt(status: number, type: string, retryAfter: string | null): string | undefined {
  if (retryAfter !== null && /^\d+$/.test(retryAfter)) return waitText(Number(retryAfter));
  if (passing.has(type)) return 'in a moment';
  return status === 429 ? 'in a minute' : undefined;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Returns the reason of a refusal, and what to do about it as far as the reason does not say so. */
function wordsOf(status: number, { type = '', message }: Meta, retryAfter: string | null): string {
  const plain = plainWords[type];
  if (plain !== undefined) return plain;
  const when = timeOfAttempt(status, type, retryAfter);
  const reason = message ?? unexplained[status];
  if (reason === undefined)
    return `The server answered ${status} without a reason. Try again${when ? ` ${when}` : ''}, or ask its operator.`;
  if (type === 'internal') return `${sentence(reason)} Try again, or ask the operator of the server.`;
  // The API says "try again later" where its header says when.
  return when === undefined ? reason : `${sentence(reason.replace(/; try again( later)?$/, ''))} Try again ${when}.`;
}

/** A refusal of the API, in the words of its validator. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly status: number;
  readonly type: string;
  /** The field that broke its rule. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, meta: Meta) {
    super(meta.message ?? wordsOf(status, meta, null));
    this.status = status;
    this.type = meta.type ?? 'unknown';
    this.param = meta.param;
    this.requestId = meta.requestId;
  }
}

/** Tests whether the record of a call does not exist. */
export const isNotFound = (error: unknown): boolean => error instanceof Failure && error.status === 404;

/** Resolves when a deletion has succeeded, also if somebody else was first. */
export async function untilGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

let chosen: Scope | undefined;
let onSignedOut = (): void => {};
let onForbidden = (): void => {};

/** Sets what later calls act on; undefined: nothing. */
export function setCallScope(next: Scope | undefined): void {
  chosen = next;
}

/** Calls the listener when the API answers that the session has ended. */
export function onSessionEnd(listener: () => void): void {
  onSignedOut = listener;
}

/** Calls the listener when the API answers that the account may not do what was asked. */
export function onRefusedRole(listener: () => void): void {
  onForbidden = listener;
}

/** Returns the headers that choose what a call acts on. */
export const callHeaders = (scope: Scope | undefined = chosen): Record<string, string> =>
  scope ? { 'X-Fenceline-Project': scope.project, 'X-Fenceline-Environment': scope.environment } : {};

/** Returns the URL of a call that cannot have headers: streams, images and downloads. */
export function urlOf(path: string, query: object = {}, scope: Scope | undefined = chosen): string {
  return path + queryOf({ ...query, project: scope?.project, environment: scope?.environment });
}

/** The server gives up earlier itself: a static map waits 110 seconds at most. */
const answerWithinMs = 120_000;
/** After this time without an answer, the page asks whether the server answers at all. */
const slowMs = 10_000;

/** Tests whether an answer is a proxy's own: the server behind it did not answer. */
export const isOfGateway = (status: number, contentType: string | null): boolean =>
  status >= 502 && status <= 504 && !contentType?.includes('json');

/** The time limits of a request that is under way. */
interface Patience {
  /** Begins to wait anew: something was sent. */
  restart(): void;
  end(): void;
}

/** Asks whether the server answers at all when a request is slow. Calls `onLate` when its answer does not come. */
export function waitForAnswer(onLate: () => void): Patience {
  let slowTimer: ReturnType<typeof setTimeout>;
  let lateTimer: ReturnType<typeof setTimeout>;
  function end(): void {
    clearTimeout(slowTimer);
    clearTimeout(lateTimer);
  }
  function begin(): void {
    slowTimer = setTimeout(() => void checkReachable(), slowMs);
    lateTimer = setTimeout(onLate, answerWithinMs);
  }
  begin();
  return {
    restart() {
      end();
      begin();
    },
    end,
  };
}

interface Sent extends Omit<RequestInit, 'signal'> {
  readonly signal?: AbortSignal | undefined;
  /** The path of the API's description. */
  readonly template?: string;
}

/**
 * Sends a request, and resolves to the response with the body that `read` reads. Rejects with {@link Failure} if it is
 * refused, and with {@link Unreachable} if the server does not answer in time.
 */
export async function send<Body>(
  url: string,
  { template, ...sent }: Sent,
  read: (response: Response) => Promise<Body>,
): Promise<{ readonly response: Response; readonly body: Body }> {
  const { response, body } = await answered(url, sent, async (response) =>
    response.ok ? { accepted: await read(response) } : { refused: await readMeta(response) },
  );
  if ('accepted' in body) return { response, body: body.accepted };
  throw refusalOf(response.status, body.refused, { template, retryAfter: response.headers.get('retry-after') });
}

/** Reads why a request was refused. The answer of a proxy has no reason. */
async function readMeta(response: Response): Promise<Meta | undefined> {
  if (!isJson(response.headers)) return undefined;
  return ((await response.json()) as { readonly meta?: Meta }).meta;
}

/** Resolves to any answer of the server. */
async function answered<Body>(
  url: string,
  { signal, ...request }: Omit<Sent, 'template'>,
  read: (response: Response) => Promise<Body>,
): Promise<{ readonly response: Response; readonly body: Body }> {
  const late = new AbortController();
  const patience = waitForAnswer(() => late.abort());
  try {
    const response = await fetch(url, {
      ...request,
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
    // A long answer may come slowly.
    patience.end();
    const { status, headers } = response;
    if (isOfGateway(status, headers.get('content-type'))) throw new Error('a proxy answered in place of the server');
    const body = await read(response);
    reportReachable();
    return { response, body };
  } catch (error) {
    if (signal?.aborted) throw error;
    reportUnreachable();
    throw new Unreachable(request.method !== undefined && request.method !== 'GET');
  } finally {
    patience.end();
  }
}

/** Reads the JSON of the API. A proxy may answer with a page of its own, such as a sign-in, and with status 200. */
async function readAnswer(response: Response): Promise<unknown> {
  if (!isJson(response.headers)) throw new Error('a proxy answered in place of the server');
  return response.json();
}

/** Keeps the revision of the header beside the record, for an edit of what was read. */
function withRevision(body: unknown, revision: string | null): unknown {
  if (revision === null || typeof body !== 'object' || body === null || !('meta' in body)) return body;
  return { ...body, meta: { ...(body.meta as object), revision } };
}

/** Returns the revision of the record in an answer, for `ifMatch`. */
export const revisionOf = (answer: { readonly meta: object } | undefined): string | undefined =>
  (answer?.meta as { revision?: string } | undefined)?.revision;

/** Calls whose refusal with 401 is about a sign-in or the token of a link, or answers whether there is a session. */
const withOwnProof: ReadonlySet<string> = new Set([
  '/v1/session',
  '/v1/signin',
  '/v1/signin/link',
  '/v1/signup/confirm',
  '/v1/invitations/preview',
  '/v1/invitations/accept',
  '/v1/password/reset/confirm',
]);

/**
 * Sends a request that acts on what is chosen now. A query, and whatever sends several requests, use {@link callIn}
 * instead: another project or environment may be chosen before the last of them.
 */
export const call = <O extends Operation>(
  operation: O,
  input: Input<O>,
  priority?: RequestPriority,
): Promise<Answer<O>> => callIn(chosen, operation, input, priority);

/**
 * Sends a request that acts on the scope, and resolves to the body. Rejects with {@link Failure} or
 * {@link Unreachable}.
 *
 * @param priority tells the browser which of several requests may wait for the others.
 */
export async function callIn<O extends Operation>(
  scope: Scope | undefined,
  operation: O,
  input: Input<O>,
  priority: RequestPriority = 'auto',
): Promise<Answer<O>> {
  if (operation.startsWith('GET ')) return answerTo(scope, operation, input, { priority });
  const isPost = operation.startsWith('POST ');
  return once(nameOf(scope, operation, input), (key) =>
    answerTo(scope, operation, input, { priority, ...(isPost && { idempotencyKey: key }) }),
  );
}

/** Names a change by all that it says. */
const nameOf = <O extends Operation>(scope: Scope | undefined, operation: O, input: Input<O>): string =>
  JSON.stringify([scope, operation, { ...input, signal: undefined }]);

/** Returns whether the same change was sent before and had no answer, so that nobody knows whether it took effect. */
export const isRepetition = <O extends Operation>(scope: Scope | undefined, operation: O, input: Input<O>): boolean =>
  wasUnanswered(nameOf(scope, operation, input));

/**
 * Sends a change that takes away what it is allowed by, such as the deletion of the account. Where a repetition is
 * refused for that, the first attempt has succeeded: then it resolves to what `otherwise` returns.
 */
export async function callLast<O extends Operation>(
  scope: Scope | undefined,
  operation: O,
  input: Input<O>,
  otherwise: () => Promise<Answer<O>>,
): Promise<Answer<O>> {
  const isRepeated = isRepetition(scope, operation, input);
  try {
    return await callIn(scope, operation, input);
  } catch (error) {
    const isWithoutRight =
      error instanceof Failure && error.param === undefined && [401, 403, 404].includes(error.status);
    if (!isRepeated || !isWithoutRight) throw error;
    const answer = await otherwise();
    forgetUnanswered();
    return answer;
  }
}

interface Sending {
  readonly priority: RequestPriority;
  readonly idempotencyKey?: string;
}

async function answerTo<O extends Operation>(
  scope: Scope | undefined,
  operation: O,
  input: Input<O>,
  { priority, idempotencyKey }: Sending,
): Promise<Answer<O>> {
  const [method, template] = operation.split(' ') as [string, string];
  const given = input as Given;
  const path = pathOf(template, given.path);
  const headers = new Headers(callHeaders(scope));
  if (given.ifMatch !== undefined) headers.set('If-Match', given.ifMatch);
  const isSending = method === 'POST' || method === 'PUT' || method === 'PATCH';
  if (isSending) headers.set('Content-Type', 'application/json');
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
  const { response, body } = await send(
    path + queryOf(given.query ?? {}),
    {
      method,
      headers,
      priority,
      // The end of something may be asked for while the page is left.
      keepalive: method === 'DELETE',
      ...(isSending && { body: JSON.stringify(given.body ?? {}) }),
      signal: given.signal,
      template,
    },
    readAnswer,
  );
  return withRevision(body, response.headers.get('etag')) as Answer<O>;
}

interface Refused {
  /** The path of the API's description. */
  readonly template?: string | undefined;
  /** The header that says when a later attempt may succeed. */
  readonly retryAfter?: string | null;
}

/** Returns why an answer is refused, and tells those who show what the session may do. */
export function refusalOf(
  status: number,
  meta: Meta = {},
  { template = '', retryAfter = null }: Refused = {},
): Failure {
  if (status === 403) onForbidden();
  // A refused field is the password of the session's account.
  if (status !== 401 || meta.param !== undefined || withOwnProof.has(template))
    return new Failure(status, { ...meta, message: wordsOf(status, meta, retryAfter) });
  onSignedOut();
  // The server's words are about the headers of programs.
  return new Failure(status, { ...meta, message: 'Your session had ended. Nothing was changed.' });
}
