/** What engines over HTTP share. */
import type { Answer } from '../answer.js';
import type { RoadBoundary } from './boundary.js';
import type { EngineState } from './engine.js';

export interface HttpEngineOptions {
  readonly url: string;
  /** Empty: none. */
  readonly apiKey: string;
  /** Where the provider's road data ends, as far as the operator says it. */
  readonly boundary: RoadBoundary | undefined;
}

const rememberedMs = 600_000;

/** Asks for the state at most every ten minutes. */
export function rememberState(ask: () => Promise<EngineState>): () => Promise<Answer<EngineState>> {
  let asked: Promise<EngineState> | undefined;
  let askedAtMs = 0;
  return async () => {
    if (asked === undefined || performance.now() - askedAtMs > rememberedMs) {
      askedAtMs = performance.now();
      asked = ask();
    }
    return { ok: true, value: await asked };
  };
}

/** Returns a date as epoch ms; null without a valid one. */
export function dateOf(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
