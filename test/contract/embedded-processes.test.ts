/**
 * The embedded backend across threads and through crashes. By ledgers, every acknowledged record must exist afterwards.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import { type Embedded, openEmbedded } from '../../backends/embedded/embedded.js';
import { openInTurn } from '../../backends/embedded/folder-lock.js';
import { builtFile, startProgram } from '../../testing/built.js';
import { readPartition, readTopic, textOf } from './backend.js';
import type { Work } from './programs/append-worker.js';

let path = '';
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'fenceline-processes-'));
});
afterEach(() => rm(path, { recursive: true }));

const counting = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('threads that have one folder open', () => {
  test('append and commit concurrently, with dense offsets, in order, and a consumer gets all', async () => {
    const partitions = 3;
    const batches = 150;
    const embedded = openEmbedded({ path, partitions });
    const consumed: string[][] = counting(partitions).map(() => []);
    const subscription = embedded.log.consume({
      topic: 'locations',
      group: 'test',
      maxBatchRecords: 64,
      maxWaitMs: 0,
      handler: {
        assigned: async () => 0,
        revoked: async () => {},
        records: async (partition, records) => void consumed[partition]!.push(...records.map((each) => textOf(each)!)),
      },
    });
    const workers = counting(partitions).map((writer) => {
      const work: Work = { path, partitions, writer, batches };
      return new Worker(builtFile('test/contract/programs/append-worker'), { workerData: work });
    });
    await Promise.all(workers.map((worker) => once(worker, 'exit')));

    for (const topic of ['locations', 'events'] as const) {
      const lists = await readTopic(embedded.log, topic);
      expect(lists.flat().length).toBe(partitions * batches * 10);
      for (const list of lists) {
        expect(list.map(({ offset }) => offset)).toEqual(counting(list.length));
        for (const writer of counting(partitions)) {
          const numbers = list.map((each) => textOf(each)!.split(':').map(Number)).filter(([by]) => by === writer);
          expect(numbers).toEqual([...numbers].sort((a, b) => a[1]! - b[1]!));
        }
      }
      if (topic === 'locations')
        await vi.waitFor(() => expect(consumed).toEqual(lists.map((list) => list.map(textOf))), 120_000);
    }
    for (const writer of counting(partitions))
      expect((await embedded.stateStore.claim(writer)).nextOffset).toBe(batches);
    await subscription.close();
    await embedded.close();
  });
});

/**
 * Regression: LMDB lets a process that opens a file set back the number of the latest transaction. Of a commit at the
 * same moment the next writer then knew nothing. It wrote over its pages: acknowledged records were lost, positions
 * were beyond the log, and the file was damaged. Backups, replays and repairs of a running node did so.
 */
describe('a process that opens the folder beside a writer', () => {
  test('opens it while no thread of the writer commits', async () => {
    const { writesIn }: typeof import('../../backends/embedded/held-writes.js') = await import(
      builtFile('backends/embedded/held-writes').href
    );
    const embedded = openEmbedded({ path, partitions: 2 });
    const folders = ['log', 'state', 'deliveries'].map((name) => join(path, name));
    const release = await writesIn(folders, () => {})();
    const settled: string[] = [];
    const written = ['locations', 'events'].map((topic) =>
      embedded.log.append(topic as 'locations' | 'events', [{ key: 'key', value: Buffer.from('value') }]).then(() => {
        settled.push(topic);
      }),
    );
    const claimed = embedded.deliveryQueue.claim({ topic: 'events', partition: 0 }).then(() => settled.push('claim'));
    // Long enough for every write, which takes a millisecond or two.
    expect(await startProgram('test/contract/programs/open-in-turn', [path, '1']).ended).toBe(0);
    expect(settled).toEqual([]);
    release();
    await Promise.all([...written, claimed]);
    await embedded.close();
  });

  test('loses none of its records, and damages no file', async () => {
    const writer = startProgram('test/contract/programs/write-with-lock', [path]);
    await writer.printed(1);
    const readers = [1, 2, 3].map(() => startProgram('test/contract/programs/open-in-turn', [path, '20']));
    for (const reader of readers) expect(await reader.ended).toBe(0);
    writer.child.kill('SIGTERM');
    expect(await writer.ended).toBe(0);
    const acknowledged = Number(writer.lines.at(-1));
    const embedded = openEmbedded({ path, partitions: 1 });
    for (const topic of ['locations', 'events'] as const) {
      const records = await readPartition(embedded.log, topic, 0);
      expect(records.map(textOf)).toEqual(counting(acknowledged).map(String));
    }
    await embedded.close();
  });
});

/** More than a folder's default. */
const compactionLagMs = 2 * 60 * 60 * 1_000;

