/**
 * The nodes of these suites: `left` and `right` take requests, and three work for the suite of read models that lag.
 * They start once, because a start costs a second of processor time.
 */
import { Client } from '../../support/client.js';
import { newTestCluster, type TestCluster } from '../../support/cluster.js';
import { ClusterNodes, type NodePlan } from '../../support/cluster-nodes.js';

export type Front = 'left' | 'right';

const plan: readonly NodePlan[] = [
  { name: 'left', roles: ['ingest', 'api'] },
  { name: 'right', roles: ['ingest', 'api'] },
  { name: 'pipeline-1', roles: ['pipeline'] },
  { name: 'pipeline-2', roles: ['pipeline'] },
  { name: 'sender', roles: ['webhooks', 'analytics'] },
];

export const maxSignInAttempts = 4;

const settings = {
  // Longer than a pause, so that no partition moves.
  FENCELINE_KAFKA_SESSION_TIMEOUT_MS: '20000',
  FENCELINE_INGEST_REPLY_TIMEOUT_MS: '100',
  FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  FENCELINE_SIGNUP_ENABLED: 'on',
  FENCELINE_ACCOUNTS_SIGN_IN_ATTEMPTS_PER_ADDRESS: `${maxSignInAttempts}`,
};

export interface Fronts {
  readonly cluster: TestCluster;
  readonly nodes: ClusterNodes;
}

let started: Fronts | undefined;

/** Starts the nodes. They take seconds, so all tests of a file share them. */
export async function startFronts(): Promise<void> {
  const cluster = newTestCluster()!;
  started = { cluster, nodes: await ClusterNodes.start({ ...cluster.environment, ...settings }, plan) };
}

/** Stops the nodes, if they have started. */
export async function stopFronts(): Promise<void> {
  await started?.nodes.dispose();
}

/** Throws before they have started. */
export function fronts(): Fronts {
  if (!started) throw new Error('the nodes have not started');
  return started;
}

/** Ends the nodes that work. Idle nodes take processor time too. */
export async function endWorkers(): Promise<void> {
  const workers = fronts().nodes.nodes.filter(({ roles }) => !roles.includes('ingest'));
  await Promise.all(workers.map((node) => node.end()));
}

/** Returns a client with any text for a key, or none. */
export const at = (name: Front, key: string | undefined): Client =>
  new Client(() => fronts().nodes.node(name).address, key);
/** Returns a client of the front with the admin API key. */
export const administratorAt = (name: Front): Client => at(name, fronts().cluster.adminApiKey);
