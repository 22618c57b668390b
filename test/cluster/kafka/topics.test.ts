import { randomBytes } from 'node:crypto';
import { ConfigResourceTypes, type ITopicConfig } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectKafka, type KafkaConnection } from '../../../backends/cluster/kafka/connection/connection.js';
import { topics } from '../../../pipeline/ports.js';
import { until } from '../../../testing/until.js';
import { freshKafkaOptions, removeTopics } from './fresh-kafka.js';

const open: KafkaConnection[] = [];
let options = freshKafkaOptions();

const connect = async (changed: Partial<typeof options> = {}): Promise<KafkaConnection> => {
  const connection = await connectKafka({ ...options, ...changed }, () => {});
  open.push(connection);
  return connection;
};

/** Creates the topic with the brokers' own settings, before Fenceline does. */
async function makeTopic(config: ITopicConfig): Promise<void> {
  const { admin } = await connect({ prefix: `other-${randomBytes(6).toString('hex')}.` });
  await admin.createTopics({ topics: [config], waitForLeaders: false });
  await until(async () => (await admin.listTopics()).includes(config.topic));
}

async function settingsOf({ admin }: KafkaConnection, name: string): Promise<Record<string, string>> {
  const { resources } = await admin.describeConfigs({
    resources: [{ type: ConfigResourceTypes.TOPIC, name }],
    includeSynonyms: false,
  });
  return Object.fromEntries(
    resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]),
  );
}

beforeEach(() => {
  options = freshKafkaOptions();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(removeTopics));
});

describe('topics that are less durable than the configuration requires', () => {
  test('are reported at the start with their settings', async () => {
    const weak = { 'unclean.leader.election.enable': 'true', 'message.timestamp.type': 'LogAppendTime' };
    const configEntries = Object.entries(weak).map(([name, value]) => ({ name, value }));
    const name = `${options.prefix}locations`;
    await makeTopic({ topic: name, numPartitions: options.partitions, replicationFactor: 1, configEntries });
    const problems: string[] = [];
    // A broker may not host the other new topics immediately, which is reported and retried.
    const onProblem = (problem: string) => void (problem.startsWith('topic ') && problems.push(problem));
    const asked = { ...options, replicationFactor: 1, minInSyncReplicas: 1 };
    open.push(await connectKafka(asked, onProblem));
    expect(problems).toEqual([expect.stringContaining(`topic ${name} has unclean.leader.election.enable true`)]);
    problems.length = 0;
    open.push(await connectKafka({ ...asked, replicationFactor: 3, minInSyncReplicas: 2 }, onProblem));
    expect(problems).toContainEqual(expect.stringContaining(`topic ${name} has 1 replicas, not 3`));
    expect(problems).toContainEqual(expect.stringContaining(`topic ${name} has min.insync.replicas 1, not 2`));
  });
});

describe('topics', () => {
  test('are created with their partitions and settings, by any number of nodes at once', async () => {
    const retentionMs = { locations: 3_600_000, changes: 7_200_000 };
    const [connection] = await Promise.all([
      connect({ retentionMs }),
      connect({ retentionMs }),
      connect({ retentionMs }),
    ]);
    const { topics: found } = await connection.admin.fetchTopicMetadata({
      topics: Object.values(topics).map((topic) => connection.topicName(topic)),
    });
    for (const { name, partitions } of found)
      expect(partitions.length).toBe(name.endsWith('.changes') ? 1 : options.partitions);
    expect(await settingsOf(connection, `${options.prefix}locations`)).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.ms': '3600000',
      // Kafka forgets whole segments: with those of a week, records stayed for a week longer.
      'segment.ms': '86400000',
      'min.insync.replicas': '1',
      'message.timestamp.type': 'LogAppendTime',
      'max.message.bytes': `${4 * 2 ** 20}`,
      'compression.type': 'uncompressed',
    });
    expect(await settingsOf(connection, `${options.prefix}changes`)).toMatchObject({
      'cleanup.policy': 'compact',
      'delete.retention.ms': '7200000',
      'min.compaction.lag.ms': '86400000',
      'retention.ms': '604800000',
    });
    expect(await settingsOf(connection, `${options.prefix}attempts`)).toMatchObject({ 'retention.ms': '604800000' });
    expect(await settingsOf(connection, `${options.prefix}dead-letters`)).toMatchObject({
      'retention.ms': '2592000000',
      'max.message.bytes': `${5 * 2 ** 20}`,
    });
  });

  test('that exist are not altered', async () => {
    const topic = `${options.prefix}events`;
    const configEntries = [{ name: 'retention.ms', value: '123456789' }];
    await makeTopic({ topic, numPartitions: options.partitions, configEntries });
    const connection = await connect({ retentionMs: { events: 1_000 } });
    expect(await settingsOf(connection, topic)).toMatchObject({
      'retention.ms': '123456789',
      'message.timestamp.type': 'CreateTime',
    });
  });

  test('topic changes is reported when its compaction may begin too early', async () => {
    const problems: string[] = [];
    const tooEarly = () => problems.filter((problem) => problem.includes('min.compaction.lag.ms'));
    const topic = `${options.prefix}changes`;
    await makeTopic({ topic, numPartitions: 1, configEntries: [{ name: 'cleanup.policy', value: 'compact' }] });
    open.push(await connectKafka(options, (problem) => problems.push(problem)));
    expect(tooEarly()).toEqual([expect.stringContaining(`${topic} has min.compaction.lag.ms 0: a rejected edit`)]);
    const fresh = freshKafkaOptions();
    for (const _start of ['first', 'second']) open.push(await connectKafka(fresh, (problem) => problems.push(problem)));
    expect(tooEarly()).toHaveLength(1);
  });

  test.each([
    ['events', { numPartitions: 3 }, 'events has 3 partitions, not 4'],
    [
      'changes',
      { numPartitions: 4, configEntries: [{ name: 'cleanup.policy', value: 'compact' }] },
      'changes has 4 partitions, not 1',
    ],
    ['changes', { numPartitions: 1 }, 'changes has cleanup.policy delete: it must be compact'],
  ])('%s with other settings is refused by name', async (topic, config, message) => {
    await makeTopic({ topic: options.prefix + topic, ...config });
    await expect(connect()).rejects.toThrow(message);
  });
});
