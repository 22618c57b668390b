/** Checks Kafka: brokers, those that they name to clients, versions, clock, topics, permissions. Writes nothing. */
import type { Admin, Broker, Kafka } from 'kafkajs';
import { createKafka, groupNameOf, whileBrokersChange } from '../../backends/cluster/kafka/connection/client.js';
import {
  oldestMetadataLevel,
  quorumRequest,
  releaseOf,
  type SupportAnswer,
  supportRequest,
} from '../../backends/cluster/kafka/connection/describe-requests.js';
import { clusterOf, exchange } from '../../backends/cluster/kafka/connection/kafkajs-internals.js';
import { inspectTopics, rehearseCreation } from '../../backends/cluster/kafka/connection/topics.js';
import type { KafkaOptions } from '../../backends/cluster/options.js';
import { topics } from '../../pipeline/ports.js';
import { retried } from '../../pipeline/retrying.js';
import { compareClock } from './clock.js';
import { type Finding, findingsAbout } from './finding.js';
import { outOfReach, reach, reachAll } from './reach.js';

const { ok, warning, failure } = findingsAbout('Kafka');

/**
 * A new or restarted broker answers so while it loads groups, and to the first request for a producer id. kafkajs asks
 * again for three seconds at most, which is too short on a busy machine. Then its error is the last one, or only says
 * that no broker knows the coordinator.
 */
const startingErrors = ['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP'];
const noCoordinator = 'KafkaJSGroupCoordinatorNotFound';
const startingLimitMs = 15_000;

/** Kafka's code for CLUSTER_AUTHORIZATION_FAILED. */
const accessDenied = 31;

const seeAccess = 'See "Permissions" in docs/cluster.md for the commands that grant them.';

/** Yields findings, and ends after a failure that hides others. Closes its connection. */
export async function* checkKafka(options: KafkaOptions): AsyncGenerator<Finding> {
  const configured = await reachAll(options.brokers);
  const away = outOfReach(configured);
  if (configured.every(({ problem }) => problem !== undefined)) {
    yield failure(`no broker can be reached: ${away}`, 'Check kafka.brokers, firewalls, and whether the brokers run.');
    return;
  }
  if (away !== '') yield warning(`brokers are out of reach: ${away}`, 'Start them, or remove them from kafka.brokers.');

  const kafka = createKafka(options, () => {});
  const admin = kafka.admin();
  try {
    await admin.connect();
  } catch (error) {
    yield failure(
      `the brokers refuse the connection: ${(error as Error).message}`,
      'Check kafka.tls, kafka.caFile, kafka.saslMechanism, kafka.username and FENCELINE_KAFKA_PASSWORD.',
    );
    return;
  }
  try {
    yield* checkBrokers(kafka, yield* checkAdvertised(admin));
    yield* checkTopics(admin, options);
    yield* checkPermissions(kafka, admin, options);
  } finally {
    await admin.disconnect();
  }
}

/** Clients connect to the addresses that brokers name, not to the configured ones. Returns the ids within reach. */
async function* checkAdvertised(admin: Admin): AsyncGenerator<Finding, number[]> {
  const { brokers } = await whileBrokersChange(() => admin.describeCluster());
  const reached = await Promise.all(brokers.map(({ host, port }) => reach(host, port)));
  const away = outOfReach(reached);
  if (away === '') yield ok(`${brokers.length} brokers answer at the addresses that they advertise`);
  else
    yield failure(
      `brokers advertise addresses that this machine can't reach: ${away}`,
      'Set advertised.listeners of these brokers to addresses that all nodes can reach.',
    );
  return brokers.flatMap(({ nodeId }, index) => (reached[index]?.problem === undefined ? [nodeId] : []));
}

async function* checkBrokers(kafka: Kafka, nodes: readonly number[]): AsyncGenerator<Finding> {
  const cluster = clusterOf(kafka);
  await cluster.connect();
  await cluster.refreshMetadata();
  try {
    const brokers = await Promise.all(nodes.map((node) => cluster.findBroker({ nodeId: `${node}` })));
    const supports = await Promise.all(brokers.map((broker) => exchange(broker, supportRequest)));
    yield* checkVersions(nodes, supports);
    const answering = brokers.find((_, index) => supports[index]?.describesQuorum);
    yield await checkClock(answering);
  } finally {
    await cluster.disconnect();
  }
}

