/**
 * One run of the workload of the kill test on a separate cluster, under disturbance.
 *
 * Input: the workload, the nodes, and `disturb`, which runs beside the sender. Output, for `test/ledger/verdict.ts`:
 * the record and the requests to the webhook, once every location is evaluated, stored and delivered, and the nodes are
 * stopped.
 */
import { onTestFailed, onTestFinished } from 'vitest';
import type { Role } from '../../../server/config/schema.js';
import { Receiver } from '../../../testing/receiver.js';
import { until } from '../../../testing/until.js';
import { deliveredIds, refusingSome } from '../../ledger/deliveries.js';
import { readLedger } from '../../ledger/ledger.js';
import { configure, Progress, send } from '../../ledger/sender.js';
import { clusterSources } from '../../ledger/sources.js';
import type { Run } from '../../ledger/verdict.js';
import type { Workload } from '../../ledger/workload.js';
import { type Json, ok } from '../../support/client.js';
import { newTestCluster, type OwnServices, type TestCluster } from '../../support/cluster.js';
import { ClusterNodes, type NodePlan, usualPlan } from '../../support/cluster-nodes.js';
import { watchPauses } from './pauses.js';

/** Everything that a disturbance may use. */
export interface Running {
  readonly cluster: TestCluster;
  readonly nodes: ClusterNodes;
  readonly receiver: Receiver;
  /** Resolves when this share of all locations is acknowledged. */
  reached(share: number): Promise<void>;
  /** Limits the share that is sent until the next call. */
  upTo(share: number): void;
}

export interface RunPlan {
  readonly workload: Workload;
  /** Minimum duration of sending. */
  readonly overMs?: number;
  readonly nodes?: readonly NodePlan[];
  readonly services?: OwnServices;
  /** Environment of every node, in addition to that of a fresh cluster. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Must leave every node running, or being restarted by its supervisor. */
  readonly disturb?: (running: Running) => Promise<unknown>;
}

export interface MeasuredRun extends Run {
  /** The longest time between two applied locations. */
  readonly longestPauseMs: number;
  /** The last lines of each node. */
  readonly log: string;
}

const allRoles: readonly Role[] = ['ingest', 'pipeline', 'api', 'webhooks', 'analytics'];

/** In seconds. The receiver refuses some first attempts. */
const retrySchedule = '0.5,2,5,30';

/** For a run without faults, in which one node is enough. */
export const oneNode: readonly NodePlan[] = [{ name: 'alone', roles: allRoles }];
/** Two nodes with all roles. */
export const twoNodes: readonly NodePlan[] = ['first', 'second'].map((name) => ({ name, roles: allRoles }));

/** Time limit until a share of the locations is acknowledged, or until all are processed after the last restart. */
const patience = { timeoutMs: 240_000 };
/** Polls seldom, because an answer costs the nodes milliseconds. */
const seldom = { ...patience, pollEveryMs: 200 };

/** Performs one run. A test must call this, because its end stops the processes after a failure. */
export async function run(plan: RunPlan): Promise<MeasuredRun> {
  const { workload, overMs = 0, nodes: planned = usualPlan, disturb = async () => {} } = plan;
  const cluster = newTestCluster(plan.services);
  if (!cluster) throw new Error('there are no services');
  const environment = {
    ...cluster.environment,
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1/32',
    FENCELINE_WEBHOOKS_RETRY_SCHEDULE: retrySchedule,
    ...plan.environment,
  };
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  receiver.answering = refusingSome();
  const nodes = await ClusterNodes.start(environment, planned);
  onTestFinished(() => nodes.dispose());
  onTestFailed(() => console.log(nodes.log()));

  await configure(nodes, workload);
  ok(await nodes.as('test_secret').post('/v1/webhooks', { url: receiver.url() }));
  const progress = new Progress();
  const total = workload.devices.flat().length;
  const longestPause = watchPauses(nodes);
  const reached = async (share: number) => void (await until(() => progress.acknowledged >= total * share, patience));
  const upTo = (share: number) => {
    progress.limit = total * share;
  };
  const disturbed = disturb({ cluster, nodes, receiver, reached, upTo });
  await Promise.all([send(nodes, workload, progress, overMs), disturbed]);
  await nodes.working();
  await everythingIsStored(nodes, receiver, workload);
  const longestPauseMs = await longestPause();
  await nodes.stop();
  const ledger = await readLedger(await clusterSources(environment), deviceIds(workload));
  return { ledger, receiver, longestPauseMs, log: nodes.log() };
}

const deviceIds = ({ devices }: Workload): string[] => devices.map(([first]) => first!.deviceId);

/** Returns how many devices are listed at home. Every device's last location brings it there. */
export async function devicesAtHome(nodes: ClusterNodes): Promise<number> {
  return ok(await nodes.as('test_secret').get('/v1/geofences/kill/home/users?limit=1000')).users.length;
}

/**
 * Resolves when everything is stored: once the last device is listed at home, all earlier locations are stored. After
 * a time limit the test continues, because the ledger says better what is missing.
 */
async function everythingIsStored(nodes: ClusterNodes, receiver: Receiver, { devices }: Workload): Promise<void> {
  const backend = nodes.as('test_secret');
  const { geofence } = ok(await backend.get('/v1/geofences/kill/home'));
  let entries: readonly Json[] = [];
  const stored = async () => {
    if ((await devicesAtHome(nodes)) !== devices.length) return false;
    const path = `/v1/events?geofence=${geofence._id}&type=user.entered_geofence&limit=1000`;
    entries = ok(await backend.get(path)).events;
    return entries.length === devices.length;
  };
  const delivered = async () => {
    if ((await waitingDeliveries(nodes)) !== 0) return false;
    const ids = deliveredIds(receiver);
    return entries.every(({ _id }) => ids.has(_id));
  };
  await until(stored, seldom)
    .then(() => until(delivered, seldom))
    .catch((error) => console.log(`not everything is stored and delivered: ${error}\n${nodes.log()}`));
}

async function waitingDeliveries(nodes: ClusterNodes): Promise<number> {
  const sender = nodes.nodes.find(({ roles }) => roles.includes('webhooks'))!;
  return sender.metric('fenceline_webhook_deliveries_pending');
}
