/** Leases that their holders renew: work that one process at a time does, for as long as it takes. */
import type { ExpiringValues } from './ports.js';

/** A lease that this process renews until it is released, left or lost. */
export interface HeldLease {
  /** Aborts when another one holds the lease, or may soon, because the store was out of reach for too long. */
  readonly lost: AbortSignal;
  /** Frees the lease, unless another one holds it. Never rejects: without the store the lease expires by itself. */
  release(): Promise<void>;
  /** Renews it no more, so that it expires by itself, unless its holder has replaced the stored value. */
  leave(): Promise<void>;
}

/** How long a lease lasts, and when it may be taken from its holder. `renewEveryMs` must be well below `leaseMs`. */
export interface LeaseTerms {
  /** A lease that is not renewed is free after this time. */
  readonly leaseMs: number;
  /** Interval of renewals. A lease counts as lost this long before it is free, so that work in progress can end. */
  readonly renewEveryMs: number;
  /** Aborts when the process stops. A lease that is just being taken is released, because nobody would use it. */
  readonly closing: AbortSignal;
  /** Returns whether the holder has ended without releasing the lease. Default: {@link HeldLeases.isOrphan}. */
  readonly isAbandoned?: (holder: string) => boolean | Promise<boolean>;
}

/** The leases of a store, as one process takes them. */
export interface HeldLeases {
  /**
   * Takes the lease `key`, and renews it until it is released or lost. Returns undefined while another one holds it.
   * Rejects if the store does, and with the reason of `closing` when that has aborted.
   *
   * A later failure of the store is no loss: the next renewal follows. The lease is lost when none has succeeded for so
   * long that it may soon be another's. A lease that the store has forgotten is taken again.
   *
   * @param holder a text that nobody else uses, and that is used once.
   */
  hold(key: string, holder: string, terms: LeaseTerms): Promise<HeldLease | undefined>;
  /** Returns who holds a lease; undefined if nobody does, or an {@link isOrphan orphan}. Rejects if the store does. */
  holderOf(key: string): Promise<string | undefined>;
  /** Returns whether a holder was in a process that is known to have ended. Only an only node knows. */
  isOrphan(holder: string): boolean;
}

type LeaseStore = Pick<ExpiringValues, 'get' | 'put' | 'delete'>;

/**
 * Creates the leases of this process in a store.
 * @param isOnlyNode no other process takes leases there, so a holder that this one does not know has ended.
 */
export function createHeldLeases(values: LeaseStore, { isOnlyNode = false } = {}): HeldLeases {
  const holders = new Set<string>();
  const isOrphan = (holder: string): boolean => isOnlyNode && !holders.has(holder);
  return {
    isOrphan,
    async holderOf(key) {
      const holder = await values.get(key);
      return holder === undefined || isOrphan(holder) ? undefined : holder;
    },
    async hold(key, holder, terms) {
      // Before it is stored: others may look at it at once.
      holders.add(holder);
      const forget = () => holders.delete(holder);
      let lease: HeldLease | undefined;
      try {
        lease = await holdLease(values, key, holder, { isAbandoned: isOrphan, ...terms });
      } finally {
        if (lease === undefined) forget();
      }
      return (
        lease && {
          lost: lease.lost,
          release: () => lease.release().finally(forget),
          leave: () => lease.leave().finally(forget),
        }
      );
    },
  };
}

async function holdLease(
  values: LeaseStore,
  key: string,
  holder: string,
  { leaseMs, renewEveryMs, closing, isAbandoned }: Required<LeaseTerms>,
): Promise<HeldLease | undefined> {
  closing.throwIfAborted();
  const lost = new AbortController();
  let end: NodeJS.Timeout | undefined;

  /** Takes the lease from its holder. Null: only if it is free, or held by this one. */
  async function take(current: string | null): Promise<boolean> {
    const askedAtMs = performance.now();
    if (!(await values.put(key, holder, leaseMs, { current }))) return false;
    clearTimeout(end);
    const leftMs = leaseMs - renewEveryMs - (performance.now() - askedAtMs);
    end = setTimeout(lose, leftMs, 'the lease was not renewed in time').unref();
    return true;
  }

  /** Takes the lease if it is free, or its holder has ended. The holder may release it meanwhile. */
  async function takeFirst(): Promise<boolean> {
    if (await take(null)) return true;
    const current = await values.get(key);
    if (current !== undefined && !(await isAbandoned(current))) return false;
    return (current !== undefined && (await take(current))) || takeFirst();
  }

  /** Without the store, the lease ends by itself. */
  const release = () => values.delete(key, { current: holder }).catch(() => undefined);

  if (!(await takeFirst())) return undefined;
  if (closing.aborted) {
    clearTimeout(end);
    await release();
    throw closing.reason;
  }
  let renewal: Promise<void> | undefined;
  const renewals = setInterval(() => {
    renewal ??= take(null)
      .then(
        (isHeld) => isHeld || lose('another one holds the lease'),
        () => undefined,
      )
      .then(() => {
        renewal = undefined;
      });
  }, renewEveryMs).unref();

  function lose(reason: string): void {
    clearInterval(renewals);
    lost.abort(new Error(reason));
  }

  async function leave(): Promise<void> {
    clearInterval(renewals);
    // A renewal that is still under way would take the lease again.
    await renewal;
    clearTimeout(end);
  }

  return {
    lost: lost.signal,
    leave,
    async release() {
      await leave();
      await release();
    },
  };
}