// Its thread was ended within a transaction, for which LMDB waited. A node was killed after ten seconds, with status
// 137.
test('a process exits at once while its writers are held', async () => {
  const holder = startProgram('test/contract/programs/exit-on-signal', [path]);
  await holder.printed(1);
  const status = await openInTurn(path, () => {
    holder.child.kill('SIGTERM');
    return holder.ended;
  });
  expect(status).toBe(0);
});

describe('after SIGKILL at a random moment', () => {
  /** Returns the highest number in lines with this prefix; -1 without any. */
  const acknowledged = (lines: readonly string[], beginning: string): number =>
    Math.max(
      -1,
      ...lines.filter((line) => line.startsWith(`${beginning} `)).map((line) => Number(line.split(' ').at(-1))),
    );

  async function checkAppends({ log }: Embedded, run: string, lines: readonly string[]): Promise<void> {
    const lists = await readTopic(log, 'locations');
    for (const list of lists) expect(list.map(({ offset }) => offset)).toEqual(counting(list.length));
    for (const writer of counting(3)) {
      const mine = lists
        .flat()
        .map((each) => textOf(each)!.split(':'))
        .filter(([by, name]) => by === run && Number(name) === writer);
      expect(mine.map(([, , n]) => Number(n))).toEqual(counting(mine.length));
      expect(mine.length).toBeGreaterThan(acknowledged(lines, `append ${writer}`));
    }
  }

  async function checkChanges({ log }: Embedded, run: string, lines: readonly string[]): Promise<void> {
    const all = (await readPartition(log, 'changes', 0)).map((each) => textOf(each)!.split(':'));
    const ofRun = all.filter(([by]) => by === run).map(([, n]) => Number(n));
    expect(ofRun).toEqual(counting(ofRun.length));
    await log.sweep(Date.now() + compactionLagMs);
    const records = await readPartition(log, 'changes', 0);
    expect(new Set(records.map(({ key }) => key)).size).toBe(records.length);
    const newest = records
      .map((each) => textOf(each)!.split(':'))
      .filter(([by]) => by === run)
      .map(([, n]) => Number(n));
    const last = newest.at(-1) ?? -1;
    expect(last).toBeGreaterThanOrEqual(acknowledged(lines, 'change'));
    expect(newest).toEqual(counting(last + 1).slice(-10));
  }

  async function checkCommits({ log, stateStore }: Embedded, lines: readonly string[]): Promise<void> {
    const events = (await readTopic(log, 'events')).flat();
    for (const partition of [0, 1]) {
      const { nextOffset } = await stateStore.claim(partition);
      expect(nextOffset).toBeGreaterThanOrEqual(acknowledged(lines, `commit ${partition}`));
      const [position] = await stateStore.load(partition, ['position']);
      expect(Number(position ?? 0)).toBe(nextOffset);
      const expected = counting(nextOffset / 10).flatMap((i) => [0, 1, 2].map((each) => `${(i + 1) * 10}:${each}`));
      expect(events.filter(({ key }) => key === `partition-${partition}`).map(textOf)).toEqual(expected);
    }
  }

  test('acknowledged records are stored, and states, position and events agree', async () => {
    for (let round = 0; round < 12; round++) {
      const program = startProgram('test/contract/programs/write-until-killed', [path, `${round}`]);
      await program.printed(30);
      await delay(Math.random() * 120);
      program.child.kill('SIGKILL');
      expect(await program.ended).toBe('SIGKILL');
      const embedded = openEmbedded({ path, partitions: 2 });
      await checkAppends(embedded, `${round}`, program.lines);
      await checkChanges(embedded, `${round}`, program.lines);
      await checkCommits(embedded, program.lines);
      await embedded.close();
    }
  });

  test('rows that chDB acknowledged are stored', async () => {
    let next = 0;
    for (let round = 0; round < 3; round++) {
      const program = startProgram('test/contract/programs/insert-until-killed', [path, `${next}`]);
      await program.printed(2);
      await delay(Math.random() * 100);
      program.child.kill('SIGKILL');
      await program.ended;
      const analytics = await openChdbAnalytics({ path });
      const [row] = await analytics.query<{ rows: number; last: number }>(
        'SELECT uniqExact(n) AS rows, max(n) AS last FROM numbers',
      );
      expect(row!.last).toBeGreaterThanOrEqual(Number(program.lines.at(-1)));
      expect(row!.rows).toBe(row!.last + 1);
      next = row!.last + 1;
      await analytics.close();
    }
  });
});

/**
 * Regression: a process that had used chDB in a worker thread died of SIGSEGV at exit, although everything was closed.
 * `chdb-stays-loaded.ts` explains why.
 */
describe('a process with chDB in a worker thread', () => {
  test.each(['close', 'exit', 'terminate'])('ends with code 0 on SIGTERM (%s)', async (ending) => {
    const program = startProgram('test/contract/programs/analytics-in-worker', [path, ending]);
    await program.printed(1);
    expect(program.lines).toEqual(['1000 rows']);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
