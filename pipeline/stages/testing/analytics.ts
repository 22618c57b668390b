import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import type { Analytics } from '../../ports.js';

export async function openTestAnalytics(): Promise<{ analytics: Analytics; close(): Promise<void> }> {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-chdb-'));
  const client = createClient({ connection: createChdbConnection({ path }) as never });
  return {
    analytics: {
      async command(query) {
        await client.command({ query });
      },
      async insert(table, values) {
        await client.insert({ table, values: values as object[], format: 'JSONEachRow' });
      },
      async query<Row>(query: string, query_params: Record<string, unknown> = {}) {
        return (await (await client.query({ query, query_params, format: 'JSONEachRow' })).json()) as Row[];
      },
    },
    async close() {
      await client.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
