/** Checks Kafka: brokers, those that they name to clients, topics and permissions. Writes nothing. */
import type { Admin, Kafka } from 'kafkajs';
import { createKafka, groupNameOf } from '../../backends/cluster/kafka/connection/client.js';
import { inspectTopics, rehearseCreation } from '../../backends/cluster/kafka/connection/topics.js';
import type { KafkaOptions } from '../../backends/cluster/options.js';
import { retried } from '../../backends/cluster/retrying.js';
import { topics } from '../../pipeline/ports.js';
import { type Finding, findingsAbout } from './finding.js';
import { outOfReach, reach, reachAll } from './reach.js';

const { ok, warning, failure } = findingsAbout('Kafka');

/** A new or restarted cluster answers so for a moment; kafkajs does not ask again by itself. */
const coordinatorErrors = ['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP'];
const coordinatorLimitMs = 10_000;

const seeAccess = 'See "Permissions" in docs/cluster.md for the commands that grant them.';

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
    yield* checkAdvertised(admin);
    yield* checkTopics(admin, options);
    yield* checkPermissions(kafka, admin, options);
  } finally {
    await admin.disconnect();
  }
}

/** Clients connect to the addresses that brokers name, not to the configured ones. */
async function* checkAdvertised(admin: Admin): AsyncGenerator<Finding> {
  const { brokers } = await admin.describeCluster();
  const away = outOfReach(await Promise.all(brokers.map(({ host, port }) => reach(host, port))));
  if (away === '') yield ok(`${brokers.length} brokers answer at the addresses that they advertise`);
  else
    yield failure(
      `brokers advertise addresses that this machine can't reach: ${away}`,
      'Set advertised.listeners of these brokers to addresses that all nodes can reach.',
    );
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
  const attempts = {
    Write: () => producer.connect(),
    'Read of groups': () =>
      retried(() => admin.fetchOffsets({ groupId: group }), {
        limitMs: coordinatorLimitMs,
        isFinal: (error) => !coordinatorErrors.includes(String((error as { type?: unknown }).type)),
      }),
  };
  const denied: Finding[] = [];
  for (const [permission, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
    } catch (error) {
      denied.push(failure(`permission ${permission} is missing: ${(error as Error).message}`, seeAccess));
    }
  }
  await producer.disconnect();
  if (denied.length > 0) yield* denied;
  else yield ok('this user may write records and read groups');
}
