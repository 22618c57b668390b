/**
 * One try to deliver: signed, sent, and what came back, bounded, as it goes on record.
 *
 * Flows in: a webhook as it is now and a delivery. Flows out: a request through the outbound client, and an outcome;
 * never an exception for anything that the other side does. May import: schemas, outbound, sealing.
 */
import type { OutboundClient, OutboundResult } from '../../../outbound/client.js';
import { freshId } from '../../../schemas/ids.js';
import type { AttemptResult, WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Attempt, Delivery } from '../../../schemas/records.js';
import type { SecretCipher } from '../../encryption.js';
import type { Verdict } from './schedule.js';
import { createSigner } from './signing.js';

/** Of an answer, what is kept on record. */
const maxRecordedHeaderCharacters = 4_096;
const maxRecordedBodyBytes = 1_024;
const maxMessageCharacters = 500;

/** What came of a try. */
export interface TryOutcome
  extends Pick<Attempt, 'result' | 'message' | 'status' | 'responseHeaders' | 'responseBody' | 'duration_ms'> {
  /** Epoch ms of its start. */
  readonly at: number;
  readonly url: string;
  /** Value of the Retry-After header, if any. */
  readonly retryAfter: string | undefined;
}

export interface AttemptParts {
  readonly client: Pick<OutboundClient, 'send'>;
  readonly secretCipher: SecretCipher;
  /** Epoch ms. */
  readonly clock: () => number;
}

/** Makes one try. */
export type Try = (webhook: WebhookRecord, delivery: Delivery) => Promise<TryOutcome>;

export function createTry({ client, secretCipher, clock }: AttemptParts): Try {
  const sign = createSigner(secretCipher);
  return async (webhook, delivery) => {
    const { url } = webhook;
    const at = clock();
    const signature = sign(webhook, delivery, at);
    if (signature === undefined) return withoutRequest('secret_unreadable', url, at);
    const answer = await client.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...signature },
      body: delivery.body,
    });
    return { at, url, duration_ms: answer.durationMs, ...outcomeOf(answer) };
  };
}

/** The outcome where there was nothing to send. */
export const withoutRequest = (result: AttemptResult, url: string, at: number): TryOutcome => ({
  at,
  url,
  result,
  ...noAnswer,
  message: null,
  duration_ms: 0,
});

const noAnswer = { status: null, responseHeaders: null, responseBody: null, retryAfter: undefined };

function outcomeOf(answer: OutboundResult): Omit<TryOutcome, 'at' | 'url' | 'duration_ms'> {
  if (answer.kind === 'failed') {
    return { result: answer.failure, message: answer.message.slice(0, maxMessageCharacters), ...noAnswer };
  }
  const { status, headers, body } = answer;
  return {
    result: resultOf(status),
    message: null,
    status,
    responseHeaders: JSON.stringify(firstHeaders(headers)),
    // A copy: a view would keep the whole body that it is the beginning of.
    responseBody: Buffer.from(body.subarray(0, maxRecordedBodyBytes)),
    retryAfter: headers['retry-after'],
  };
}

function resultOf(status: number): AttemptResult {
  if (status >= 200 && status < 300) return 'delivered';
  if (status >= 300 && status < 400) return 'redirected';
  return status === 410 ? 'gone' : 'refused';
}

/** Those that fit, in their order. */
function firstHeaders(headers: Headers): Headers {
  let characters = 0;
  const fitting = Object.entries(headers).filter(([name, value]) => {
    characters += name.length + value.length;
    return characters <= maxRecordedHeaderCharacters;
  });
  return Object.fromEntries(fitting);
}

type Headers = Readonly<Record<string, string>>;

/** The try as it goes on topic `attempts`. `attempt` is 1 for the first. */
export const attemptRecord = (
  delivery: Delivery,
  attempt: number,
  { retryAfter: _, ...outcome }: TryOutcome,
  { state, nextAttemptAtMs }: Pick<Verdict, 'state' | 'nextAttemptAtMs'>,
): Attempt => ({ id: freshId(outcome.at), delivery, attempt, ...outcome, state, nextAttemptAt: nextAttemptAtMs });
