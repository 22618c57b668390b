/**
 * Detects stalled work: kafkajs may stop consuming in silence, and a handler may hang.
 *
 * Something is stalled while it has work and makes no progress. Time counts between two successful observations only:
 * time during which the brokers were out of reach, or this process was suspended, does not count. `addObservation` is
 * pure; `startWatchdog` is the timer.
 */

/** The state of a partition, or of the group membership. */
export interface Observation {
  readonly name: string;
  /** Changes with every step of progress. */
  readonly steps: number;
  readonly hasWork: boolean;
  /** Description for the error message. */
  readonly state: string;
}

/** Everything that has work, by name: its step, and how long it has been at that step. */
export type Stalls = ReadonlyMap<string, { readonly steps: number; readonly stalledMs: number }>;

/** Returns the stalls after another observation. `elapsedMs` is the time since the observation before it. */
export function addObservation(before: Stalls, observations: readonly Observation[], elapsedMs: number): Stalls {
  const due = observations.filter(({ hasWork }) => hasWork);
  return new Map(
    due.map(({ name, steps }) => {
      const known = before.get(name);
      return [name, { steps, stalledMs: known?.steps === steps ? known.stalledMs + elapsedMs : 0 }];
    }),
  );
}

interface WatchdogParts {
  readonly timeoutMs: number;
  /** Rejects when nothing can be observed now. */
  readonly observe: () => Promise<readonly Observation[]>;
  /** Called once, when something has been stalled for `timeoutMs`, with the state of everything. */
  readonly onStall: (message: string) => void;
}

const observationsPerTimeout = 6;
const maxIntervalMs = 10_000;

/** Returns a function that stops the watchdog. */
export function startWatchdog({ timeoutMs, observe, onStall }: WatchdogParts): () => void {
  const intervalMs = Math.min(maxIntervalMs, timeoutMs / observationsPerTimeout);
  let isStopped = false;
  let stalls: Stalls = new Map();
  let observedAtMs = performance.now();
  let timer = setTimeout(check, intervalMs);

  async function check(): Promise<void> {
    const observations = await observe().catch(() => []);
    if (isStopped) return;
    const nowMs = performance.now();
    // Longer intervals mean that the process was suspended.
    stalls = addObservation(stalls, observations, Math.min(nowMs - observedAtMs, 2 * intervalMs));
    observedAtMs = nowMs;
    const stalled = [...stalls].filter(([, { stalledMs }]) => stalledMs >= timeoutMs);
    if (stalled.length > 0) {
      const names = stalled.map(([name]) => name).join(', ');
      const states = observations.map(({ name, state }) => `${name}: ${state}`).join('\n');
      return onStall(`no progress for ${timeoutMs} ms: ${names}\n${states}`);
    }
    timer = setTimeout(check, intervalMs);
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
