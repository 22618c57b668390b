/**
 * Rules of the embedded log beyond the contract: bounds, retention, tombstones, and the fixed number of partitions of a
 * folder.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NewRecord, Topic } from '../../pipeline/ports.js';
import { dayMs } from '../../schemas/durations.js';
import { until } from '../../testing/until.js';
import { type Embedded, type EmbeddedOptions, openEmbedded } from './embedded.js';
import { openEnvironment } from './environment.js';
import { numberValue } from './keys.js';

let path = '';
let embedded: Embedded;

const open = (options: Partial<EmbeddedOptions> = {}): Embedded => openEmbedded({ path, partitions: 2, ...options });
const record = (key: string, value: string | null): NewRecord => ({
  key,
  value: value === null ? null : Buffer.from(value),
});

/** Returns keys and values of all records of the topic, by partition and offset. */
async function contents(topic: Topic): Promise<(string | undefined)[][]> {
  const { log } = embedded;
  const partitions = Array.from({ length: log.partitions(topic) }, (_, partition) =>
    log.read(topic, partition, 0, 1_000_000),
  );
  return (await Promise.all(partitions))
    .flatMap(({ records }) => records)
    .map(({ key, value }) => [key, value?.toString()]);
}

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'fenceline-log-'));
  embedded = open();
});
afterEach(async () => {
  await embedded.close();
  await rm(path, { recursive: true });
});

