/**
 * One attempt to deliver: signs and sends the request, and records the bounded response.
 *
 * Input: the webhook as it is now, and a delivery. Output: a request through the outbound client, and an outcome. Never
 * throws for anything that the other side does.
 */
import type { OutboundClient, OutboundResult } from '../../../outbound/client.js';
import { codecs } from '../../../schemas/codecs.js';
import { freshId } from '../../../schemas/ids.js';
import type { AttemptResult, AttemptState, WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Attempt, Delivery } from '../../../schemas/records.js';
import { cutText } from '../../../schemas/wording.js';
import type { SecretCipher } from '../../encryption.js';
import { type Log, topics } from '../../ports.js';
import { type Span, traceHeader } from '../../tracing.js';
import type { DeliveryTraces } from './delivery-traces.js';
import { createSigner } from './signing.js';

/** Bounds of a recorded response. */
const maxRecordedHeaderCharacters = 4_096;
const maxRecordedBodyBytes = 1_024;
const maxMessageCharacters = 500;

/** Result of an attempt. */
export interface AttemptOutcome
  extends Pick<Attempt, 'result' | 'message' | 'status' | 'responseHeaders' | 'responseBody' | 'duration_ms'> {
  /** Start of the attempt, epoch ms. */
  readonly at: number;
  readonly url: string;
  /** Value of the Retry-After header, if any. */
  readonly retryAfter: string | undefined;
}

interface AttemptParts {
  readonly client: Pick<OutboundClient, 'send'>;
  readonly secretCipher: SecretCipher;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly traces?: Pick<DeliveryTraces, 'start'> | undefined;
}

/** Makes one attempt. */
export type SendAttempt = (webhook: WebhookRecord, delivery: Delivery) => Promise<AttemptOutcome>;

/** Creates the function that signs and sends a delivery. Each failure is an outcome. */
export function createSendAttempt({ client, secretCipher, clock, traces }: AttemptParts): SendAttempt {
  const sign = createSigner(secretCipher);
  return async (webhook, delivery) => {
    const { url } = webhook;
    const at = clock();
    const signature = sign(webhook, delivery, at);
    if (signature === undefined) return withoutRequest('secret_unreadable', url, at);
    const span = traces?.start(delivery, url);
    const response = await client.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...signature, ...(span && { [traceHeader]: span.traceparent }) },
      body: delivery.body,
    });
    const outcome = outcomeOf(response);
    endSpan(span, outcome);
    return { at, url, duration_ms: response.durationMs, ...outcome };
  };
}

function endSpan(span: Span | undefined, { result, status }: Pick<AttemptOutcome, 'result' | 'status'>): void {
  const attributes = status === null ? undefined : { 'http.response.status_code': status };
  span?.end(attributes, result === 'delivered' ? undefined : result);
}

/** Returns an outcome without a request. */
export const withoutRequest = (result: AttemptResult, url: string, at: number): AttemptOutcome => ({
  at,
  url,
  result,
  ...noResponse,
  message: null,
  duration_ms: 0,
});

const noResponse = { status: null, responseHeaders: null, responseBody: null, retryAfter: undefined };

function outcomeOf(response: OutboundResult): Omit<AttemptOutcome, 'at' | 'url' | 'duration_ms'> {
  if (response.kind === 'failed') {
    return { result: response.failure, message: cutText(response.message, maxMessageCharacters), ...noResponse };
  }
  const { status, headers, body } = response;
  return {
    result: resultOf(status),
    message: null,
    status,
    responseHeaders: JSON.stringify(firstHeaders(headers)),
    // Copies the bytes: a view would keep the whole body in memory.
    responseBody: Buffer.from(body.subarray(0, maxRecordedBodyBytes)),
    retryAfter: headers['retry-after'],
  };
}

function resultOf(status: number): AttemptResult {
  if (status >= 200 && status < 300) return 'delivered';
  if (status >= 300 && status < 400) return 'redirected';
  return status === 410 ? 'gone' : 'refused';
}

/** Returns the first headers, within the bound. */
function firstHeaders(headers: Headers): Headers {
  let characters = 0;
  const fitting = Object.entries(headers).filter(([name, value]) => {
    characters += name.length + value.length;
    return characters <= maxRecordedHeaderCharacters;
  });
  return Object.fromEntries(fitting);
}

type Headers = Readonly<Record<string, string>>;

/** Builds the record for topic `attempts`. `attempt` is 1 for the first, `nextAttemptAtMs` epoch ms or null. */
export const attemptRecord = (
  delivery: Delivery,
  attempt: number,
  { retryAfter: _, ...outcome }: AttemptOutcome,
  { state, nextAttemptAtMs }: { readonly state: AttemptState; readonly nextAttemptAtMs: number | null },
): Attempt => ({ id: freshId(outcome.at), delivery, attempt, ...outcome, state, nextAttemptAt: nextAttemptAtMs });

interface SingleAttemptParts extends AttemptParts {
  readonly log: Pick<Log, 'append'>;
}

/**
 * Makes a single attempt at once, such as a test of a webhook, and resolves when it is recorded. Never retries, and
 * does not affect the webhook's health.
 */
export function createSingleAttempt({ log, ...parts }: SingleAttemptParts) {
  const sendAttempt = createSendAttempt(parts);
  return async (webhook: WebhookRecord, delivery: Delivery): Promise<Attempt> => {
    const outcome = await sendAttempt(webhook, delivery);
    const state = outcome.result === 'delivered' ? 'delivered' : 'given_up';
    const attempt = attemptRecord(delivery, 1, outcome, { state, nextAttemptAtMs: null });
    await log.append(topics.attempts, [{ key: webhook._id, value: codecs.attempt.encode(attempt) }]);
    return attempt;
  };
}
