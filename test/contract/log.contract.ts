/** The contract of every Log. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  defaultReadBytes,
  type Log,
  type LogRecord,
  type LogSlice,
  type StreamHandler,
  type Subscription,
  topics,
} from '../../pipeline/ports.js';
import { dueRecords } from '../../pipeline/stages/due-records.js';
import { type BackendSite, onFreshBackend, onFreshSite, readPartition, readTopic, record, textOf } from './backend.js';

const topic = 'locations';

/** The topics that aren't compacted. */
const byTime = Object.values(topics).filter((each) => each !== 'changes');

/** A handler that records its calls, with copies of the values, which are valid during the call only. */
class Ledger implements StreamHandler {
  readonly received = new Map<number, { offset: number; key: string; text: string | null }[]>();
  readonly assignments: number[] = [];
  readonly revocations: number[] = [];
  readonly batchSizes: number[] = [];
  count = 0;

  constructor(private readonly startAt: (partition: number) => number = () => 0) {}

  async assigned(partition: number): Promise<number> {
    this.assignments.push(partition);
    this.received.set(partition, []);
    return this.startAt(partition);
  }
  async records(partition: number, records: readonly LogRecord[]): Promise<void> {
    this.batchSizes.push(records.length);
    for (const each of records)
      this.received.get(partition)?.push({ offset: each.offset, key: each.key, text: textOf(each) });
    this.count += records.length;
  }
  async revoked(partition: number): Promise<void> {
    this.revocations.push(partition);
  }
}

const numbered = (count: number, keys: number, from = 0) =>
  Array.from({ length: count }, (_, i) => record(`key-${(from + i) % keys}`, `${from + i}`));

const until = (condition: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBe(true), { timeout: 120_000, interval: 5 });

