/**
 * Records of another client that no codec can read. A few become dead letters and delay nothing. A stream of them halts
 * its partition with a log line, and the other partitions continue normally.
 */
import { expect, it, onTestFinished } from 'vitest';
import { partitionOfKey } from '../../../backends/cluster/kafka/produce/partitioner.js';
import { type Topic, topics } from '../../../pipeline/ports.js';
import type { DeadLetterReason } from '../../../pipeline/records/decode.js';
import { silentKafka } from '../../../testing/services/clients.js';
import { until } from '../../../testing/until.js';
import { deadLetterLine } from '../../ledger/ledger.js';
import { brokenByItself, everyLocationOnce } from '../../ledger/verdict.js';
import { buildWorkload } from '../../ledger/workload.js';
import { Client, ok } from '../../support/client.js';
import type { TestCluster } from '../../support/cluster.js';
import type { ClusterNodes, NodePlan } from '../../support/cluster-nodes.js';
import { oneNode, type Running, run } from './run.js';

const timeout = 600_000;
const endMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;

/** Returns a foreign client, which knows nothing of our schemas. */
async function stranger({ environment, name }: TestCluster) {
  const brokers = environment.FENCELINE_KAFKA_BROKERS!.split(',');
  const producer = silentKafka({ brokers }).producer();
  await producer.connect();
  onTestFinished(() => producer.disconnect());
  return {
    /** Writes the records, and returns the offset of the first. */
    async write(
      topic: Topic,
      partition: number,
      records: readonly { key: string; value: Buffer | null }[],
    ): Promise<number> {
      const messages = records.map((record) => ({ ...record, partition }));
      const [written] = await producer.send({ topic: `${name}.${topic}`, messages });
      return Number(written!.baseOffset);
    },
    /** Returns the registry's id of the topic's newest schema. */
    async schemaId(topic: Topic): Promise<number> {
      const answer = await fetch(
        `${environment.FENCELINE_REGISTRY_URL}/subjects/${name}.${topic}-value/versions/latest`,
      );
      return ((await answer.json()) as { id: number }).id;
    },
  };
}

async function projectOf(nodes: ClusterNodes, { adminApiKey }: TestCluster): Promise<string> {
  const { projects } = ok(await new Client(() => nodes.address(), adminApiKey).get('/v1/projects'));
  return projects[0]._id;
}

function frame(schemaId: number, body: string): Buffer {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.writeUInt32BE(schemaId, 1);
  bytes.write(body, 5);
  return bytes;
}

it('dead-letters unreadable records and processes all others', { timeout }, async () => {
  const workload = buildWorkload(2, { devices: 40, locationsPerDevice: 50 }, endMs);
  const expected: string[] = [];

  async function disturb({ cluster, nodes, reached }: Running): Promise<void> {
    const { write, schemaId } = await stranger(cluster);
    const project = await projectOf(nodes, cluster);
    const poison = async (topic: Topic, readers: number) => {
      const id = await schemaId(topic);
      const bad: [Buffer | null, DeadLetterReason][] = [
        [Buffer.from('nothing that anybody knows'), 'undecodable'],
        [Buffer.from([1, ...frame(id, 'another magic byte').subarray(1)]), 'undecodable'],
        [frame(2_000_000_000, 'a schema that the registry has not'), 'undecodable'],
        [frame(id, 'cut'), 'undecodable'],
        [Buffer.alloc(0), 'undecodable'],
        [null, 'empty_record'],
      ];
      for (const [index, [value, reason]] of bad.entries()) {
        const [key, partition] = [`${project}/test/poison-${index}`, index % 4];
        const offset = await write(topic, partition, [{ key, value }]);
        const line = deadLetterLine({ topic, partition, offset, key: Buffer.from(key), value, reason });
        expected.push(...Array.from({ length: readers }, () => line));
      }
    };
    await reached(0.2);
    await poison(topics.locations, 1);
    // The webhook and analytics stages read this topic.
    await poison(topics.events, 2);
  }

  const poisoned = await run({ workload, nodes: oneNode, overMs: 5_000, disturb });
  expect(brokenByItself(poisoned, { repeatsInLog: true, deadLetters: expected })).toEqual([]);
  expect(poisoned.ledger.locations).toEqual(everyLocationOnce(workload).sort());
});

const pipelines: NodePlan[] = [
  { name: 'front', roles: ['ingest', 'api', 'webhooks', 'analytics'] },
  { name: 'pipeline-1', roles: ['pipeline'] },
  { name: 'pipeline-2', roles: ['pipeline'] },
];

/** Returns the devices that came home at the end. */
async function atHome(nodes: ClusterNodes): Promise<string[]> {
  const { users } = ok(await nodes.as('test_secret').get('/v1/geofences/kill/home/users?limit=1000'));
  return users.map(({ deviceId }: { deviceId: string }) => deviceId).sort();
}

it('halts a partition with only unreadable records, logs it, and processes the others', { timeout }, async () => {
  const workload = buildWorkload(3, { devices: 40, locationsPerDevice: 50 }, endMs);
  const [partition, partitions] = [2, 4];
  const deadLetters: string[] = [];
  const shareBefore = 0.6;
  // As many as all locations before: on a slow machine the partition has read them when these are written.
  const count = shareBefore * workload.devices.flat().length;
  const poison = Array.from({ length: count }, () => ({ key: 'poison', value: Buffer.from('poison') }));

  async function disturb({ cluster, nodes, reached, upTo }: Running): Promise<void> {
    upTo(shareBefore);
    const project = await projectOf(nodes, cluster);
    const devices = workload.devices.map(([first]) => first!.deviceId);
    const others = devices
      .filter((device) => partitionOfKey(`${project}/test/${device}`, partitions) !== partition)
      .sort();
    await reached(0.3);
    const offset = await (await stranger(cluster)).write(topics.locations, partition, poison);
    await until(() => /"halted"/.test(nodes.log()));
    // No device of the halted partition is at home yet.
    upTo(1);
    await reached(1);
    await until(async () => (await atHome(nodes)).length >= others.length);
    expect(await atHome(nodes)).toEqual(others);
    expect(await nodes.metric('fenceline_partitions_halted_total')).toBe(1);
    for (const [index, { key, value }] of poison.entries()) {
      const letter = { topic: topics.locations, partition, offset: offset + index, key: Buffer.from(key), value };
      deadLetters.push(deadLetterLine({ ...letter, reason: 'undecodable' }));
    }
    // Acts like an operator who has decided that the record cannot be repaired.
    for (const name of ['pipeline-1', 'pipeline-2'])
      await nodes.node(name).restart({ FENCELINE_DEAD_LETTERS_MAX_PERCENT: '100' });
  }

  const poisoned = await run({ workload, nodes: pipelines, overMs: 5_000, disturb });
  console.log(`a poison stream: at longest ${poisoned.longestPauseMs} ms without a location applied`);
  expect(brokenByItself(poisoned, { repeatsInLog: true, deadLetters })).toEqual([]);
  expect(poisoned.ledger.locations).toEqual(everyLocationOnce(workload).sort());
});
