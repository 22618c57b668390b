/**
 * Compares replays with the location stage: with its record, and with a new stage that has other fences.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type GeofenceInput, readPlainGeofence } from '../api/geofences/fields.js';
import { geofenceRecord } from '../api/geofences/record.js';
import type { ReadableLog } from '../backends/embedded/reader.js';
import { projectA } from '../pipeline/catalog/testing/fixtures.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { topics } from '../pipeline/ports.js';
import { beaconRecord, idOf, location, projectRecord, readAll, TestNode } from '../pipeline/stages/testing/node.js';
import { codecs } from '../schemas/codecs.js';
import { defaultSettings } from '../schemas/json/project.js';
import type { Event, Location } from '../schemas/records.js';
import { propertyRuns } from '../schemas/testing/property-runs.js';
import { until } from '../testing/until.js';
import { openReplayCatalog } from './catalog.js';
import { configuredFor, type Proposed } from './configuration.js';
import type { TimeRange } from './partition.js';
import { type ComparedEvent, prepareReplay } from './replay.js';
import { noTotals, sumOf, type Totals } from './totals.js';

const scope: Scope = { project: projectA, environment: 'test' };
const always: TimeRange = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
const settings = { ...defaultSettings, dwellEvents: true, defaultDwellThreshold: 1 };
const project = projectRecord({ settings: { test: settings, live: defaultSettings } });
const beacon = beaconRecord({ externalId: 'door' });

function fence(externalId: string, fields: object): GeofenceInput {
  const normal = readPlainGeofence({ tag: 'shop', externalId, description: externalId, ...fields });
  if (!normal.ok) throw normal.error;
  return normal.value;
}
const circle = (externalId: string, longitude: number, radius: number, rest: object = {}): GeofenceInput =>
  fence(externalId, { type: 'circle', coordinates: [longitude, 50], radius, ...rest });

/** A node with these fences in both environments. */
async function nodeWith(fences: readonly GeofenceInput[]): Promise<TestNode> {
  const node = await TestNode.open();
  const records = fences.flatMap((input) =>
    (['test', 'live'] as const).map((environment) =>
      geofenceRecord({ ...scope, environment }, input, undefined, 1_000),
    ),
  );
  await node.configure(
    { kind: 'project', record: project },
    { kind: 'beacon', record: beacon },
    ...records.map((record) => ({ kind: 'geofence', record }) as const),
  );
  return node;
}

interface Replayed {
  readonly events: readonly ComparedEvent[];
  readonly totals: Totals;
}

/** Runs a replay of the node's log. */
async function replayOf(
  { embedded: { log } }: TestNode,
  { range = always, warmUpMs, proposed = {} }: { range?: TimeRange; warmUpMs?: number; proposed?: Proposed } = {},
): Promise<Replayed> {
  const opened = await openReplayCatalog(configuredFor(log, project, scope, proposed));
  try {
    const parts = { log, catalog: opened.catalog, scope, range, ...(warmUpMs !== undefined && { warmUpMs }) };
    const events: ComparedEvent[] = [];
    let totals = noTotals;
    for await (const step of (await prepareReplay(parts)).steps()) {
      events.push(...step.events);
      totals = sumOf(totals, step.totals);
    }
    return { events, totals };
  } finally {
    await opened.close();
  }
}

const inReplay = ({ events }: Replayed): ComparedEvent[] => events.filter(({ foundIn }) => foundIn !== 'record');
const bytesOf = (events: readonly Event[]): string[] =>
  events.map((event) => codecs.event.encode(event).toString('hex'));

/** Returns encoded recorded events of locations received in the range, by partition and offset. */
async function recordedBytes(node: TestNode, { fromMs, toMs }: TimeRange): Promise<string[]> {
  return (await readAll(node.embedded, topics.events))
    .map(({ value }) => ({ value: value as Buffer, event: codecs.event.decode(value as Buffer) }))
    .filter(
      ({ event }) => event.environment === 'test' && event.actualCreatedAt >= fromMs && event.actualCreatedAt < toMs,
    )
    .map(({ value }) => value.toString('hex'));
}

