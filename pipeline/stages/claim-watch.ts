/**
 * Notices, while nothing happens, what has become of the claims of a stage: a store that fell back to an older state,
 * an owner who came later, a position that was repaired. A stage that works hears of it by the refusal of its next
 * write; one that has nothing to write would never.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimState } from '../ports.js';

/** Between two comparisons of a claim with its store. */
export const verifyEveryMs = 1_000;

export interface ClaimWatchParts {
  /** Compares all claims once, and does what follows. Not called again before it has resolved. */
  readonly verify: () => Promise<void>;
  /** As of the store. */
  readonly onReturn: (listener: () => void) => () => void;
  /** Told when `verify` rejects; nothing is watched any more then. */
  readonly onFailure: (error: unknown) => void;
}

/** Verifies every second, and as soon as the store comes back from an outage. Returns how to end that. */
export function watchClaims({ verify, onReturn, onFailure }: ClaimWatchParts): () => void {
  let isEnded = false;
  let wake: () => void = () => {};

  async function watch(): Promise<void> {
    while (!isEnded) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, verifyEveryMs);
        timer.unref();
      });
      clearTimeout(timer);
      if (!isEnded) await verify();
    }
  }

  const endListening = onReturn(() => wake());
  watch().catch((error) => {
    isEnded = true;
    endListening();
    onFailure(error);
  });
  return () => {
    isEnded = true;
    endListening();
    wake();
  };
}

/**
 * Resolves to true when the claim is another's, or the store has another position; to false when the partition isn't
 * ours any more.
 */
export async function claimReplaced(verify: () => Promise<ClaimState>, isOurs: () => boolean): Promise<boolean> {
  for (;;) {
    await delay(verifyEveryMs, undefined, { ref: false });
    if (!isOurs()) return false;
    const state = await verify();
    if (state === 'claimed' || state === 'fallen_back') return true;
  }
}
