/**
 * Watches the claims of a stage while it is idle: a store may fall back to an older state, another owner may claim, a
 * position may be repaired. A busy stage learns of it when its next write is refused; an idle one never writes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Condition } from '../../schemas/condition.js';
import type { ClaimState } from '../ports.js';

/** Interval between verifications of a claim. */
export const verifyEveryMs = 1_000;

interface ClaimWatchParts {
  /** Verifies all claims once and acts on the result. Never called concurrently. */
  readonly verify: () => Promise<void>;
  /** As in the store's port. */
  readonly onReturn: (listener: () => void) => () => void;
  /** Called when `verify` rejects, which ends the watch. */
  readonly onFailure: (error: unknown) => void;
}

/** Verifies every second, and as soon as the store is back after an outage. Returns a function that ends the watch. */
export function watchClaims({ verify, onReturn, onFailure }: ClaimWatchParts): () => void {
  let isEnded = false;
  /** Notified when the store is back, and on the end. */
  const changed = new Condition();

  async function watch(): Promise<void> {
    while (!isEnded) {
      await changed.wait({ maxMs: verifyEveryMs });
      if (!isEnded) await verify();
    }
  }

  const endListening = onReturn(() => changed.notifyAll());
  watch().catch((error) => {
    isEnded = true;
    endListening();
    onFailure(error);
  });
  return () => {
    isEnded = true;
    endListening();
    changed.notifyAll();
  };
}

/**
 * Resolves to true when another owner has claimed the partition or the store has another position, and to false when
 * the partition was reassigned.
 */
export async function claimReplaced(verify: () => Promise<ClaimState>, isAssigned: () => boolean): Promise<boolean> {
  for (;;) {
    await delay(verifyEveryMs, undefined, { ref: false });
    if (!isAssigned()) return false;
    const state = await verify();
    if (state === 'claimed' || state === 'fallen_back') return true;
  }
}
