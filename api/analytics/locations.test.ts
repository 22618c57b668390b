import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hourMs } from '../../schemas/durations.js';
import { deriveId } from '../../schemas/ids.js';
import type { Outcome, Rejection } from '../../schemas/records.js';
import { exampleLocation, exampleOutcome } from '../../schemas/testing/examples.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { locationRows, rejectionRows } from '../../schemas/testing/rows.js';
import { type Body, useAnalytics, useApi } from '../testing/fixtures.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

const startMs = Math.floor(Date.now() / hourMs - 48) * hourMs;

interface Received {
  readonly hour: number;
  readonly result: Outcome['result'];
}
interface Refused {
  readonly hour: number;
  readonly reason: Pick<Rejection, 'endpoint' | 'code' | 'param'>;
  readonly count: number;
}

const received: fc.Arbitrary<Received> = fc.record({
  hour: fc.nat(40),
  result: fc.constantFrom('applied', 'applied', 'repeat', 'stale'),
});
const refused: fc.Arbitrary<Refused> = fc.record({
  hour: fc.nat(40),
  reason: fc.constantFrom(
    { endpoint: 'track', code: 'invalid_parameter', param: 'accuracy' },
    { endpoint: 'bulk', code: 'invalid_parameter', param: 'accuracy' },
    { endpoint: 'track', code: 'not_available', param: 'anonymous' },
    { endpoint: 'stage', code: 'unknown_project', param: null },
  ),
  count: fc.integer({ min: 1, max: 1_000_000 }),
});

const outcomeOf = (project: string, { hour, result }: Received, index: number): Outcome =>
  exampleOutcome({
    location: exampleLocation({
      project,
      id: deriveId('location', `${index}`),
      deviceId: `device ${index % 3}`,
      receivedAt: startMs + hour * hourMs,
    }),
    result,
  });

/** Inserts every row twice, in two inserts. */
async function store(project: string, some: readonly Received[], others: readonly Refused[]): Promise<void> {
  const outcomes = some.map((one, index) => outcomeOf(project, one, index));
  const rejections = others.map(({ hour, reason, count }, index) => ({
    ...reason,
    project,
    environment: 'test' as const,
    id: deriveId('rejection', `${index}`),
    count,
    at: startMs + hour * hourMs,
  }));
  for (let time = 0; time < 2; time++) {
    await analytics.insert('locations', locationRows(outcomes));
    await analytics.insert('rejections', rejectionRows(rejections));
  }
}

/** Sums the counts of rows that are equal otherwise. */
function summed(rows: readonly { readonly locations: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { locations, ...what } of rows) {
    const name = JSON.stringify(Object.entries(what).sort());
    sums[name] = (sums[name] ?? 0) + locations;
  }
  return sums;
}

test('counts received and rejected locations by result, in total and by hour', async () => {
  const lists = [fc.array(received, { maxLength: 30 }), fc.array(refused, { maxLength: 10 })] as const;
  await fc.assert(
    fc.asyncProperty(
      ...lists,
      fc.nat(30),
      fc.integer({ min: 1, max: 15 }),
      fc.boolean(),
      async (some, others, first, hours, byHour) => {
        const project = await api.newProject('Locations');
        await store(project.record._id, some, others);
        const [from, to] = [first, first + hours].map((hour) => new Date(startMs + hour * hourMs).toISOString());
        const url = `/v1/analytics/locations?from=${from}&to=${to}${byHour ? '&interval=hour' : ''}`;
        const { body } = await api.call('GET', url, { key: project.key('test', 'secret') });
        const isInRange = ({ hour }: { hour: number }) => hour >= first && hour < first + hours;
        const timesOf = (hour: number) => {
          const start = new Date(startMs + hour * hourMs).toISOString();
          return byHour ? { start, local: start.slice(0, 16).replace('T', ' ') } : {};
        };
        const expected = [
          ...some.filter(isInRange).map(({ hour, result }) => ({ ...timesOf(hour), result, locations: 1 })),
          ...others.filter(isInRange).map(({ hour, count, reason: { param, ...reason } }) => ({
            ...timesOf(hour),
            result: 'rejected',
            ...reason,
            ...(param !== null && { param }),
            locations: count,
          })),
        ];
        expect(summed(body.rows)).toEqual(summed(expected));
        expect(body.rows as Body[]).toHaveLength(Object.keys(summed(expected)).length);
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});
