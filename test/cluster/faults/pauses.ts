/** Measures, from outside, the longest time for which a running cluster applied nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterNodes } from '../../support/cluster-nodes.js';

const askEveryMs = 500;

/**
 * Polls every node that evaluates. Returns a function that ends the polling, and returns the longest time in ms
 * between two applied locations.
 */
export function watchPauses({ nodes }: ClusterNodes): () => Promise<number> {
  const watched = nodes.filter(({ roles }) => roles.includes('pipeline')).map((node) => ({ node, evaluated: 0 }));
  let lastMs: number | undefined;
  let longestMs = 0;
  let isOver = false;

  async function look(one: (typeof watched)[number]): Promise<boolean> {
    // A node that is down reports nothing, and a restarted one counts from 0.
    const evaluated = await one.node.metric('fenceline_locations_evaluated_total').catch(() => 0);
    const isAtWork = evaluated > 0 && evaluated !== one.evaluated;
    one.evaluated = evaluated;
    return isAtWork;
  }

  async function watch(): Promise<void> {
    while (!isOver) {
      // Answers describe the moment of the request, and may take seconds while a service is away.
      const nowMs = performance.now();
      if ((await Promise.all(watched.map(look))).includes(true)) {
        longestMs = Math.max(longestMs, nowMs - (lastMs ?? nowMs));
        lastMs = nowMs;
      }
      await delay(askEveryMs);
    }
  }

  const watching = watch();
  return async () => {
    isOver = true;
    await watching;
    return Math.round(longestMs);
  };
}
