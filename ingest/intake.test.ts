import fc from 'fast-check';
import { expect, it } from 'vitest';
import { locationAt } from '../pipeline/evaluation/testing/flat-world.js';
import { createAdmission, createIntake } from './intake.js';
import type { IngestMetrics } from './metrics.js';

const bounds = { maxInFlightRecords: 10, maxInFlightBytes: 100 };
const noMetrics: IngestMetrics = { add() {} };

it('never exceeds its bounds, refuses the rest, and frees every share', async () => {
  const work = fc.record({
    records: fc.integer({ min: 1, max: 10 }),
    bytes: fc.integer({ min: 0, max: 100 }),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(work, { maxLength: 20 }), async (scheduler, works) => {
      const inFlight = { records: 0, bytes: 0 };
      let gauge = 0;
      const admission = createAdmission(bounds, {
        add(_, amount) {
          gauge += amount;
        },
      });
      const done = works.map(async ({ records, bytes, waits }) => {
        const job = async () => {
          inFlight.records += records;
          inFlight.bytes += bytes;
          expect(inFlight.records).toBeLessThanOrEqual(bounds.maxInFlightRecords);
          expect(inFlight.bytes).toBeLessThanOrEqual(bounds.maxInFlightBytes);
          expect(gauge).toBe(inFlight.records);
          await scheduler.schedule(Promise.resolve());
          inFlight.records -= records;
          inFlight.bytes -= bytes;
          return 'done';
        };
        return waits
          ? admission.runWhenFitting(records, bytes, job)
          : admission.run(records, bytes, job).catch(({ code }) => code);
      });
      const results = await scheduler.waitFor(Promise.all(done));
      results.forEach((result, index) => {
        expect(works[index]?.waits ? ['done'] : ['done', 'overloaded']).toContain(result);
      });
      expect(admission.isFull).toBe(false);
      expect([inFlight, gauge]).toEqual([{ records: 0, bytes: 0 }, 0]);
    }),
  );
});

it('does not let a large request wait behind smaller ones that came later', async () => {
  const admission = createAdmission(bounds, noMetrics);
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const start = (name: string, records: number) =>
    admission.runWhenFitting(records, 0, async () => {
      started.push(name);
      await new Promise<void>((resolve) => running.set(name, resolve));
    });
  const first = start('first', 6);
  const rest = [start('large', 10), start('small', 1), start('last', 1)];
  running.get('first')!();
  await first;
  expect(started).toEqual(['first', 'large']);
  running.get('large')!();
  await rest[0];
  expect(started).toEqual(['first', 'large', 'small', 'last']);
});

it('frees its share when the work fails', async () => {
  const admission = createAdmission({ maxInFlightRecords: 1, maxInFlightBytes: 1 }, noMetrics);
  const failing = admission.run(1, 1, async () => {
    throw new Error('disk');
  });
  expect(admission.isFull).toBe(true);
  await expect(failing).rejects.toThrow('disk');
  expect(admission.isFull).toBe(false);
});

it('admits a request above the bounds when nothing else is in flight', async () => {
  const admission = createAdmission({ maxInFlightRecords: 1, maxInFlightBytes: 1 }, noMetrics);
  expect(await admission.run(50, 5_000, async () => 'in')).toBe('in');
});

it('counts the bytes of records until they are durable', async () => {
  let durable = (): void => {};
  const log = { append: () => new Promise<void>((resolve) => (durable = resolve)) };
  // One location has more bytes than half of the bound.
  const admission = createAdmission({ maxInFlightRecords: 10, maxInFlightBytes: 150 }, noMetrics);
  const intake = createIntake({ log, admission, metrics: noMetrics, tracing: undefined });
  const send = () => intake('track', [locationAt(1, 0, 0)], undefined);
  const first = send();
  await expect(send()).rejects.toMatchObject({ code: 'overloaded' });
  durable();
  await first;
  const later = send();
  durable();
  await later;
});
