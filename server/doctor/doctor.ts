/**
 * `fenceline doctor`: checks what a node needs before it starts, or while it runs. It changes nothing but one key in
 * Redis, which it deletes.
 */
import { clusterOptions } from '../cluster-options.js';
import type { Configuration } from '../config/schema.js';
import { contradictions } from '../contradictions.js';
import { checkDataFolder } from './data-folder.js';
import { type Check, type Finding, findingsAbout } from './finding.js';
import { checkMachine } from './machine.js';
import { checkMapData, checkNamedFiles, checkNode, checkServices } from './others.js';
import { checkStoredData } from './stored-data.js';

/** What a diagnosis covers beyond the quick checks. */
interface DiagnoseOptions {
  /** Reads all that is stored in LMDB, which takes minutes for a large folder. */
  readonly readsData?: boolean;
}

/** Yields the findings in a fixed order. The checks run at the same time, because services out of reach take long. */
export async function* diagnose(
  configuration: Configuration,
  { readsData = false }: DiagnoseOptions = {},
): AsyncGenerator<Finding> {
  const checks: readonly Check[] = [
    () => checkMachine(configuration),
    () => checkDataFolder(configuration),
    ...(readsData ? [() => checkStoredData(configuration)] : []),
    () => checkNode(configuration),
    () => reportProblems(contradictions(configuration)),
    ...(configuration.backend === 'cluster' ? await clusterChecks(configuration) : []),
    () => checkNamedFiles(configuration),
    () => checkMapData(configuration),
    () => checkServices(configuration),
  ];
  const running = checks.map((check) => collect(check()));
  for (const findings of running) yield* await findings;
}

async function collect(findings: AsyncGenerator<Finding>): Promise<Finding[]> {
  const collected: Finding[] = [];
  for await (const finding of findings) collected.push(finding);
  return collected;
}

async function clusterChecks(configuration: Configuration): Promise<Check[]> {
  const given = clusterOptions(configuration);
  if (!given.ok) return [];
  const { kafka, registry, redis, clickHouse } = given.options;
  // Loaded only for a cluster: an embedded node does without these clients.
  const [{ checkKafka }, { checkRegistry }, { checkRedis }, { checkClickHouse }] = await Promise.all([
    import('./kafka.js'),
    import('./registry.js'),
    import('./redis.js'),
    import('./clickhouse.js'),
  ]);
  return [
    () => checkKafka(kafka),
    () => checkRegistry(registry),
    () => checkRedis(redis),
    () => checkClickHouse(clickHouse),
    checkSecrets,
  ];
}

async function* reportProblems(problems: readonly string[]): AsyncGenerator<Finding> {
  const { failure } = findingsAbout('configuration');
  for (const problem of problems)
    yield failure(problem, 'Correct the setting; "fenceline config --explain" describes it.');
}

/** The secrets must be equal on all nodes. No check of one node can see that. */
async function* checkSecrets(): AsyncGenerator<Finding> {
  const { ok, failure } = findingsAbout('secrets');
  const missing = ['FENCELINE_ADMIN_API_KEY', 'FENCELINE_ENCRYPTION_KEY'].filter((name) => !process.env[name]);
  if (missing.length === 0) yield ok('both secrets of the cluster are set; they must be equal on all nodes');
  else
    yield failure(
      `${missing.join(' and ')} must be set`,
      'Set the same values on all nodes; docs/cluster.md says how.',
    );
}
