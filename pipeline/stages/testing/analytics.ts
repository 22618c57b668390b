/** The real analytics engine, in a temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChdbAnalytics, openChdbAnalytics } from '../../../backends/embedded/analytics.js';

let open = openEmbedded;

/** Opens the engine of the suites; closing it removes what it stored. */
export const openTestAnalytics = (): Promise<ChdbAnalytics> => open();

/** Makes later suites use another engine. Returns a function that ends this. */
export function useAnalytics(openOther: typeof open): () => void {
  open = openOther;
  return () => {
    open = openEmbedded;
  };
}

async function openEmbedded(): Promise<ChdbAnalytics> {
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
