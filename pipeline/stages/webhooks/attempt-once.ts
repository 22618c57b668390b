/**
 * A try that somebody waits for, such as a test of a webhook: at once, without a queue, and on record like every other.
 */
import { type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Attempt, Delivery } from '../../../schemas/records.js';
import { type Log, topics } from '../../ports.js';
import { type AttemptParts, attemptRecord, createTry } from './attempt.js';

export interface TryOnceParts extends AttemptParts {
  readonly log: Pick<Log, 'append'>;
  readonly codecs?: Codecs;
}

/** Resolves when the answer is on record. Nothing follows by itself, and the webhook's health is not judged by it. */
export function createTryOnce({ log, codecs = fixedCodecs, ...parts }: TryOnceParts) {
  const tryIt = createTry(parts);
  return async (webhook: WebhookRecord, delivery: Delivery): Promise<Attempt> => {
    const outcome = await tryIt(webhook, delivery);
    const state = outcome.result === 'delivered' ? 'delivered' : 'given_up';
    const attempt = attemptRecord(delivery, 1, outcome, { state, nextAttemptAtMs: null });
    await log.append(topics.attempts, [{ key: webhook._id, value: codecs.attempt.encode(attempt) }]);
    return attempt;
  };
}
