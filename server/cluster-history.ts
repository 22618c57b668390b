/**
 * ClickHouse of a role, whose node goes on without it.
 *
 * A start connects and migrates the tables. While ClickHouse is away, this goes on in the background for as long as it
 * takes. Meanwhile queries are refused, and rows wait on their topics.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClickHouseAnalytics, unusable } from '../backends/cluster/clickhouse/analytics.js';
import { isPassing } from '../backends/cluster/clickhouse/errors.js';
import type { ClickHouseOptions } from '../backends/cluster/options.js';
import { PortError } from '../pipeline/errors.js';
import type { Analytics } from '../pipeline/ports.js';
import { retried } from '../pipeline/retrying.js';
import { migrate } from '../pipeline/stages/analytics/migrate.js';
import type { Part } from './node.js';

const tables = fileURLToPath(new URL('../schemas/clickhouse', import.meta.url));
/** How long a start waits for the tables before it goes on without them. */
const startLimitMs = 5_000;
const retryAfterS = 5;

interface ClusterHistoryParts {
  /** Not connected yet. Closed with the history. */
  readonly analytics: ClickHouseAnalytics;
  readonly clickHouse: ClickHouseOptions;
  /** Called once, if ClickHouse is away. */
  readonly onAway: (problem: string) => void;
  /** Called when the tables are ready, if ClickHouse was away. */
  readonly onReady: () => void;
}

/** ClickHouse as one role uses it, whether it is reachable or not. Its owner closes it. */
export interface ClusterHistory {
  /** For requests. Rejects as `unavailable` until the tables are ready. */
  readonly reading: Pick<Analytics, 'query' | 'file'>;
  readonly isReady: boolean;
  /** Rejects when ClickHouse refuses this node after its start. */
  readonly done: Promise<unknown>;
  /** Returns a part that begins when the tables are ready, unless it is stopped before. */
  whenReady(begin: (analytics: Analytics) => Part): Part;
  /** Waits for running statements and queries. */
  close(): Promise<void>;
}

/** Resolves when the tables are ready, or after some seconds without. Rejects when ClickHouse refuses this node. */
export async function openHistory(parts: ClusterHistoryParts): Promise<ClusterHistory> {
  const { analytics } = parts;
  const ending = new AbortController();
  let isReady = false;
  const prepared = prepare(parts, ending.signal).then((areReady) => {
    isReady = areReady;
  });
  const ifReady = (): Analytics => {
    if (isReady) return analytics;
    throw new PortError('unavailable', 'the tables in ClickHouse are not ready yet', { retryAfterS });
  };
  async function close(): Promise<void> {
    ending.abort();
    await prepared.catch(() => {});
    await analytics.close();
  }
  try {
    await Promise.race([prepared, delay(startLimitMs, undefined, { ref: false })]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    reading: {
      query: async (...query) => ifReady().query(...query),
      file: async (...query) => ifReady().file(...query),
    },
    get isReady() {
      return isReady;
    },
    done: prepared,
    whenReady(begin) {
      let part: Part | undefined;
      const begun = prepared.then(() => {
        if (isReady && !ending.signal.aborted) part = begin(analytics);
      });
      return {
        done: begun.then(() => part?.done),
        async stop() {
          ending.abort();
          await part?.stop();
        },
      };
    },
    close,
  };
}

/**
 * Connects and migrates the tables. Repeats both until ClickHouse has accepted them, and returns true, or until the
 * signal aborts, and returns false.
 */
async function prepare(
  { analytics, clickHouse, onAway, onReady }: ClusterHistoryParts,
  signal: AbortSignal,
): Promise<boolean> {
  let wasAway = false;
  async function attempt(): Promise<void> {
    try {
      await analytics.connect(signal);
      await migrate({ ...analytics, command: (sql) => analytics.command(sql, signal) }, tables, clickHouse);
    } catch (error) {
      if (isPassing(error) && !wasAway) {
        wasAway = true;
        onAway(unusable(clickHouse, error).message);
      }
      throw error;
    }
  }
  try {
    await retried(attempt, { limitMs: Number.POSITIVE_INFINITY, isFinal: (error) => !isPassing(error), signal });
  } catch (error) {
    if (signal.aborted) return false;
    throw unusable(clickHouse, error);
  }
  if (wasAway) onReady();
  return true;
}