/** Defines the tests of the contract for one implementation. Each property runs on `numRuns` new backends. */
export function describeLogContract(name: string, site: () => Promise<BackendSite>, { numRuns = 40 } = {}): void {
  const onLog = (use: (log: Log) => Promise<void>) => () => onFreshBackend(site, ({ log }) => use(log));

  describe(`${name}: log`, () => {
    test(
      'every topic has the same number of partitions, except changes, which has one',
      onLog(async (log) => {
        expect(log.partitions('changes')).toBe(1);
        for (const each of byTime) expect(log.partitions(each)).toBe(log.partitions(topic));
      }),
    );

    test(
      'a record goes to the partition of its key with dense offsets, and keeps its order and time',
      onLog(async (log) => {
        const before = Date.now();
        for (let i = 0; i < 10; i++) await log.append(topic, numbered(50, 13, i * 50));
        const partitions = await readTopic(log, topic);
        for (const [partition, records] of partitions.entries()) {
          expect(records.map(({ offset }) => offset)).toEqual(records.map((_, i) => i));
          expect(await log.bounds(topic, partition)).toEqual({ first: 0, end: records.length });
          for (const each of records) {
            expect(each.partition).toBe(partition);
            expect(log.partitionOf(topic, each.key)).toBe(partition);
            expect(each.timestamp).toBeGreaterThanOrEqual(before);
            expect(each.timestamp).toBeLessThanOrEqual(Date.now());
          }
        }
        for (let key = 0; key < 13; key++) {
          const texts = partitions.flat().filter((each) => each.key === `key-${key}`);
          expect(texts.map((each) => Number(textOf(each)))).toEqual(
            Array.from({ length: 500 }, (_, i) => i).filter((i) => i % 13 === key),
          );
        }
      }),
    );

    test(
      'concurrent appends are all stored, each in its order',
      onLog(async (log) => {
        const appends = Array.from({ length: 200 }, (_, i) =>
          log.append(topic, [record(`k${i % 5}`, `${i}:0`), record(`k${i % 5}`, `${i}:1`)]),
        );
        await Promise.all(appends);
        const texts = (await readTopic(log, topic)).map((records) => records.map(textOf));
        expect(texts.flat().length).toBe(400);
        for (let i = 0; i < 200; i++) {
          const list = texts[log.partitionOf(topic, `k${i % 5}`)]!;
          expect(list.indexOf(`${i}:0`)).toBeGreaterThanOrEqual(0);
          expect(list.indexOf(`${i}:1`)).toBeGreaterThan(list.indexOf(`${i}:0`));
        }
      }),
    );

    test(
      'empty values, long values and non-ASCII keys are returned unchanged',
      onLog(async (log) => {
        const long = Buffer.alloc(700_000, 'x');
        await log.append(topic, [
          { key: 'ключ|鍵|🔑', value: Buffer.alloc(0) },
          { key: 'long', value: long },
          record('after', 'a'),
        ]);
        const records = (await readTopic(log, topic)).flat();
        expect(records.find(({ key }) => key === 'ключ|鍵|🔑')?.value).toEqual(Buffer.alloc(0));
        expect(records.find(({ key }) => key === 'long')?.value?.equals(long)).toBe(true);
        expect(records.find(({ key }) => key === 'after')?.value?.toString()).toBe('a');
      }),
    );

    describe('a read of large records is bounded in bytes as well', () => {
      const bytes = 700_000;
      const large = (count: number, key: string) =>
        Array.from({ length: count }, (_, i) => ({ key, value: Buffer.alloc(bytes, `${i} `) }));
      const sizes = ({ records }: LogSlice) => records.map(({ value }) => value!.length);

      test(
        'to the requested size or four MiB, but returns at least one record; further reads return the rest',
        onLog(async (log) => {
          for (const each of large(12, 'a')) await log.append(topic, [each]);
          const partition = log.partitionOf(topic, 'a');
          expect(sizes(await log.read(topic, partition, 0, 1_000, 2_000_000))).toEqual([bytes, bytes]);
          expect(sizes(await log.read(topic, partition, 3, 1_000, 1))).toEqual([bytes]);
          expect(sizes(await log.read(topic, partition, 0, 1_000))).toEqual(Array(5).fill(bytes));
          expect(sizes(await log.read(topic, partition, 0, 2))).toEqual([bytes, bytes]);
          const all = await readPartition(log, topic, partition, 1_000);
          expect(all.map(({ offset }) => offset)).toEqual(Array.from({ length: 12 }, (_, i) => i));
        }),
      );

      test(
        'in a compacted topic, and when records of one append share a batch',
        onLog(async (log) => {
          const records = Array.from({ length: 9 }, (_, i) => large(1, `key ${i}`)[0]!);
          await log.append('changes', records);
          expect(sizes(await log.read('changes', 0, 0, 1_000, 1_500_000))).toEqual([bytes, bytes]);
          const all = await readPartition(log, 'changes', 0, 1_000);
          expect(all.map(({ key }) => key)).toEqual(records.map(({ key }) => key));
        }),
      );

      test(
        'when its owner falls back far behind the log: it applies pages, not everything at once',
        onLog(async (log) => {
          for (const each of large(12, 'a')) await log.append(topic, [each]);
          const partition = log.partitionOf(topic, 'a');
          const { records: handedOver } = await log.read(topic, partition, 11, 1);
          const applied: number[] = [];
          for (let next = 0; next < 12; ) {
            const due = await dueRecords(log, topic, next, handedOver, 10_000);
            expect(due.reduce((sum, { key, value }) => sum + key.length + value!.length, 0)).toBeLessThanOrEqual(
              defaultReadBytes,
            );
            applied.push(...due.map(({ offset }) => offset));
            next = due.at(-1)!.offset + 1;
          }
          expect(applied).toEqual(Array.from({ length: 12 }, (_, i) => i));
        }),
      );
    });

    test('acknowledged records are stored after a reopen, and offsets continue', () =>
      onFreshSite(site, async (place) => {
        for (let round = 0; round < 3; round++) {
          const { log, close } = await place.open();
          for (const each of byTime) await log.append(each, numbered(40, 7, round * 40));
          for (const each of byTime) {
            const partitions = await readTopic(log, each);
            expect(
              partitions
                .flat()
                .map(textOf)
                .map(Number)
                .sort((a, b) => a - b),
            ).toEqual(Array.from({ length: (round + 1) * 40 }, (_, i) => i));
            for (const records of partitions)
              expect(records.map(({ offset }) => offset)).toEqual(records.map((_, i) => i));
          }
          await close();
        }
      }));

    test(
      'two groups each get everything',
      onLog(async (log) => {
        const [one, two] = [new Ledger(), new Ledger()];
        const subscriptions = [one, two].map((handler, i) =>
          log.consume({ topic, group: `group-${i}`, handler, maxBatchRecords: 10, maxWaitMs: 0 }),
        );
        await log.append(topic, numbered(100, 20));
        await until(() => one.count === 100 && two.count === 100);
        await Promise.all(subscriptions.map((each) => each.close()));
      }),
    );

    test(
      'topic changes keeps the last record of each key, and tombstones for deleted keys',
      onLog(async (log) => {
        await log.append('changes', [record('a', '1'), record('b', '1'), record('a', '2')]);
        await log.append('changes', [record('c', '1'), record('b', null)]);
        await log.append('changes', [record('a', '3')]);
        const records = await readPartition(log, 'changes', 0, 2);
        const last = new Map(records.map((each) => [each.key, textOf(each)]));
        expect(last).toEqual(
          new Map([
            ['b', null],
            ['c', '1'],
            ['a', '3'],
          ]),
        );
        expect(records.map(({ offset }) => offset)).toEqual(
          [...records.map(({ offset }) => offset)].sort((a, b) => a - b),
        );
        expect((await log.bounds('changes', 0)).end).toBe(6);
        expect(textOf(records.at(-1)!)).toBe('3');
      }),
    );

    test(
      'readers and consumers get the headers of changes and tombstones; a replaced record keeps its own',
      onLog(async (log) => {
        const texts = { edit: '7f', bases: '12,absent', 'ключ 鍵': '🔑', empty: '' };
        const sent = [
          { ...record('a', '1'), headers: texts },
          record('b', '1'),
          { ...record('a', null), headers: { edit: '80' } },
        ];
        for (const each of sent) await log.append('changes', [each]);
        const headers = (records: readonly LogRecord[]) =>
          records.map((each) => [each.key, textOf(each), each.headers]);
        const expected = [
          ['a', '1', texts],
          ['b', '1', undefined],
          ['a', null, { edit: '80' }],
        ];
        expect(headers(await readPartition(log, 'changes', 0, 2))).toEqual(expected);
        const received: LogRecord[] = [];
        const subscription = log.consume({
          topic: 'changes',
          group: null,
          maxBatchRecords: 10,
          maxWaitMs: 0,
          handler: {
            assigned: async () => 0,
            records: async (_, records) => void received.push(...records),
            revoked: async () => {},
          },
        });
        await until(() => received.length === sent.length);
        await subscription.close();
        expect(headers(received)).toEqual(expected);
      }),
    );

    test(
      'records of every topic keep their headers',
      onLog(async (log) => {
        const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'ключ 鍵': '🔑' };
        await log.append('locations', [{ ...record('a', '1'), headers }, record('a', '2')]);
        const records = await readPartition(log, 'locations', log.partitionOf('locations', 'a'), 2);
        expect(records.map((each) => [textOf(each), each.headers])).toEqual([
          ['1', headers],
          ['2', undefined],
        ]);
      }),
    );

    describe.each([
      { kind: 'in a group', group: 'test' },
      { kind: 'without a group', group: null },
    ])('a consumer $kind', ({ group }) => {
      const follow = (log: Log, handler: StreamHandler, maxBatchRecords = 100, maxWaitMs = 0): Subscription =>
        log.consume({ topic, group, handler, maxBatchRecords, maxWaitMs });

      test(
        'gets existing and later records from the requested offset on',
        onLog(async (log) => {
          await log.append(topic, numbered(300, 50));
          const ledger = new Ledger((partition) => (partition === 0 ? 3 : 0));
          const subscription = follow(log, ledger, 10);
          await until(() => ledger.count >= 297);
          await log.append(topic, numbered(100, 50, 300));
          await until(() => ledger.count >= 397);
          await subscription.close();
          await subscription.done;
          expect(ledger.count).toBe(397);
          expect(Math.max(...ledger.batchSizes)).toBeLessThanOrEqual(10);
          const partitions = await readTopic(log, topic);
          for (const [partition, records] of partitions.entries()) {
            const expected = records.map((each) => ({ offset: each.offset, key: each.key, text: textOf(each) }));
            expect(ledger.received.get(partition)).toEqual(expected.slice(partition === 0 ? 3 : 0));
          }
        }),
      );

      test(
        'records of a partition are never handed over concurrently, and a slow partition delays no other',
        onLog(async (log) => {
          const running = new Map<number, number>();
          let overlaps = 0;
          let release = () => {};
          const held = new Promise<void>((resolve) => {
            release = resolve;
          });
          const slow = log.partitionOf(topic, 'key-0');
          const ledger = new Ledger();
          const subscription = follow(
            log,
            {
              assigned: (partition) => ledger.assigned(partition),
              revoked: (partition) => ledger.revoked(partition),
              async records(partition, records) {
                running.set(partition, (running.get(partition) ?? 0) + 1);
                if (running.get(partition)! > 1) overlaps += 1;
                if (partition === slow) await held;
                await ledger.records(partition, records);
                running.set(partition, running.get(partition)! - 1);
              },
            },
            5,
          );
          const records = numbered(400, 40);
          const elsewhere = records.filter(({ key }) => log.partitionOf(topic, key) !== slow).length;
          expect(elsewhere).toBeLessThan(400);
          for (let i = 0; i < 400; i += 40) await log.append(topic, records.slice(i, i + 40));
          await until(() => ledger.count === elsewhere);
          release();
          await until(() => ledger.count === 400);
          await subscription.close();
          expect(overlaps).toBe(0);
        }),
      );

      test(
        'close waits for the handler, revokes each partition once, and hands over nothing more',
        onLog(async (log) => {
          const ledger = new Ledger();
          let release = () => {};
          const held = new Promise<void>((resolve) => {
            release = resolve;
          });
          let entered = 0;
          const subscription = follow(log, {
            assigned: (partition) => ledger.assigned(partition),
            revoked: (partition) => ledger.revoked(partition),
            async records(partition, records) {
              entered += 1;
              await held;
              expect(ledger.revocations).not.toContain(partition);
              await ledger.records(partition, records);
            },
          });
          await log.append(topic, [record('a', '1')]);
          await until(() => entered === 1);
          const closing = subscription.close();
          await log.append(topic, [record('a', '2')]);
          release();
          await closing;
          await subscription.done;
          expect(ledger.count).toBe(1);
          expect(ledger.revocations.sort()).toEqual(ledger.assignments.sort());
          expect(new Set(ledger.revocations).size).toBe(log.partitions(topic));
        }),
      );

      test(
        'a halted partition stops and others continue; the next consumer starts at its own position',
        onLog(async (log) => {
          const halted = log.partitionOf(topic, 'key-0');
          const ledger = new Ledger();
          let halts = 0;
          const subscription = follow(
            log,
            {
              assigned: (partition) => ledger.assigned(partition),
              revoked: (partition) => ledger.revoked(partition),
              async records(partition, records) {
                if (partition !== halted) return ledger.records(partition, records);
                halts += 1;
                return 'halted';
              },
            },
            5,
          );
          const records = numbered(400, 40);
          const elsewhere = records.filter(({ key }) => log.partitionOf(topic, key) !== halted).length;
          for (let i = 0; i < 400; i += 40) await log.append(topic, records.slice(i, i + 40));
          await until(() => ledger.count === elsewhere && halts > 0);
          await subscription.close();
          await subscription.done;
          expect(halts).toBe(1);
          expect(ledger.revocations.sort()).toEqual(ledger.assignments.sort());

          const next = new Ledger();
          const second = follow(log, next);
          await until(() => next.count === 400);
          await second.close();
        }),
      );

      test(
        'a failing handler ends the subscription with its error',
        onLog(async (log) => {
          const subscription = follow(log, {
            assigned: async () => 0,
            revoked: async () => {},
            records: async () => {
              throw new Error('cannot go on');
            },
          });
          const failed = expect(subscription.done).rejects.toThrow('cannot go on');
          await log.append(topic, [record('a', '1')]);
          await failed;
          await subscription.close();
        }),
      );

      test(
        'a batch is handed over when it is full or the time limit has passed',
        onLog(async (log) => {
          const ledger = new Ledger();
          const subscription = follow(log, ledger, 4, 60_000);
          await log.append(topic, [record('a', '1')]);
          await log.append(topic, [record('a', '2')]);
          await log.append(topic, [record('a', '3')]);
          expect(ledger.count).toBe(0);
          await log.append(topic, [record('a', '4')]);
          await until(() => ledger.count === 4);
          expect(ledger.batchSizes).toEqual([4]);
          await subscription.close();

          const impatient = new Ledger((partition) => (partition === log.partitionOf(topic, 'a') ? 3 : 0));
          const second = follow(log, impatient, 4, 30);
          await until(() => impatient.count === 1);
          await second.close();
        }),
      );

      test('any appends, read from any offset in any steps, match a model of a plain list', () =>
        fc.assert(
          fc.asyncProperty(
            fc.array(
              fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.string({ maxLength: 40 })), { maxLength: 30 }),
              {
                maxLength: 12,
              },
            ),
            fc.nat(40),
            fc.integer({ min: 1, max: 50 }),
            (appends, offset, maxRecords) =>
              onFreshBackend(site, async ({ log }) => {
                const model: [string, string][][] = Array.from({ length: log.partitions(topic) }, () => []);
                for (const each of appends) {
                  for (const [key, text] of each) model[log.partitionOf(topic, `${key}`)]!.push([`${key}`, text]);
                  await log.append(
                    topic,
                    each.map(([key, text]) => record(`${key}`, text)),
                  );
                }
                const ledger = new Ledger(() => offset);
                const subscription = follow(log, ledger, maxRecords);
                const expected = model.reduce((sum, list) => sum + Math.max(0, list.length - offset), 0);
                await until(() => ledger.received.size === model.length && ledger.count >= expected);
                await subscription.close();
                for (const [partition, list] of model.entries()) {
                  expect(await log.bounds(topic, partition)).toEqual({ first: 0, end: list.length });
                  const { records: read, nextOffset } = await log.read(topic, partition, offset, maxRecords);
                  expect(read.map((each) => [each.key, textOf(each)])).toEqual(list.slice(offset, offset + maxRecords));
                  expect(nextOffset).toBe(offset + read.length);
                  expect(ledger.received.get(partition)!.map(({ key, text }) => [key, text])).toEqual(
                    list.slice(offset),
                  );
                }
              }),
          ),
          { numRuns },
        ));
    });
  });
}