describe('embedded log', () => {
  test('appends beyond the limit in flight reject as overloaded, and later ones succeed', async () => {
    await embedded.close();
    embedded = open({ maxInFlightBytes: 1_000 });
    const { log } = embedded;
    const first = log.append('locations', [{ key: 'a', value: Buffer.alloc(900) }]);
    expect(log.inFlightBytes).toBe(901);
    await expect(log.append('locations', [{ key: 'b', value: Buffer.alloc(99) }])).rejects.toMatchObject({
      code: 'overloaded',
    });
    const inTheOtherEnvironment = log.append('events', [{ key: 'c', value: Buffer.alloc(500) }]);
    await Promise.all([first, inTheOtherEnvironment]);
    expect(log.inFlightBytes).toBe(0);
    await log.append('locations', [{ key: 'd', value: Buffer.alloc(5_000) }]);
    expect((await contents('locations')).map(([key]) => key).sort()).toEqual(['a', 'd']);
  });

  test('an append with an invalid record stores nothing', async () => {
    const { log } = embedded;
    await expect(log.append('locations', [record('a', '1'), record('b', null)])).rejects.toThrow('tombstone');
    await expect(log.append('changes', [record('a', '1'), record('k'.repeat(2_000), '1')])).rejects.toThrow('key');
    expect(log.inFlightBytes).toBe(0);
    expect([...(await contents('locations')), ...(await contents('changes'))]).toEqual([]);
  });

  test('after close appends are rejected', async () => {
    await embedded.log.close();
    await expect(embedded.log.append('locations', [record('a', '1')])).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('a folder refuses to be opened with another number of partitions', async () => {
    await embedded.close();
    expect(() => open({ partitions: 3 })).toThrow('2 partitions');
    embedded = open();
  });

  test('a sweep removes expired blocks, and offsets continue', async () => {
    await embedded.close();
    const short = ['locations', 'events', 'dead-letters', 'deliveries', 'attempts', 'rejections'] as const;
    embedded = open({
      retentionMs: { ...Object.fromEntries(short.map((topic) => [topic, 60_000])), outcomes: 3_600_000 },
    });
    const { log } = embedded;
    for (const topic of [...short, 'outcomes'] as const)
      await log.append(topic, [record('a', '1'), record('b', '1'), record('a', '2')]);
    const nowMs = Date.now();
    await log.sweep(nowMs + 30_000);
    for (const topic of short) expect((await contents(topic)).length).toBe(3);
    await log.sweep(nowMs + 120_000);
    for (const topic of short) expect(await contents(topic)).toEqual([]);
    expect((await contents('outcomes')).length).toBe(3);
    const partition = log.partitionOf('locations', 'a');
    const { first, end } = await log.bounds('locations', partition);
    expect(first).toBe(end);
    expect(end).toBeGreaterThan(0);
    await log.append('locations', [record('a', '3')]);
    expect(await log.bounds('locations', partition)).toEqual({ first: end, end: end + 1 });
    const [read] = (await log.read('locations', partition, 0, 10)).records;
    expect(read).toMatchObject({ key: 'a', offset: end });
  });

  // They were skipped in silence: no log, no metric.
  test('a sweep of records that a consumer has not read is reported to it', async () => {
    const { log } = embedded;
    const partition = log.partitionOf('locations', 'a');
    await log.append('locations', [record('a', '0'), record('a', '1'), record('a', '2')]);
    await log.sweep(Date.now() + 1_000 * dayMs);
    await log.append('locations', [record('a', '3')]);
    const seen: unknown[] = [];
    const subscription = log.consume({
      topic: 'locations',
      group: 'late',
      maxBatchRecords: 10,
      maxWaitMs: 0,
      handler: {
        assigned: async (each) => (each === partition ? 1 : 0),
        revoked: async () => {},
        records: async (_, records) => void seen.push(...records.map(({ offset }) => offset)),
        expired: (records) => void seen.push(records),
      },
    });
    await until(() => seen.includes(3));
    await subscription.close();
    expect(seen).toEqual([{ topic: 'locations', partition, from: 1, end: 3 }, 3]);
  });

  test('a sweep of many blocks removes all of them', async () => {
    await embedded.close();
    embedded = open({ retentionMs: { locations: 0 } });
    for (let i = 0; i < 700; i++) await embedded.log.append('locations', [record('a', `${i}`)]);
    await embedded.log.sweep(Date.now() + 1);
    expect(await contents('locations')).toEqual([]);
  });

  // A shorter search for free pages leaves gaps that are never filled: docs/decisions/173.
  test('a file stops growing while as much expires as arrives', async () => {
    await embedded.close();
    const retentionMs = 1_000;
    embedded = open({ retentionMs: { locations: retentionMs, attempts: 3 * retentionMs } });
    const { log } = embedded;
    const value = randomBytes(100_000);
    const clock = vi.spyOn(Date, 'now');
    let nowMs = 1_800_000_000_000;
    const sizes: number[] = [];
    for (let cycle = 0; cycle < 12; cycle++) {
      for (let block = 0; block < 50; block++) {
        nowMs += retentionMs / 50;
        clock.mockReturnValue(nowMs);
        // Large blocks in every second cycle, between small ones of two retentions.
        const bytes = cycle % 2 === 1 && block % 5 === 0 ? value.length : 1_800 + ((block * 997) % 6_000);
        const topic = block % 3 === 0 ? 'attempts' : 'locations';
        await log.append(topic, [{ key: 'a', value: value.subarray(0, bytes) }]);
        if (block % 10 === 0) await log.sweep(nowMs);
      }
      await log.read('locations', 0, 0, 1);
      sizes.push((await stat(join(path, 'log', 'data.mdb'))).size);
    }
    clock.mockRestore();
    const [settled = 0, last = 0] = [sizes[7], sizes.at(-1)];
    expect(last).toBeLessThan(settled * 1.1);
  });

  // A sweep read every expired block whole, up to 256 KiB each, and blocked the thread for 100 ms.
  test('a sweep finds the first block that is not expired, wherever it is', async () => {
    const retentionMs = 60_000;
    const writtenMs = Date.now();
    for (const blocks of [1, 2, 3, 8, 13]) {
      await embedded.close();
      await rm(path, { recursive: true });
      embedded = open({ partitions: 1, retentionMs: { locations: retentionMs } });
      const clock = vi.spyOn(Date, 'now');
      for (let block = 0; block < blocks; block++) {
        clock.mockReturnValue(writtenMs + block);
        await embedded.log.append('locations', [record('a', '1')]);
      }
      clock.mockRestore();
      for (let expired = 0; expired <= blocks; expired++) {
        await embedded.log.sweep(writtenMs + retentionMs + expired - 1);
        expect(await embedded.log.bounds('locations', 0)).toEqual({ first: expired, end: blocks });
      }
    }
  });

  test('changes keep a replaced record for the compaction lag, through a reopen, then one entry per key', async () => {
    const { log } = embedded;
    await log.append('changes', [record('a', '1'), record('b', '1')]);
    await log.append('changes', [record('a', '2'), record('b', null)]);
    await log.append('changes', [record('b', '3')]);
    const all = [
      ['a', '1'],
      ['b', '1'],
      ['a', '2'],
      ['b', undefined],
      ['b', '3'],
    ];
    await log.sweep(Date.now() + 30 * 60_000);
    expect(await contents('changes')).toEqual(all);
    await embedded.close();
    embedded = open();
    expect(await contents('changes')).toEqual(all);
    await embedded.log.sweep(Date.now() + 61 * 60_000);
    expect(await contents('changes')).toEqual([all[2], all[4]]);
    expect((await embedded.log.bounds('changes', 0)).end).toBe(5);
  });

  test('changes of an earlier release, which knew the newest entry of each key, are compacted', async () => {
    await embedded.log.append('changes', [record('a', '1'), record('b', '1'), record('a', '2')]);
    await embedded.close();
    const environment = openEnvironment({ path: join(path, 'log'), mapBytes: 2 ** 30, syncBeforeVisible: true });
    const newest = environment.table('topic:changes:newest');
    await environment.transaction(() => {
      newest.putSync(Buffer.from('a'), numberValue(2));
      newest.putSync(Buffer.from('b'), numberValue(1));
    });
    await environment.close();
    embedded = open();
    await embedded.log.sweep(Date.now() + 61 * 60_000);
    expect(await contents('changes')).toEqual([
      ['b', '1'],
      ['a', '2'],
    ]);
  });

  test('no change is lost when an earlier release, which notes newest entries, ran in between', async () => {
    await embedded.log.append('changes', [record('a', '1')]);
    await embedded.log.sweep(Date.now() + 61 * 60_000);
    await embedded.log.append('changes', [record('a', '2'), record('b', '1'), record('b', '2')]);
    await embedded.close();
    const environment = openEnvironment({ path: join(path, 'log'), mapBytes: 2 ** 30, syncBeforeVisible: true });
    const newest = environment.table('topic:changes:newest');
    await environment.transaction(() => {
      newest.putSync(Buffer.from('a'), numberValue(1));
      newest.putSync(Buffer.from('b'), numberValue(3));
    });
    await environment.close();
    embedded = open();
    await embedded.log.sweep(Date.now() + 61 * 60_000);
    expect(Object.fromEntries(await contents('changes'))).toEqual({ a: '2', b: '2' });
  });

  test('headers have a bound', async () => {
    const headers = { a: 'b'.repeat(30_000) };
    await expect(embedded.log.append('locations', [{ ...record('a', '1'), headers }])).rejects.toThrow('headers');
  });

  test('topic changes has one entry per key; expired tombstones are removed', async () => {
    await embedded.close();
    embedded = open({ retentionMs: { changes: 60_000 }, compactionLagMs: 0 });
    const { log } = embedded;
    for (let i = 0; i < 5; i++)
      await log.append('changes', [record('a', `${i}`), record('b', `${i}`), record('c', `${i}`)]);
    await log.append('changes', [record('b', null), record('c', null)]);
    await log.append('changes', [record('c', 'again')]);
    const held = [
      ['a', '4'],
      ['b', undefined],
      ['c', 'again'],
    ];
    await log.sweep(Date.now());
    expect(await contents('changes')).toEqual(held);
    await log.sweep(Date.now() + 120_000);
    expect(await contents('changes')).toEqual([
      ['a', '4'],
      ['c', 'again'],
    ]);
    await log.append('changes', [record('b', 'new')]);
    expect((await contents('changes')).at(-1)).toEqual(['b', 'new']);
    expect((await log.bounds('changes', 0)).end).toBe(19);
  });

  test('a consumer of changes skips compacted offsets', async () => {
    await embedded.close();
    embedded = open({ compactionLagMs: 0 });
    const { log } = embedded;
    await log.append('changes', [record('a', '1'), record('a', '2'), record('b', '1')]);
    await log.sweep(Date.now() + 1);
    const received: string[] = [];
    let wanted = () => {};
    const subscription = log.consume({
      topic: 'changes',
      group: 'test',
      maxBatchRecords: 1,
      maxWaitMs: 0,
      handler: {
        assigned: async () => 0,
        revoked: async () => {},
        records: async (_partition, records) => {
          received.push(...records.map(({ key, value }) => `${key}${value}`));
          if (received.at(-1) === 'a3') wanted();
        },
      },
    });
    const done = new Promise<void>((resolve) => {
      wanted = resolve;
    });
    await log.append('changes', [record('a', '3')]);
    await done;
    await subscription.close();
    expect(received).toEqual(['a2', 'b1', 'a3']);
  });
});