/** Brokers do not tell their version, but the levels of `metadata.version` that they support. */
async function* checkVersions(nodes: readonly number[], supports: readonly SupportAnswer[]): AsyncGenerator<Finding> {
  const releases = new Set<string>();
  for (const [index, { metadataLevel }] of supports.entries()) {
    const name = `broker ${nodes[index]}`;
    if (metadataLevel === undefined)
      yield warning(
        `${name} does not report metadata.version, from which its version follows`,
        'Compare its version with "On existing services" in docs/cluster.md.',
      );
    else if (metadataLevel < oldestMetadataLevel)
      yield warning(
        `${name} is version ${releaseOf(metadataLevel)}, with which Fenceline is not tested`,
        `Upgrade it to ${releaseOf(oldestMetadataLevel)} or newer.`,
      );
    else releases.add(releaseOf(metadataLevel));
  }
  if (releases.size > 0)
    yield ok(`version ${[...releases].join(', ')}, from the metadata.version that brokers support`);
}

/** No response contains a broker's time. Only the active controller tells its own. */
async function checkClock(broker: Broker | undefined): Promise<Finding> {
  const { warning } = findingsAbout('clock');
  const byHand = 'compare the clocks of the brokers by hand';
  if (broker === undefined)
    return warning('Kafka tells no time, because it has no KRaft controller', `Please ${byHand}.`);
  try {
    // The first request of a connection takes longer, and the duration is the error of the comparison.
    await controllerTimeMs(broker);
    return await compareClock("Kafka's active controller", () => controllerTimeMs(broker));
  } catch (error) {
    const text = `Kafka's active controller does not tell its time: ${(error as Error).message}`;
    return warning(text, `${seeAccess} Or ${byHand}.`);
  }
}

async function controllerTimeMs(broker: Broker): Promise<number> {
  const { errorCode, controllerTimeMs } = await exchange(broker, quorumRequest);
  if (errorCode === accessDenied) throw new Error('permission Describe on the cluster is missing');
  if (controllerTimeMs === undefined) throw new Error(`error ${errorCode}`);
  return controllerTimeMs;
}

async function* checkTopics(admin: Admin, options: KafkaOptions): AsyncGenerator<Finding> {
  try {
    const { missing, faults, risks } = await inspectTopics(admin, options);
    const wanted = Object.keys(topics).length;
    if (missing.length > 0) yield* checkCreation(admin, options, missing);
    else if (faults.length === 0) yield ok(`${wanted} topics exist, with the expected partitions`);
    for (const fault of faults)
      yield failure(fault, 'Correct the topic, or the settings locations.partitions and kafka.prefix.');
    for (const risk of risks) yield warning(risk, 'Change the setting of the topic with kafka-configs.sh.');
  } catch (error) {
    yield failure(`the topics can't be inspected: ${(error as Error).message}`, `Grant DescribeConfigs. ${seeAccess}`);
  }
}

async function* checkCreation(
  admin: Admin,
  options: KafkaOptions,
  missing: readonly string[],
): AsyncGenerator<Finding> {
  try {
    await rehearseCreation(admin, options);
    yield ok(`${missing.length} topics are missing; the first start creates them`);
  } catch (error) {
    const remedy = `Grant Create, lower kafka.replicationFactor, or create the topics. ${seeAccess}`;
    yield failure((error as Error).message, remedy);
  }
}

async function* checkPermissions(kafka: Kafka, admin: Admin, options: KafkaOptions): AsyncGenerator<Finding> {
  const group = groupNameOf(options, 'doctor', topics.locations);
  // Its connection requests a producer id, which requires the permission to write.
  const producer = kafka.producer({ idempotent: true, retry: { retries: 1 } });
  const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
    Write: () => producer.connect(),
    'Read of groups': () => admin.fetchOffsets({ groupId: group }),
  };
  const denied: Finding[] = [];
  for (const [permission, attempt] of Object.entries(attempts)) {
    try {
      await retried(attempt, { limitMs: startingLimitMs, isFinal: (error) => !isStarting(error) });
    } catch (error) {
      denied.push(failure(`permission ${permission} is missing: ${(error as Error).message}`, seeAccess));
    }
  }
  await producer.disconnect();
  if (denied.length > 0) yield* denied;
  else yield ok('this user may write records and read groups');
}

/** Returns whether the error, or the one that caused it, may be of a broker that is starting. */
function isStarting(error: unknown): boolean {
  const { name, type, cause } = Object(error) as { name?: string; type?: string; cause?: unknown };
  return name === noCoordinator || startingErrors.includes(type ?? '') || (cause !== undefined && isStarting(cause));
}
