import { configDefaults, defineConfig } from 'vitest/config';

const modules =
  '{schemas,pipeline,backends,http,outbound,ingest,api,renderer,replay,server,cli,demo,bench,testing,test}';
/** Run against real services, which are started when one of these files is to run: testing/services. */
const clusterFiles = ['test/cluster/**/*.test.ts'];
/** Black-box tests, which run in both projects: embedded in the one, as nodes of a cluster in the other. */
const blackBoxFiles = ['test/{end-to-end,browser}/**/*.test.ts'];
/**
 * What depends on the version of Kafka: every request that we send, groups, faults of brokers, and whole nodes.
 * TEST_KAFKA_VERSION=4.1 adds them as project `kafka`, on that version. The rest of the cluster suite meets Kafka only
 * through these.
 */
const kafkaFiles = [
  'test/cluster/kafka/*.test.ts',
  'test/cluster/{repartition,nodes}.test.ts',
  'test/cluster/faults/{processes,services-broker}.test.ts',
];
const onServices = {
  globalSetup: 'testing/services/setup.ts',
  runner: 'testing/services/runner.ts',
  testTimeout: 120_000,
  // Brokers, Redis, ClickHouse and browsers share two cores with the tests: a time limit that passed isn't a failure
  // yet, while a neighbour starts.
  // A broken rule is, at once. Faults are tried once: there, what is lost may show as something that never came.
  retry: { count: 2, condition: /timed out|not within|due to timeout/ },
};

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // Hooks start servers, while neighbours do too.
    hookTimeout: 120_000,
    // Worker processes, not threads: native engines (LMDB, chDB) belong to a process.
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${modules}/**/*.test.ts`],
          exclude: [...configDefaults.exclude, ...clusterFiles],
        },
      },
      {
        extends: true,
        test: {
          ...onServices,
          name: 'cluster',
          include: [...clusterFiles, ...blackBoxFiles],
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
