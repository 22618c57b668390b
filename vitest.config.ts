import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{schemas,pipeline,backends,http,outbound,ingest,api,renderer,cli,bench,test}/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Worker processes, not threads: native engines (LMDB, chDB) belong to a process.
    pool: 'forks',
    maxWorkers: 2,
  },
});
