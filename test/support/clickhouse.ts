/** Connections of tests to ClickHouse servers. */
import { type ClickHouseAnalytics, createClickHouse, unusable } from '../../backends/cluster/clickhouse/analytics.js';
import { isPassing } from '../../backends/cluster/clickhouse/errors.js';
import type { ClickHouseOptions } from '../../backends/cluster/options.js';
import { retried } from '../../pipeline/retrying.js';

/** Connects. Rejects when the server refuses the login, is too old, or can't be reached for two minutes. */
export async function openClickHouse(
  options: ClickHouseOptions,
  { outageLimitMs = 120_000, ...parts }: Parameters<typeof createClickHouse>[1] = {},
): Promise<ClickHouseAnalytics> {
  const analytics = createClickHouse(options, { outageLimitMs, ...parts });
  try {
    await retried(() => analytics.connect(), { limitMs: outageLimitMs, isFinal: (error) => !isPassing(error) });
  } catch (error) {
    await analytics.close();
    throw unusable(options, error);
  }
  return analytics;
}
