import { configDefaults, defineConfig } from 'vitest/config';
import { DurationsReporter, LongestFirst } from './testing/vitest/durations.js';
import { FailedReporter } from './testing/vitest/failed.js';
import { LeftOutReporter } from './testing/vitest/left-out.js';
import { leftOutFiles } from './testing/vitest/long-files.js';

/**
 * test/README.md explains the kinds of tests. Those without services run together, so that files that wait and files
 * that compute share the cores. Those on services follow, in `groupOrder`.
 */
const modules =
  '{schemas,pipeline,backends,http,outbound,providers,ingest,api,imports,simulation,renderer,replay,server,cli,' +
  'demo,dashboard,client,bench,testing}';

/** These files start servers or other programs. */
const embeddedFiles = [
  'test/{contract,documentation,deploy,embedded,kill}/**/*.test.ts',
  'test/end-to-end/**/*.test.ts',
];
/** Chromium takes a third of the processor time of everything that runs without services, so they have a command. */
const browserFiles = ['test/browser/**/*.test.ts'];
const clusterFiles = ['test/cluster/**/*.test.ts'];

/**
 * Black-box files that run on both backends, because what they test depends on the log, the state store, the delivery
 * queue, analytics, or configuration that other nodes must see.
 *
 * The others run once, embedded. They test what is above the ports: validation (bad-input, query-parameters, openapi),
 * maps, the HTTP server's close (stop-answers-everything; shutdown runs on both), and most of the dashboard, whose
 * answers the others compare on both backends. Its views that show what arrives run on both.
 */
const onBothBackends = [
  'test/end-to-end/{accounts,analytics,authority,beacons,bulk,erasure,expiry,imports,places}.test.ts',
  'test/end-to-end/{replay,shutdown,stream,tracing,track,webhooks}.test.ts',
  'test/browser/dashboard/{analytics,demo,live,webhooks}.test.ts',
];

/**
 * Files that depend on the version of Kafka: every request that Fenceline sends, groups, faults of brokers, and whole
 * nodes. TEST_KAFKA_VERSION=4.1 adds them as project `kafka`, on that version. `test/cluster/faults` uses the same
 * client, whose brokers `test/cluster/kafka` kills, pauses and restarts.
 */
const kafkaFiles = ['test/cluster/kafka/*.test.ts', 'test/cluster/{repartition,nodes}.test.ts'];

const temporaryFiles = 'testing/vitest/temporary-files.ts';
const blackBoxSetup = [
  'testing/vitest/fresh-build.ts',
  temporaryFiles,
  'testing/vitest/one-run.ts',
  'testing/vitest/shared-server.ts',
];
const onServices = {
  globalSetup: [...blackBoxSetup, 'testing/services/setup.ts'],
  runner: 'testing/services/runner.ts',
};

/** Random tests repeat the same choices unless a campaign (`npm run test:faults`) or the caller names another seed. */
const { FAULT_SEED = '1', KILL_SEED = '1', PROPERTY_SEED = '1' } = process.env;
const seeds = { FAULT_SEED, KILL_SEED, PROPERTY_SEED };

/** Projects without services run together. */
const withoutServices = { sequence: { groupOrder: 0 } };

export default defineConfig({
  test: {
    // A guard against hanging, not a measure of speed: two cores are shared with servers and browsers.
    testTimeout: 300_000,
    // Hooks start servers.
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Worker processes, not threads: native engines (LMDB, chDB) belong to a process.
    pool: 'forks',
    // For two cores: black-box files wait for servers a third of their time.
    maxWorkers: 3,
    // Files share the processes of their workers, with their imports and Chromium. Those that open chDB close it.
    isolate: false,
    env: seeds,
    setupFiles: ['testing/vitest/property-seed.ts', 'testing/vitest/processor-time.ts'],
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new DurationsReporter(), new LeftOutReporter(), new FailedReporter()],
    projects: [
      {
        extends: true,
        test: {
          ...withoutServices,
          name: 'unit',
          include: [`${modules}/**/*.test.ts`, 'test/ledger/**/*.test.ts'],
          globalSetup: temporaryFiles,
        },
      },
      {
        extends: true,
        test: {
          ...withoutServices,
          name: 'embedded',
          include: embeddedFiles,
          exclude: [...configDefaults.exclude, ...leftOutFiles()],
          globalSetup: blackBoxSetup,
        },
      },
      {
        extends: true,
        test: {
          ...withoutServices,
          name: 'browser',
          include: browserFiles,
          globalSetup: blackBoxSetup,
        },
      },
      {
        extends: true,
        test: {
          ...onServices,
          name: 'cluster',
          include: [...clusterFiles, ...onBothBackends],
          // They mostly wait: for sessions to expire, for failovers, and for starts.
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
        },
      },
      ...(process.env.TEST_KAFKA_VERSION
        ? [
            {
              extends: true as const,
              test: { ...onServices, name: 'kafka', include: kafkaFiles, sequence: { groupOrder: 2 } },
            },
          ]
        : []),
    ],
  },
});
