/** The estimate has the figures of docs/cluster.md, and gives its example. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate, perCoreAndSecond, recordBytes, rowBytes, type Workload } from './size-estimate.js';

const guide = readFileSync(new URL('../docs/cluster.md', import.meta.url), 'utf8');
const measurements = readFileSync(new URL('../docs/measurements.md', import.meta.url), 'utf8');
/** Returns the cells behind the first one of the row that begins so. */
const cellsOf = (row: string): string[] =>
  (guide.split('\n').find((line) => line.startsWith(`| ${row}`)) ?? '')
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
const numberIn = (text = ''): number => Number(text.replaceAll(',', '').match(/\d+(\.\d+)?/)?.[0]);

/** A million locations a second, as in the guide. */
const example: Workload = {
  devices: 20_000_000,
  everySeconds: 20,
  fences: 1_000_000,
  eventsPerLocation: 0.05,
  deliveriesPerEvent: 0.1,
  records: 'plain',
  replicas: 3,
  locationDays: 1,
  eventDays: 30,
  apiNodes: 4,
};

describe('the guide', () => {
  it.each([
    ['a location on its topic', 'location'],
    ['an outcome on its topic', 'outcome'],
    ['an event on its topic', 'event'],
    ['a device in Redis', 'device'],
  ] as const)('has the size of %s', (row, kind) => {
    const [plain, sdk] = cellsOf(row);
    expect([numberIn(plain), numberIn(sdk)]).toEqual([recordBytes.plain[kind], recordBytes.sdk[kind]]);
  });

  it.each([
    ['`ingest`, uploads', perCoreAndSecond.ingestLocations],
    ['`pipeline`: 10 µs', perCoreAndSecond.pipelineLocations],
    ['`webhooks`: 80 µs', perCoreAndSecond.webhookRequests],
    ['`analytics`: ClickHouse', perCoreAndSecond.clickHouseRows],
    ['a Redis server', perCoreAndSecond.redisLocations],
    ['a row of a location in ClickHouse', rowBytes.location],
    ['a row of an event in ClickHouse', rowBytes.event],
  ])('has the rate or size of %s', (row, figure) => {
    expect(numberIn(cellsOf(row)[0])).toBe(figure);
  });

  // Costs of two roles were a fifth above those of the page that they come from.
  it.each([
    ['processor time of ingest', perCoreAndSecond.ingestLocations],
    ['processor time of that process', perCoreAndSecond.pipelineLocations],
    ['processor time of webhooks', perCoreAndSecond.webhookRequests],
    ['stored: 100 k circles of 100 m, 0.48 events per location', perCoreAndSecond.embeddedLocations],
  ])('has a rate that follows from what was measured: %s', (figure, rate) => {
    const [, unit, median] = measurements
      .split(`\n| ${figure} `)[1]!
      .split('|')
      .map((cell) => cell.trim());
    const measured = unit === 'locations/s' ? numberIn(median) : 1e6 / numberIn(median);
    expect(rate).toBeLessThanOrEqual(measured);
    expect(rate).toBeGreaterThan(0.9 * measured);
  });

  it('has an example that the estimate gives', () => {
    const { processes, partitions, kafka, redis, clickHouse } = estimate(example);
    const taken = (row: string) => numberIn(cellsOf(row)[1]);
    expect(processes).toEqual({
      ingest: taken('`ingest` | 1,000,000'),
      pipeline: taken('`pipeline` | 1,000,000'),
      webhooks: taken('`webhooks` | 5,000'),
      analytics: taken('`analytics` | Fenceline'),
      api: 4,
    });
    expect(partitions).toBe(taken('partitions | 12'));
    expect(kafka.inBytesPerSecond).toBe(taken('Kafka, in from clients | 220') * 1e6);
    expect(kafka.outBytesPerSecond).toBe(taken('Kafka, out to clients | 220') * 1e6);
    expect(kafka.brokers).toBe(taken('brokers'));
    expect(kafka.diskBytes / 1e12).toBeCloseTo(130 + 156, -1);
    expect(redis.masters).toBe(taken('Redis masters'));
    expect(redis.memoryBytes / 1e9).toBeCloseTo(taken('Redis, memory | 20'), 0);
    expect(clickHouse.shards).toBe(taken('ClickHouse, rows |'));
  });
});

it('never needs less for more devices, fences, events or copies', () => {
  const workload = fc.record<Workload>({
    devices: fc.integer({ min: 1, max: 1e8 }),
    everySeconds: fc.integer({ min: 1, max: 600 }),
    fences: fc.integer({ min: 0, max: 1e7 }),
    eventsPerLocation: fc.double({ min: 0, max: 1, noNaN: true }),
    deliveriesPerEvent: fc.double({ min: 0, max: 1, noNaN: true }),
    records: fc.constantFrom('plain', 'sdk'),
    replicas: fc.integer({ min: 1, max: 5 }),
    locationDays: fc.integer({ min: 0, max: 30 }),
    eventDays: fc.integer({ min: 0, max: 90 }),
    apiNodes: fc.integer({ min: 1, max: 20 }),
  });
  const numbersOf = (value: object): number[] =>
    Object.values(value).flatMap((each) => (typeof each === 'object' ? numbersOf(each) : [Number(each)]));
  const more = fc.constantFrom('devices', 'fences', 'eventsPerLocation', 'replicas', 'apiNodes');
  fc.assert(
    fc.property(workload, more, (given, name) => {
      const { fitsOneNode, ...before } = estimate(given);
      const { fitsOneNode: fitsMore, ...after } = estimate({ ...given, [name]: given[name] + 1 });
      expect(Number(fitsMore)).toBeLessThanOrEqual(Number(fitsOneNode));
      const pairs = numbersOf(before).map((number, index) => [number, numbersOf(after)[index]!] as const);
      for (const [small, large] of pairs) expect(large).toBeGreaterThanOrEqual(small);
    }),
  );
});
