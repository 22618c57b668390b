/**
 * Notices what stands still: kafkajs may stop consuming in silence, and a handler may wait for ever.
 *
 * Something stands still while it has something to do and takes no step. Time counts from look to look, and only where
 * both looks succeeded: what nobody could see, because the brokers were away or this process was asleep, doesn't count.
 * `watch` is pure; `startWatchdog` is the timer.
 */

/** One thing as it was found: a partition, or the group itself. */
export interface Sight {
  readonly name: string;
  /** Changes with every step it takes. */
  readonly steps: number;
  /** There is something for it to do. */
  readonly isDue: boolean;
  /** How it was found, for people. */
  readonly state: string;
}

/** What is due, by name: the step at which it stands, and for how long it has. */
export type Watch = ReadonlyMap<string, { readonly steps: number; readonly stillMs: number }>;

/** `elapsedMs` is the time since the look that `before` comes from. */
export function watch(before: Watch, sights: readonly Sight[], elapsedMs: number): Watch {
  const due = sights.filter(({ isDue }) => isDue);
  return new Map(
    due.map(({ name, steps }) => {
      const known = before.get(name);
      return [name, { steps, stillMs: known?.steps === steps ? known.stillMs + elapsedMs : 0 }];
    }),
  );
}

export interface WatchdogParts {
  readonly timeoutMs: number;
  /** Rejects when nothing can be seen now. */
  readonly look: () => Promise<readonly Sight[]>;
  /** Told once that something has stood still for `timeoutMs`, and how all was found. */
  readonly onStall: (message: string) => void;
}

const looksPerTimeout = 6;
const maxIntervalMs = 10_000;

/** Answers how to stop it. */
export function startWatchdog({ timeoutMs, look, onStall }: WatchdogParts): () => void {
  const intervalMs = Math.min(maxIntervalMs, timeoutMs / looksPerTimeout);
  let isStopped = false;
  let watched: Watch = new Map();
  let lookedAtMs = performance.now();
  let timer = setTimeout(lookAround, intervalMs);

  async function lookAround(): Promise<void> {
    const sights = await look().catch(() => []);
    if (isStopped) return;
    const nowMs = performance.now();
    // More has passed only for a process that was asleep.
    watched = watch(watched, sights, Math.min(nowMs - lookedAtMs, 2 * intervalMs));
    lookedAtMs = nowMs;
    const still = [...watched].filter(([, { stillMs }]) => stillMs >= timeoutMs);
    if (still.length > 0) {
      const names = still.map(([name]) => name).join(', ');
      return onStall(
        `no step for ${timeoutMs} ms: ${names}\n${sights.map(({ name, state }) => `${name}: ${state}`).join('\n')}`,
      );
    }
    timer = setTimeout(lookAround, intervalMs);
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