const stepMs = 30_000;
/** Times of receipt, close to the times of append. */
const startMs = Date.now() - 45 * 60_000;

const step = fc.record({
  deviceId: fc.constantFrom('a', 'b', 'c', 'd'),
  environment: fc.constantFrom('test' as const, 'test' as const, 'live' as const),
  userId: fc.constantFrom(null, 'ann', 'bob'),
  longitude: fc.constantFrom(10, 10.0008, 10.0012, 10.002, 10.01),
  latitude: fc.constantFrom(50, 50, 50, 50, Number.NaN),
  accuracy_m: fc.constantFrom(0, 20, 80),
  stopped: fc.boolean(),
  deviceTimed: fc.boolean(),
  beacons: fc.constantFrom(
    null,
    [],
    [{ type: beacon.type, group: beacon.group, major: beacon.major, minor: beacon.minor, rssi_dbm: -60 }],
  ),
  occurredAheadS: fc.integer({ min: -40, max: 40 }),
  receivedLateS: fc.integer({ min: 0, max: 70 }),
});
const workload = fc.array(step, { minLength: 1, maxLength: 60 }).map((steps) =>
  steps.map(({ occurredAheadS, receivedLateS, beacons, ...fields }, index): Location => {
    const dueAtMs = startMs + index * stepMs;
    return location({
      ...fields,
      beacons: beacons && [...beacons],
      id: idOf('step', index),
      occurredAt: dueAtMs + occurredAheadS * 1_000,
      receivedAt: dueAtMs + receivedLateS * 1_000,
    });
  }),
);
const fences = fc
  .tuple(
    fc.option(fc.constantFrom(20, 70, 130), { nil: null }),
    fc.option(fc.constantFrom(100, 200), { nil: null }),
    fc.option(fc.constantFrom({}, { dwellThreshold: 2 }, { stopDetection: true }, { enabled: false }), { nil: null }),
  )
  .map(([near, far, rules]) => [
    ...(near === null ? [] : [circle('near', 10, near)]),
    ...(far === null ? [] : [circle('far', 10.0015, far, { userIds: 'ann' })]),
    ...(rules === null ? [] : [circle('ruled', 10.001, 80, rules)]),
  ]);

async function ran(fencesOfNode: readonly GeofenceInput[], locations: readonly Location[]): Promise<TestNode> {
  const node = await nodeWith(fencesOfNode);
  node.start();
  await node.append(...locations);
  await node.drained();
  return node;
}

describe('with the recorded configuration and the whole history', () => {
  test('the replay of any range equals the record, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fences, workload, fc.nat(), fc.nat(), async (given, locations, a, b) => {
        // Bounds equal to times of receipt.
        const bounds = [a, b].map((index) => locations[index % locations.length]!.receivedAt);
        const node = await ran(given, locations);
        try {
          for (const range of [always, { fromMs: Math.min(...bounds), toMs: Math.max(...bounds) }]) {
            const replayed = await replayOf(node, { range });
            expect(bytesOf(replayed.events.map(({ event }) => event))).toEqual(await recordedBytes(node, range));
            expect(replayed.events.filter(({ foundIn, isFirst }) => foundIn !== 'both' || isFirst)).toEqual([]);
            const outcomes = (await node.outcomes()).filter(({ location: { receivedAt, environment } }) => {
              return environment === 'test' && receivedAt >= range.fromMs && receivedAt < range.toMs;
            });
            const results = { applied: 0, repeat: 0, stale: 0 };
            for (const { result } of outcomes) results[result] += 1;
            expect(replayed.totals.results).toEqual(results);
          }
        } finally {
          await node.dispose();
        }
      }),
      { numRuns: propertyRuns(12) },
    );
  });
});

