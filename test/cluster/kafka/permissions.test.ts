/** The permissions in docs/cluster.md are enough for Fenceline, and give no access to the topics of others. */
import { readFileSync } from 'node:fs';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog } from '../../../backends/cluster/kafka/log.js';
import type { KafkaOptions } from '../../../backends/cluster/options.js';
import type { Finding } from '../../../server/doctor/finding.js';
import { checkKafka } from '../../../server/doctor/kafka.js';
import { withKafka } from '../../../testing/services/clients.js';
import { type KafkaServer, startKafka } from '../../../testing/services/kafka.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, sameOnTheWire } from './fresh-kafka.js';
import { useLog } from './use-log.js';

const guide = readFileSync(new URL('../../../docs/cluster.md', import.meta.url), 'utf8').replaceAll(/ \\\n */g, ' ');
const grantPattern =
  /^kafka-acls\.sh --add --allow-principal User:fenceline --(topic|group|cluster)(?: (\S+) --resource-pattern-type prefixed)? (.+)$/gm;
const mechanism = 'scram-sha-256';
const [username, password] = ['fenceline', 'ours'];
const stranger = { username: 'stranger', password: 'theirs' };
let kafka: KafkaServer;
let options: KafkaOptions;

const clusterResource = {
  resourceType: AclResourceTypes.CLUSTER,
  resourceName: 'kafka-cluster',
  resourcePatternType: ResourcePatternTypes.LITERAL,
};

/** Returns the guide's grants for a separate prefix. */
function grantsFor(prefix: string, principal: string) {
  const prefixed = (type: 'TOPIC' | 'GROUP', name: string) => ({
    resourceType: AclResourceTypes[type],
    resourceName: name.replace('fenceline.', prefix),
    resourcePatternType: ResourcePatternTypes.PREFIXED,
  });
  return Array.from(guide.matchAll(grantPattern), ([, kind, name = '', operations = '']) =>
    Array.from(operations.matchAll(/--operation (\w+)/g), ([, operation = '']) => ({
      ...(kind === 'cluster' ? clusterResource : prefixed(kind === 'topic' ? 'TOPIC' : 'GROUP', name)),
      principal,
      host: '*',
      operation: operationOf(operation),
      permissionType: AclPermissionTypes.ALLOW,
    })),
  ).flat();
}

/** Returns kafkajs's value for an operation: it writes DescribeConfigs as DESCRIBE_CONFIGS. */
const operationOf = (name: string): AclOperationTypes =>
  AclOperationTypes[name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() as keyof typeof AclOperationTypes];

const anyGrant = {
  resourceType: AclResourceTypes.ANY,
  resourcePatternType: ResourcePatternTypes.ANY,
  operation: AclOperationTypes.ANY,
  permissionType: AclPermissionTypes.ANY,
};

beforeAll(async () => {
  kafka = await startKafka({
    sasl: { mechanism, users: { [username]: password, [stranger.username]: stranger.password } },
    isGuarded: true,
  });
  options = { ...freshKafkaOptions(), brokers: kafka.brokers, sasl: { mechanism, username, password } };
  await withKafka({ brokers: [...kafka.internal] }, async (admin) => {
    await admin.createTopics({ topics: [{ topic: 'somebody-else' }] });
    const grants = grantsFor(options.prefix, `User:${username}`);
    await admin.createAcls({ acl: grants });
    // A broker applies grants a moment after the controller has stored them.
    await until(async () => {
      const { resources } = await admin.describeAcls(anyGrant);
      return resources.flatMap(({ acls }) => acls).length >= grants.length;
    });
  });
});
afterAll(() => kafka?.stop());

