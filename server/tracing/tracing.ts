/** Starts tracing if it is configured. The SDK is loaded only then. */
import type { Logger } from 'pino';
import type { Configuration } from '../config/schema.js';
import type { NodeTracing } from './types.js';

/** How often a problem of the collector is logged. */
const problemEveryMs = 60_000;

/** Returns undefined where tracing is off. `role` names the process or thread in its spans. */
export async function startTracing(
  configuration: Configuration,
  role: string,
  logger: Logger,
): Promise<NodeTracing | undefined> {
  const { endpoint, authorization, samplePercent } = configuration.tracing;
  if (endpoint === '') return undefined;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const onProblem = (problem: string): void => {
    const nowMs = performance.now();
    if (nowMs - loggedAtMs < problemEveryMs) return;
    loggedAtMs = nowMs;
    logger.warn({ problem }, 'spans are lost');
  };
  const { startSdk } = await import('./sdk.js');
  return startSdk({ endpoint, authorization, samplePercent, role, onProblem });
}