describe('with proposed geofences', () => {
  test('the replay equals the record of a node that had them from the start; differences are by id', async () => {
    await fc.assert(
      fc.asyncProperty(fences, fences, workload, async (given, proposed, locations) => {
        const [node, fresh] = await Promise.all([ran(given, locations), ran(proposed, locations)]);
        try {
          const replayed = await replayOf(node, { proposed: { geofences: proposed } });
          expect(bytesOf(inReplay(replayed).map(({ event }) => event))).toEqual(await recordedBytes(fresh, always));
          const [ids, freshIds] = await Promise.all([node, fresh].map(idsOnRecord));
          const found = (where: string) =>
            replayed.events.filter(({ foundIn }) => foundIn === where).map(({ event }) => event.id);
          expect(new Set(found('both'))).toEqual(new Set([...ids!].filter((id) => freshIds!.has(id))));
          expect(new Set(found('replay'))).toEqual(new Set([...freshIds!].filter((id) => !ids!.has(id))));
          expect(new Set(found('record'))).toEqual(new Set([...ids!].filter((id) => !freshIds!.has(id))));
        } finally {
          await Promise.all([node.dispose(), fresh.dispose()]);
        }
      }),
      { numRuns: propertyRuns(10) },
    );
  });

  const idsOnRecord = async (node: TestNode): Promise<Set<string>> =>
    new Set((await node.events()).filter(({ environment }) => environment === 'test').map(({ id }) => id));
});

describe('a fence that has expired meanwhile', () => {
  test('is evaluated for earlier locations', async () => {
    const deleteAfter = new Date(startMs + stepMs).toISOString();
    const node = await ran([], [at(0, { deviceId: 'early' }), at(2, { deviceId: 'late' })]);
    try {
      const replayed = await replayOf(node, { proposed: { geofences: [circle('sale', 10, 100, { deleteAfter })] } });
      expect(replayed.events.map(({ event }) => event.user?.deviceId)).toEqual(['early']);
    } finally {
      await node.dispose();
    }
  });
});

const at = (index: number, fields: Partial<Location> = {}): Location =>
  location({
    id: idOf('at', index),
    occurredAt: startMs + index * stepMs,
    receivedAt: startMs + index * stepMs,
    ...fields,
  });

describe('with other settings', () => {
  test('the replay uses them', async () => {
    const node = await ran([circle('near', 10, 100)], [at(0), at(9)]);
    try {
      const proposed = { settings: { ...settings, dwellEvents: false } };
      const types = async (of: Proposed) =>
        inReplay(await replayOf(node, { proposed: of })).map(({ event }) => event.type);
      expect(await types({})).toEqual(['user.entered_geofence', 'user.dwelled_in_geofence']);
      expect(await types(proposed)).toEqual(['user.entered_geofence']);
    } finally {
      await node.dispose();
    }
  });
});

describe('where a device was before', () => {
  let node: TestNode;
  let splitMs = 0;
  /**
   * Two locations inside, the second appended and received at least a millisecond after `splitMs`, the first as much
   * before.
   */
  beforeEach(async () => {
    node = await nodeWith([circle('near', 10, 100)]);
    node.start();
    const now = (index: number) => at(index, { receivedAt: Date.now() });
    await node.append(now(0));
    await node.drained();
    splitMs = Date.now() + 1;
    await until(() => Date.now() > splitMs);
    await node.append(now(1));
    await node.drained();
  });
  afterEach(() => node.dispose());

  const summaryOf = ({ events }: Replayed) =>
    events.map(({ event, foundIn, isFirst }) => [event.type, foundIn, isFirst]);
  const firstEntry = [['user.entered_geofence', 'replay', true]];

  test('is known from all retained locations', async () => {
    const replayed = await replayOf(node, { range: { fromMs: splitMs, toMs: Date.now() + 1 } });
    expect(summaryOf(replayed)).toEqual([]);
    expect(replayed.totals).toMatchObject({ warmUpLocations: 1, results: { applied: 1 } });
  });

  test('is not known without a warm-up: its entry is marked as caused by its first location', async () => {
    const replayed = await replayOf(node, { range: { fromMs: splitMs, toMs: Date.now() + 1 }, warmUpMs: 0 });
    expect(summaryOf(replayed)).toEqual(firstEntry);
    expect(replayed.totals.warmUpLocations).toBe(0);
  });

  test('is not known after retention: the oldest location establishes it, and no later event is missing', async () => {
    const weekMs = 7 * 24 * 60 * 60 * 1000;
    await node.embedded.log.sweep(splitMs + weekMs);
    await node.append(at(2, { deviceId: 'other', receivedAt: Date.now() + 1 }));
    await node.drained();
    const replayed = await replayOf(node);
    expect(summaryOf(replayed)).toEqual([['user.entered_geofence', 'both', true]]);
    expect(replayed.totals).toMatchObject({ records: 2, warmUpLocations: 1, results: { applied: 1 } });
  });
});

