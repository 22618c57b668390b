/**
 * The embedded delivery queue across threads and through crashes. By ledgers of added and settled deliveries, each must
 * exist once.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Embedded, openEmbedded } from '../../backends/embedded/embedded.js';
import type { DeliverySource, WaitingDelivery } from '../../pipeline/ports.js';
import { builtFile, startProgram } from '../../testing/built.js';
import { until } from '../../testing/until.js';
import { readPartition, textOf } from './backend.js';
import type { QueueWork } from './programs/queue-worker.js';

let path = '';
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'fenceline-queues-'));
});
afterEach(() => rm(path, { recursive: true }));

const counting = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function allWaiting({ deliveryQueue }: Embedded, source: DeliverySource): Promise<WaitingDelivery[]> {
  const webhooks = await deliveryQueue.webhooks(source);
  return (await Promise.all(webhooks.map(({ webhook }) => deliveryQueue.waiting(source, webhook, 1_000_000)))).flat();
}

const textsOf = (waiting: readonly WaitingDelivery[]): string[] => waiting.map(({ value }) => value.toString());

test("threads with the same folder open write queues and see each other's changes", async () => {
  const partitions = 3;
  const batches = 60;
  const webhook = '65f0a1b2c3d4e5f600000001';
  const embedded = openEmbedded({ path, partitions });
  const { deliveryQueue } = embedded;
  const workers = counting(partitions).map((partition) => {
    const work: QueueWork = { path, partitions, partition, webhook, batches };
    return new Worker(builtFile('test/contract/programs/queue-worker'), { workerData: work });
  });
  const exits = Promise.all(workers.map((worker) => once(worker, 'exit')));
  await until(async () => (await deliveryQueue.size()) >= 100);
  await exits;
  expect(await deliveryQueue.size()).toBe(partitions * batches * 5);
  for (const partition of counting(partitions)) {
    const waiting = await allWaiting(embedded, { topic: 'events', partition });
    const odd = counting(batches * 10).filter((i) => i % 2 === 1);
    expect(textsOf(waiting)).toEqual(odd.map((i) => `${partition}:${i}`));
    expect((await deliveryQueue.claim({ topic: 'events', partition })).nextOffset).toBe(batches);
  }
  await embedded.close();
});

describe('after SIGKILL at a random moment', () => {
  /** Everything that the runs have reported about a topic. */
  class Ledger {
    private lines: string[] = [];

    take(lines: readonly string[]): void {
      this.lines.push(...lines);
    }

    /** Returns the values in lines with this prefix. */
    values(verb: 'settling' | 'settled', topic: string): Set<string> {
      return new Set(this.wordsAfter(`${verb} ${topic} `));
    }

    /** Returns the largest acknowledged position. */
    position(topic: string): number {
      return Math.max(0, ...this.wordsAfter(`added ${topic} `).map(Number));
    }

    private wordsAfter(beginning: string): string[] {
      const mine = this.lines.filter((line) => line.startsWith(beginning));
      return mine.flatMap((line) => line.slice(beginning.length).split(' ')).filter((word) => word !== '');
    }
  }

  async function killOnce(round: number): Promise<string[]> {
    const program = startProgram('test/contract/programs/deliver-until-killed', [path, `${round}`]);
    await program.printed(30);
    await delay(Math.random() * 120);
    program.child.kill('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');
    return program.lines;
  }

  /**
   * Checks that every record before the position has one delivery, which waits or was settled, and no other record has.
   */
  async function checkQueue(embedded: Embedded, source: DeliverySource, ledger: Ledger): Promise<void> {
    const { nextOffset } = await embedded.deliveryQueue.claim(source);
    const records = await readPartition(embedded.log, source.topic, source.partition, 1_000);
    expect(nextOffset).toBeLessThanOrEqual(records.length);
    const made = records.slice(0, nextOffset).map((each) => textOf(each)!);
    const waiting = textsOf(await allWaiting(embedded, source));
    expect(new Set(waiting).size).toBe(waiting.length);
    const settling = ledger.values('settling', source.topic);
    const known = new Set([...waiting, ...settling]);
    expect(made.filter((value) => !known.has(value))).toEqual([]);
    const madeOnce = new Set(made);
    expect(waiting.filter((value) => !madeOnce.has(value))).toEqual([]);
  }

  /** Checks that acknowledged changes are stored. */
  async function checkAcknowledged(embedded: Embedded, source: DeliverySource, ledger: Ledger): Promise<void> {
    const { nextOffset } = await embedded.deliveryQueue.claim(source);
    expect(nextOffset).toBeGreaterThanOrEqual(ledger.position(source.topic));
    const settled = ledger.values('settled', source.topic);
    expect(textsOf(await allWaiting(embedded, source)).filter((value) => settled.has(value))).toEqual([]);
  }

  const sources = (['events', 'deliveries'] as const).map((topic): DeliverySource => ({ topic, partition: 0 }));

  async function check(embedded: Embedded, ledger: Ledger, acknowledged: boolean): Promise<void> {
    let size = 0;
    for (const source of sources) {
      await checkQueue(embedded, source, ledger);
      if (acknowledged) await checkAcknowledged(embedded, source, ledger);
      size += (await allWaiting(embedded, source)).length;
    }
    expect(await embedded.deliveryQueue.size()).toBe(size);
  }

  test('position and deliveries agree, and acknowledged changes are stored', async () => {
    const ledger = new Ledger();
    for (let round = 0; round < 8; round++) {
      ledger.take(await killOnce(round));
      const embedded = openEmbedded({ path, partitions: 1 });
      await check(embedded, ledger, true);
      await embedded.close();
    }
  });

  /** Opens like {@link openEmbedded} after a power cut: with LMDB_RESTORE=safe, LMDB opens its last synced state. */
  async function openAfterPowerCut(): Promise<Embedded> {
    process.env.LMDB_RESTORE = 'safe';
    const embedded = openEmbedded({ path, partitions: 1 });
    delete process.env.LMDB_RESTORE;
    // The first write makes it final. Events of the newest commits may be gone; others take their offsets.
    await embedded.stateStore.claim(0);
    return embedded;
  }

  test('after a power cut position and deliveries agree, and the position is not beyond the topic', async () => {
    const ledger = new Ledger();
    for (let round = 0; round < 8; round++) {
      ledger.take(await killOnce(round));
      const embedded = await openAfterPowerCut();
      await check(embedded, ledger, false);
      await embedded.close();
    }
  });

  test('after a power cut that only the queue survived, no event at the offset of a lost one is skipped', async () => {
    for (let round = 0; round < 6; round++) {
      expect(await startProgram('test/contract/programs/deliver-and-die', [path, `${round}`]).ended).toBe('SIGKILL');
      const embedded = await openAfterPowerCut();
      await check(embedded, new Ledger(), false);
      await embedded.close();
    }
  });
});
