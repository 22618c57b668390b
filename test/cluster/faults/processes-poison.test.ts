/**
 * Records that no codec can read, written by some other client: a few become dead letters and hold up nothing; a stream of them stops whoever
 * works on its partition, loudly, and the other partitions go on.
 */
import { Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import { type Topic, topics } from '../../../pipeline/ports.js';
import type { DeadLetterReason } from '../../../pipeline/stages/dead-letters.js';
import { deadLetterLine } from '../../ledger/ledger.js';
import { brokenByItself, everyLocationOnce } from '../../ledger/verdict.js';
import { buildWorkload } from '../../ledger/workload.js';
import type { TestCluster } from '../../support/cluster.js';
import { oneNode, type Running, run } from './run.js';

const timeout = 240_000;
const endMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;

/** A client that knows nothing of us. */
async function stranger({ environment, name }: TestCluster) {
  const brokers = environment.FENCELINE_KAFKA_BROKERS!.split(',');
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  onTestFinished(() => producer.disconnect());
  return {
    /** Answers the offset of the first. */
    async write(topic: Topic, partition: number, records: readonly { key: string; value: Buffer | null }[]): Promise<number> {
      const messages = records.map((record) => ({ ...record, partition }));
      const [written] = await producer.send({ topic: `${name}.${topic}`, messages });
      return Number(written!.baseOffset);
    },
    /** The id that the registry has for the topic's newest schema. */
    async schemaId(topic: Topic): Promise<number> {
      const answer = await fetch(`${environment.FENCELINE_REGISTRY_URL}/subjects/${name}.${topic}-value/versions/latest`);
      return ((await answer.json()) as { id: number }).id;
    },
  };
}

function frame(schemaId: number, body: string): Buffer {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.writeUInt32BE(schemaId, 1);
  bytes.write(body, 5);
  return bytes;
}

it('sets aside what nobody can read, and goes on with all else', { timeout }, async () => {
  const workload = buildWorkload(2, { devices: 40, locationsPerDevice: 50 }, endMs);
  const expected: string[] = [];

  async function disturb({ cluster, reached }: Running): Promise<void> {
    const { write, schemaId } = await stranger(cluster);
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
        const [key, partition] = [`poison-${index}`, index % 4];
        const offset = await write(topic, partition, [{ key, value }]);
        const line = deadLetterLine({ topic, partition, offset, key: Buffer.from(key), value, reason });
        expected.push(...Array.from({ length: readers }, () => line));
      }
    };
    await reached(0.2);
    await poison(topics.locations, 1);
    // Webhooks and analytics.
    await poison(topics.events, 2);
  }

  const poisoned = await run({ workload, nodes: oneNode, overMs: 5_000, disturb });
  expect(brokenByItself(poisoned, { repeatsInLog: false, deadLetters: expected })).toEqual([]);
  expect(poisoned.ledger.locations).toEqual(everyLocationOnce(workload).sort());
});