test('the user in the guide has all permissions that Fenceline needs', async () => {
  const connection = await connectKafka(options, () => {});
  const log = createKafkaLog({ ...options, connection, wire: sameOnTheWire, onProblem: () => {} });
  const subscriptions = await useLog(log);
  const reported = async () => {
    const [topic] = await connection.admin.fetchOffsets({
      groupId: connection.groupName('test', 'events'),
      topics: [connection.topicName('events')],
    });
    return topic!.partitions.some(({ offset }) => offset === '1');
  };
  await until(reported);
  await Promise.all(subscriptions.map((subscription) => subscription.close()));
  // Now that the topics exist, a second node starts as the first did.
  const second = await connectKafka({ ...options, clientId: 'second' }, () => {});
  await second.close();
  await log.close();
  await connection.close();
});

/** Returns Kafka's error; for several requests, the first one. */
const refusalOf = (asking: Promise<unknown>): Promise<string | undefined> =>
  asking.then(
    () => 'allowed',
    ({ type, errors, cause, message }) => type ?? errors?.[0]?.type ?? cause?.type ?? message,
  );

test("the user can't access topics and groups of others", () =>
  withKafka({ brokers: [...kafka.brokers], sasl: { mechanism, username, password } }, async (admin, client) => {
    const producer = client.producer();
    await producer.connect();
    const asked = [
      admin.createTopics({ topics: [{ topic: 'another' }] }),
      admin.fetchTopicOffsets('somebody-else'),
      admin.deleteTopics({ topics: [`${options.prefix}events`] }),
      producer.send({ topic: 'somebody-else', messages: [{ value: 'x' }] }),
    ];
    expect(await Promise.all(asked.map(refusalOf))).toEqual(Array(4).fill('TOPIC_AUTHORIZATION_FAILED'));
    // The user does not even learn which broker coordinates the group.
    expect(await refusalOf(admin.fetchOffsets({ groupId: 'somebody-else' }))).toBe('Failed to find group coordinator');
    expect(await refusalOf(admin.fetchOffsets({ groupId: `${options.prefix}test` }))).toBe('allowed');
    await producer.disconnect();
  }));

test('without the permissions a start fails and names the topic', async () => {
  const sasl = { mechanism, ...stranger } as const;
  const { prefix } = options;
  await expect(connectKafka({ ...options, sasl }, () => {})).rejects.toThrow(
    new RegExp(`^topics can't be created: Not authorized.* \\(${prefix}attempts, `),
  );
});

async function foundBy(user: KafkaOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const finding of checkKafka(user)) findings.push(finding);
  return findings;
}

const textsOf = (findings: readonly Finding[], level: Finding['level']): string[] =>
  findings.filter((finding) => finding.level === level).map(({ text }) => text);

test('doctor finds the permissions of the user in the guide sufficient, and names what others lack', async () => {
  expect(textsOf(await foundBy(options), 'failure')).toEqual([]);
  const unprivileged = await foundBy({ ...options, sasl: { mechanism, ...stranger } });
  expect(textsOf(unprivileged, 'failure')).toEqual([
    expect.stringMatching(/^topics can't be created: Not authorized/),
    expect.stringMatching(/^permission Write is missing: /),
    expect.stringMatching(/^permission Read of groups is missing: /),
  ]);
  expect(textsOf(unprivileged, 'warning')).toEqual([
    "Kafka's active controller does not tell its time: permission Describe on the cluster is missing",
  ]);
  const locked = await foundBy({ ...options, sasl: { mechanism, username, password: 'wrong' } });
  expect(textsOf(locked, 'failure')[0]).toMatch(/^the brokers refuse the connection: /);
});

test("doctor reports the brokers' version, and compares the clock of the active controller", async () => {
  const [, release] = /(\d+\.\d+)\.\d+$/.exec(kafka.version)!;
  expect(textsOf(await foundBy(options), 'ok')).toEqual(
    expect.arrayContaining([
      `version ${release}, from the metadata.version that brokers support`,
      expect.stringMatching(/^Kafka's active controller is \d+ ms (ahead|behind), give or take \d+ ms$/),
    ]),
  );
});
