/**
 * Files that run only with TEST_LONG, as in `.ci/run`, or where the command names them or their folder. Each takes six
 * to twenty seconds of processor time. The values name shorter tests of the same area.
 */
export const longFiles: Readonly<Record<string, string>> = {
  'test/contract/embedded-processes.test.ts': 'test/contract/embedded.test.ts, test/kill/kill.test.ts',
  'test/deploy/package.test.ts': 'test/deploy/release.test.ts; all black-box files run the same program',
  'test/embedded/calls-nobody.test.ts': 'nothing: it compares a promise with a whole server',
  'test/embedded/disk-full.test.ts': 'server/data-folder/space-watch.test.ts',
  'test/embedded/older-log.test.ts': 'pipeline/positions.test.ts, test/contract/embedded.test.ts',
  'test/embedded/secrets-on-disk.test.ts': 'backends/embedded/environment.test.ts, pipeline/encryption.test.ts',
  'test/end-to-end/map-abuse.test.ts': 'renderer/pool/{fair-queue,pool,icon-pool}.test.ts',
  'test/end-to-end/map-basemap.test.ts': 'renderer/basemap/bake.test.ts, for what is baked',
  'test/end-to-end/replay.test.ts': 'replay/{replay,routes}.test.ts',
  'test/end-to-end/stop-answers-everything.test.ts': 'test/end-to-end/shutdown.test.ts, http/connections',
};

/** Returns the long files that a run with such arguments leaves out. */
export function leftOutFiles(args: readonly string[] = process.argv): string[] {
  if (process.env.TEST_LONG) return [];
  const paths = args.filter((arg) => arg.includes('/'));
  return Object.keys(longFiles).filter((file) => !paths.some((path) => file.includes(path)));
}
