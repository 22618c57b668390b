/**
 * With a small bound of locations in flight, the last batch of an upload fitted before an earlier one did, and was
 * appended first. Its locations were newer, so the earlier batch of the same devices became stale: the answer was 200,
 * and thousands of accepted locations were lost. A batch after one that failed could be appended in the same way.
 */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Receipt } from '../../http/location/request.js';
import { PortError } from '../../pipeline/errors.js';
import type { Log } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { createAdmission } from '../intake.js';
import { readBulkLocation } from './locations.js';
import { BulkUpload, batchRecords } from './upload.js';

const receipt: Receipt = {
  project: '0123456789abcdef01234567',
  environment: 'live',
  receivedAt: 1_750_000_000_000,
  ip: null,
  replayed: false,
  replyTo: null,
};
/** The n-th location of one device. The accuracy tells the log its number. */
const numbered = (number: number) =>
  readBulkLocation({ deviceId: 'd', latitude: 1, longitude: 2, accuracy: number }, receipt);
const numbers = (first: number, end: number) => Array.from({ length: end - first }, (_, index) => first + index);

/** An append of the log: how many turns of the event loop it takes, and whether it fails then. */
interface Fate {
  readonly turns: number;
  readonly fails: boolean;
}

/** Takes the place in the log at once, as logs do, and answers later. */
function logOf(fates: readonly Fate[]) {
  const stored: number[] = [];
  let appends = 0;
  const append: Log['append'] = async (_topic, records) => {
    const { turns, fails } = fates[appends++ % fates.length]!;
    if (!fails) stored.push(...records.map(({ value }) => codecs.location.decode(value as Buffer).accuracy_m));
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    if (fails) throw new PortError('overloaded', 'the log is behind');
  };
  return { stored, append };
}

it('stores the locations of a device in their order, and accepts a prefix of them', async () => {
  const uploads = fc.array(fc.integer({ min: 1, max: 4 * batchRecords }), { minLength: 1, maxLength: 2 });
  const fate = fc.record({ turns: fc.nat(20), fails: fc.nat(4).map((choice) => choice === 0) });
  const fates = fc.array(fate, { minLength: 1, maxLength: 8 });
  const bound = fc.integer({ min: 1_000, max: 5_000 });
  await fc.assert(
    fc.asyncProperty(uploads, fates, bound, async (counts, fatesOfAppends, maxInFlightRecords) => {
      const log = logOf(fatesOfAppends);
      const admission = createAdmission({ maxInFlightRecords, maxInFlightBytes: 2 ** 30 }, { add() {} });
      const send = async (first: number, count: number) => {
        const upload = new BulkUpload(
          log,
          admission,
          async () => {},
          () => {},
        );
        try {
          for (const [index, number] of numbers(first, first + count).entries())
            if (upload.add(index + 1, numbered(number))) await upload.flush();
        } catch (error) {
          expect(error).toBe(upload.failure?.error);
        }
        await upload.settle();
        const { accepted } = upload.tally;
        expect(log.stored.filter((number) => number >= first && number < first + count)).toEqual(
          numbers(first, first + accepted),
        );
        expect(accepted < count).toBe(upload.failure !== undefined);
      };
      await Promise.all(counts.map((count, index) => send(index * 4 * batchRecords, count)));
    }),
    { numRuns: 20 },
  );
});

// Forty uploads validated a batch each in one turn, of up to 24 MB, and stopped all other requests for seconds.
it('appends at most a megabyte at once, and any number of uploads one batch in a turn', async () => {
  const appended: number[] = [];
  const log = {
    append: (async (_topic, records) => {
      appended.push(records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
    }) as Log['append'],
  };
  const admission = createAdmission({ maxInFlightRecords: 1e6, maxInFlightBytes: 2 ** 30 }, { add() {} });
  const metadata = { a: 'x'.repeat(4_000), b: 'x'.repeat(4_000), c: 'x'.repeat(4_000) };
  const large = readBulkLocation({ deviceId: 'd', latitude: 1, longitude: 2, accuracy: 5, metadata }, receipt);
  let flushed = 0;
  const flushedBy: number[] = [];
  const uploads = Array.from({ length: 10 }, async () => {
    const upload = new BulkUpload(
      log,
      admission,
      async () => {},
      () => {},
    );
    for (let line = 1; line <= 400; line++) {
      if (!upload.add(line, large)) continue;
      await upload.flush();
      flushed += 1;
    }
    await upload.settle();
    expect(upload.tally.accepted).toBe(400);
  });
  let isDone = false;
  const done = Promise.all(uploads).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await setImmediate();
    flushedBy.push(flushed);
  }
  await done;
  expect(Math.max(...appended)).toBeLessThan(2 ** 20 + 20_000);
  expect(flushed).toBeGreaterThan(30);
  expect(flushedBy.every((count, turn) => count - (flushedBy[turn - 1] ?? 0) <= 1)).toBe(true);
});

// Bad lines never filled a batch. A block of Avro may have 16 million of them, and stopped all requests for seconds.
it('counts at most 500 bad locations in a turn, of any number of uploads', async () => {
  const log = { append: (async () => {}) as Log['append'] };
  const admission = createAdmission({ maxInFlightRecords: 1e6, maxInFlightBytes: 2 ** 30 }, { add() {} });
  let counted = 0;
  const countedBy: number[] = [];
  const uploads = Array.from({ length: 10 }, async () => {
    const upload = new BulkUpload(
      log,
      admission,
      async () => {},
      () => {
        counted += 1;
      },
    );
    await upload.flush();
    for (let line = 1; line <= 2_000; line++) if (upload.add(line, readBulkLocation({}, receipt))) await upload.flush();
    await upload.settle();
    expect(upload.tally).toMatchObject({ accepted: 0, rejected: 2_000 });
  });
  let isDone = false;
  const done = Promise.all(uploads).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await setImmediate();
    countedBy.push(counted);
  }
  await done;
  expect(countedBy.every((count, turn) => count - (countedBy[turn - 1] ?? 0) <= 500)).toBe(true);
});
