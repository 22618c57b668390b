/** The real analytics engine, in a temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChdbAnalytics, openChdbAnalytics } from '../../../backends/embedded/analytics.js';

/** Opens the engine; closing it removes the folder. */
export async function openTestAnalytics(): Promise<ChdbAnalytics> {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-chdb-'));
  const analytics = await openChdbAnalytics({ path });
  return {
    ...analytics,
    async close() {
      await analytics.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
