/** The health of each webhook on LMDB. Those that are old are removed step by step, as others are set. */
import type { DeliveryQueue } from '../../pipeline/ports.js';
import { decodeHealth, encodeHealth, newerTimeOf, webhookKey } from './delivery-queue-layout.js';
import type { Environment } from './environment.js';

const maxExaminedHealths = 100;

/** Creates the healths in an environment that the caller opens and closes. */
export function createWebhookHealths(environment: Environment): Pick<DeliveryQueue, 'health' | 'setHealth'> {
  const healths = environment.table('health');
  /** The key after which healths are examined next; undefined at the start. */
  let lastExamined: Buffer | undefined;

  /** Examines the next healths after those of the call before, in a transaction, and removes the old ones. */
  function removeHealthsBefore(epochMs: number): void {
    const range = { ...(lastExamined && { start: lastExamined }), limit: maxExaminedHealths };
    const examined = Array.from(healths.getRange(range), ({ key, value }) => ({
      key: Buffer.from(key),
      newerTimeMs: newerTimeOf(decodeHealth(value)),
    }));
    for (const { key, newerTimeMs } of examined) if (newerTimeMs < epochMs) healths.removeSync(key);
    lastExamined = examined.length < maxExaminedHealths ? undefined : examined.at(-1)?.key;
  }

  return {
    async health(webhook) {
      environment.refresh();
      return decodeHealth(healths.getBinary(webhookKey(webhook)));
    },
    async setHealth(webhook, health, retentionMs) {
      await environment.transaction(() => {
        healths.putSync(webhookKey(webhook), encodeHealth(health));
        removeHealthsBefore(newerTimeOf(health) - retentionMs);
      });
    },
  };
}
