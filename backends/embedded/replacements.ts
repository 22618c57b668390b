/** The replacements of deliveries on LMDB: which redeliveries were requested, and when. Old ones are removed. */
import type { DeliveryQueue, Replacement } from '../../pipeline/ports.js';
import { replacementKey, replacementOfTimeKey, replacementTimeKey } from './delivery-queue-layout.js';
import type { Environment } from './environment.js';
import { numberOf, numberValue } from './keys.js';

/** Old replacements that one call removes. One call adds at most as many. */
const maxExpiredPerCall = 2_000;
const noValue = Buffer.alloc(0);

/** Creates the replacements in an environment that the caller opens and closes. */
export function createReplacements(environment: Environment): Pick<DeliveryQueue, 'replace' | 'replacedAt'> {
  const replacements = environment.table('replacements');
  /** The same by time, to find the oldest. */
  const replacementTimes = environment.table('replacement-times');

  async function replace(webhook: string, added: readonly Replacement[], retentionMs: number): Promise<void> {
    const entries = added.map(({ delivery, createdAtMs }) => ({ key: replacementKey(webhook, delivery), createdAtMs }));
    const newestMs = added.reduce((newest, { createdAtMs }) => Math.max(newest, createdAtMs), 0);
    await environment.transaction(() => {
      for (const { key, createdAtMs } of entries) {
        const knownMs = numberOf(replacements.getBinary(key));
        if (knownMs !== undefined) replacementTimes.removeSync(replacementTimeKey(knownMs, key));
        replacements.putSync(key, numberValue(createdAtMs));
        replacementTimes.putSync(replacementTimeKey(createdAtMs, key), noValue);
      }
      removeReplacementsBefore(newestMs - retentionMs);
    });
  }

  /** Removes old replacements, in a transaction: more than a call adds, so that their number stays bounded. */
  function removeReplacementsBefore(epochMs: number): void {
    const end = numberValue(Math.max(0, epochMs));
    const old = Array.from(replacementTimes.getKeys({ end, limit: maxExpiredPerCall }), (key) => Buffer.from(key));
    for (const timeKey of old) {
      replacementTimes.removeSync(timeKey);
      replacements.removeSync(replacementOfTimeKey(timeKey));
    }
  }

  async function replacedAt(webhook: string, ids: readonly string[]): Promise<(number | undefined)[]> {
    environment.refresh();
    return ids.map((delivery) => numberOf(replacements.getBinary(replacementKey(webhook, delivery))));
  }

  return { replace, replacedAt };
}
