/** Tests what `fenceline doctor` reports about the services of a cluster, and that it does not change them. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectKafka } from '../../backends/cluster/kafka/connection/connection.js';
import { topics } from '../../pipeline/ports.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import { loadConfiguration } from '../../server/config/load.js';
import { diagnose } from '../../server/doctor/doctor.js';
import { silentKafka, withKafka, withRedis } from '../../testing/services/clients.js';
import { startKafka } from '../../testing/services/kafka.js';
import { services } from '../../testing/services/services.js';
import { newTestCluster } from '../support/cluster.js';

const { kafka, redis } = services()!;
const { environment, name } = newTestCluster()!;
const user = `doctor-${randomBytes(6).toString('hex')}`;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-doctor-'));
  await withRedis(redis, (client) => client.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', '-set'));
});
afterAll(async () => {
  await withRedis(redis, (client) => client.call('ACL', 'DELUSER', user));
  rmSync(folder, { recursive: true });
});

function configured(changed: Readonly<Record<string, string>>) {
  const loaded = loadConfiguration({
    flags: {},
    environment: { ...environment, FENCELINE_PORT: '0', FENCELINE_DATA: folder, ...changed },
  });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  return loaded.configuration;
}

/** Longer than kafkajs itself asks again. */
const kafkajsGaveUpMs = 6_000;

/** Returns the findings about the services, as `level subject: text`. */
async function said(changed: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const { level, subject, text } of diagnose(configured(changed)))
    if (/Kafka|Redis|registry|ClickHouse|clock/.test(subject)) lines.push(`${level} ${subject}: ${text}`);
  return lines;
}
const bad = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('ok '));

async function topicNames(): Promise<string[]> {
  const admin = silentKafka({ brokers: [...kafka.brokers] }).admin();
  await admin.connect();
  try {
    return (await admin.listTopics()).filter((topic) => topic.startsWith(name));
  } finally {
    await admin.disconnect();
  }
}

describe('the services of a new cluster', () => {
  it('are fine, and stay without topics, keys and database', async () => {
    const lines = await said();
    expect(bad(lines).filter((line) => !line.includes('appendonly'))).toEqual([]);
    const wanted = Object.keys(topics).length;
    expect(lines).toContain(`ok Kafka: ${wanted} topics are missing; the first start creates them`);
    expect(lines).toContain(`ok ClickHouse: database ${name} does not exist yet; the first start creates it`);
    expect(lines.filter((line) => line.startsWith('ok clock: '))).toEqual(
      ["Kafka's active controller", 'Redis', 'ClickHouse'].map((service) => expect.stringContaining(service)),
    );
    expect(await topicNames()).toEqual([]);
    expect(await withRedis(redis, (client) => client.keys(`${name}:*`))).toEqual([]);
  });

  it('are refused by the right name when an address, a login or a permission is wrong', async () => {
    const lines = bad(
      await said({
        FENCELINE_REDIS_USERNAME: user,
        FENCELINE_REDIS_PASSWORD: 'secret',
        FENCELINE_CLICKHOUSE_PASSWORD: 'not the password',
        FENCELINE_REGISTRY_URL: `${environment.FENCELINE_REGISTRY_URL}/nowhere`,
        FENCELINE_KAFKA_REPLICATION_FACTOR: '99',
      }),
    );
    expect(lines).toEqual([
      expect.stringMatching(/^failure Kafka: topics can't be created: replication-factor is invalid/i),
      expect.stringMatching(/^failure registry: .* answered /),
      ...(lines.some((line) => line.includes('appendonly')) ? [expect.stringContaining('appendonly')] : []),
      expect.stringMatching(/^failure Redis: permissions are missing: set: /),
      expect.stringMatching(/^failure ClickHouse: .*(authentication|password)/i),
    ]);
  });

  it('are compared with the settings once the topics exist', async () => {
    const { kafka: options } = clusterOptionsOrRefuse(configured({}));
    const connection = await connectKafka(options, () => {});
    try {
      expect(await said()).toContain(
        `ok Kafka: ${Object.keys(topics).length} topics exist, with the expected partitions`,
      );
      const [fault = ''] = bad(await said({ FENCELINE_LOCATIONS_PARTITIONS: `${options.partitions + 1}` }));
      expect(fault).toMatch(/failure Kafka: topic .* partitions, not /);
    } finally {
      await connection.admin.deleteTopics({
        topics: Object.values(topics).map((topic) => connection.topicName(topic)),
      });
      await connection.close();
    }
  });
});

// A rehearsal of a restore failed on a busy machine, whose broker had just been restarted.
it('a broker that is still loading its groups lacks no permission', async () => {
  const starting = await startKafka();
  onTestFinished(() => starting.stop());
  const [broker] = starting.nodes;
  if (broker?.folder === undefined) return expect.fail('run the tests with .ci/services');
  // One broker can't create the topic of the groups with three replicas. The test creates it later.
  await appendFile(join(broker.folder, 'server.properties'), 'offsets.topic.replication.factor=3\n');
  await broker.restart();

  const saying = said({ FENCELINE_KAFKA_BROKERS: starting.brokers.join() });
  await withKafka({ brokers: [...starting.brokers] }, async (admin) => {
    await Promise.race([saying, delay(kafkajsGaveUpMs)]);
    await admin.createTopics({
      topics: [
        {
          topic: '__consumer_offsets',
          numPartitions: 4,
          replicationFactor: 1,
          configEntries: [{ name: 'cleanup.policy', value: 'compact' }],
        },
      ],
    });
  });
  expect(bad(await saying).filter((line) => line.includes('Kafka'))).toEqual([]);
});