test('reading ends an hour past the range', async () => {
  const node = await ran([circle('near', 10, 100)], [at(0)]);
  try {
    const toMs = Date.now() - 61 * 60_000;
    expect((await replayOf(node, { range: { fromMs: 0, toMs } })).totals).toEqual(noTotals);
  } finally {
    await node.dispose();
  }
});

// One hour of five days ago was refused as too long, because all locations up to now were counted.
test('the plan ends an hour past the range as well, and progress reaches its total', async () => {
  const hourMs = 3_600_000;
  const timesMs = Array.from({ length: 200 }, (_, index) => startMs + index * 60_000);
  // A log whose records were appended a minute apart.
  const log: ReadableLog = {
    partitions: () => 1,
    bounds: async (topic) => ({ first: 0, end: topic === topics.locations ? timesMs.length : 0 }),
    async read(topic, partition, offset, maxRecords) {
      const records = timesMs.slice(offset, offset + maxRecords).map((timestamp, index) => {
        const value = codecs.location.encode(location({ receivedAt: timestamp }));
        return { topic, partition, offset: offset + index, key: `${projectA}/test/phone`, value, timestamp };
      });
      return { records, nextOffset: offset + records.length };
    },
  };
  const opened = await openReplayCatalog(configuredFor(log, project, scope, {}));
  try {
    const range = { fromMs: startMs + hourMs / 2, toMs: startMs + hourMs };
    const { records, steps } = await prepareReplay({ log, catalog: opened.catalog, scope, range, warmUpMs: 0 });
    let totals = noTotals;
    for await (const step of steps()) totals = sumOf(totals, step.totals);
    expect([records, totals.records]).toEqual([90, 90]);
  } finally {
    await opened.close();
  }
});

// Locations that each entered and left hundreds of geofences were replayed 5,000 at a time, and ended their process.
test('regression: a step of a replay has a bounded number of events', async () => {
  const fences = [10, 11].flatMap((longitude) =>
    Array.from({ length: 100 }, (_, index) => circle(`${longitude} ${index}`, longitude, 100)),
  );
  const node = await nodeWith(fences);
  onTestFinished(() => node.dispose());
  const count = 220;
  const walk = Array.from({ length: count }, (_, index) =>
    location({
      id: idOf('walk', index),
      longitude: 10 + (index % 2),
      latitude: 50,
      occurredAt: startMs + index * stepMs,
      receivedAt: startMs + index * stepMs,
    }),
  );
  await node.append(...walk);
  const opened = await openReplayCatalog(configuredFor(node.embedded.log, project, scope, {}));
  onTestFinished(() => opened.close());
  const parts = { log: node.embedded.log, catalog: opened.catalog, scope, range: always };
  const sizes: number[] = [];
  let totals = noTotals;
  for await (const { events, totals: more } of (await prepareReplay(parts)).steps()) {
    sizes.push(events.length);
    totals = sumOf(totals, more);
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(20_000 + 200);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100 + (count - 1) * 200);
  expect(totals).toMatchObject({ records: count, results: { applied: count } });
});
