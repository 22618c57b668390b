/** Keeps a catalog close to its read model, so that a search or a batch of locations has few changes to apply. */
import type { MonitoredCatalog } from './catalog.js';

interface FollowTiming {
  /** How often changes are looked for. */
  readonly intervalMs: number;
  /** How long changes are applied in one turn of the event loop, and how long other work then has it. */
  readonly stepMs: number;
}

const defaultTiming: FollowTiming = { intervalMs: 1_000, stepMs: 10 };

/** Applies changes in the background, in steps, until `stop`. Stop it before the catalog is closed. */
export function followInBackground(
  catalog: Pick<MonitoredCatalog, 'refreshFor'>,
  { intervalMs, stepMs }: FollowTiming = defaultTiming,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  function plan(delayMs: number): void {
    timer = setTimeout(() => plan(catalog.refreshFor(stepMs) ? intervalMs : stepMs), delayMs).unref();
  }
  plan(intervalMs);
  return { stop: () => clearTimeout(timer) };
}
