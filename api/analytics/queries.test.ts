import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slotsOf, startOfHour } from '../../dashboard/analytics/range.js';
import type { Event } from '../../schemas/records.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { type Body, useAnalytics, useApi } from '../testing/fixtures.js';
import * as oracle from './testing/oracle.js';
import { eventsOf, history, places, quarterMs, storeEvents } from './testing/world.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

/** Selects a part of the history and of the places. */
interface Choice {
  readonly fromQuarter: number;
  readonly quarters: number;
  readonly filter: readonly [query: string, kind: 'geofence' | 'beacon', keep: (event: Event) => boolean];
  readonly groupBy: oracle.Grouping;
}

const filters: Choice['filter'][] = [
  ['', 'geofence', () => true],
  ['kind=beacon', 'beacon', () => true],
  [`geofence=${places[1]?.id}`, 'geofence', ({ geofence }) => geofence?.id === places[1]?.id],
  [`beacon=${places[4]?.id}`, 'beacon', ({ beacon }) => beacon?.id === places[4]?.id],
  ['tag=shop', 'geofence', ({ geofence }) => geofence?.tag === 'shop'],
  [
    'tag=shop&kind=beacon&externalId=store-4',
    'beacon',
    ({ beacon }) => beacon?.externalId === 'store-4' && beacon.tag === 'shop',
  ],
  ['userId=ann', 'geofence', ({ user }) => user?.userId === 'ann'],
];

const choice: fc.Arbitrary<Choice> = fc.record({
  fromQuarter: fc.oneof(fc.integer({ min: -2, max: 10 }), fc.integer({ min: -4, max: 200 })),
  quarters: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 700 })),
  filter: fc.constantFrom(...filters),
  groupBy: fc.constantFrom('place', 'tag', 'none'),
});

/** Random histories, each in a project of its own. All tests query them: storing one takes longer than a query. */
const worlds = await Promise.all(
  fc.sample(history, { numRuns: 40, seed: 1 }).map(async ({ repeated, ...rest }) => {
    const project = await api.newProject('Analytics');
    return {
      ...rest,
      repeated,
      key: project.key('test', 'secret'),
      events: eventsOf(rest, project.record._id, Date.now()),
    };
  }),
);
type World = (typeof worlds)[number];
const stored = worlds.flatMap(({ events }) => events);
const storedTwice = worlds.flatMap(({ events, repeated }) =>
  events.length === 0 ? [] : repeated.map((index) => stored.indexOf(events[index % events.length]!)),
);
await storeEvents(analytics, stored, storedTwice);

const world = fc.constantFrom(...worlds);

async function ask(
  { startMs, key }: World,
  name: string,
  { fromQuarter, quarters, filter: [query, kind, keep] }: Choice,
  more: string,
) {
  const fromMs = startMs + fromQuarter * quarterMs;
  const toMs = fromMs + quarters * quarterMs;
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
  const { status, body } = await api.call('GET', `/v1/analytics/${name}?${range}&${query}&${more}&limit=10000`, {
    key,
  });
  expect({ status, ...body.meta }).toMatchObject({ status: 200, hasMore: false, from: new Date(fromMs).toISOString() });
  return { rows: body.rows as Body[], selection: { fromMs, toMs, kind, keep } satisfies oracle.Selection };
}

/** Rounds fractions, which differ in their last digits. */
const rounded = (rows: readonly object[]): object[] =>
  JSON.parse(JSON.stringify(rows, (_, value) => (typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : value)));

/** Sorts rows whose order is tested elsewhere. */
const sorted = (rows: readonly object[]): string[] => {
  const inOrder = (row: object) =>
    JSON.stringify(Object.fromEntries(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))));
  return rounded(rows).map(inOrder).sort();
};

const runs = { numRuns: propertyRuns(30) };

test('visits pair each entry with the next exit, newest first', async () => {
  await fc.assert(
    fc.asyncProperty(world, choice, async (past, chosen) => {
      const { rows, selection } = await ask(past, 'visits', chosen, '');
      expect(rounded(rows)).toEqual(rounded(oracle.visits(past.events, selection)));
    }),
    runs,
  );
});

test('dwell times match the oracle: quantiles and histogram of ended visits', async () => {
  const bounds = fc
    .uniqueArray(fc.integer({ min: 1, max: 800 }), { minLength: 1, maxLength: 5 })
    .map((list) => list.sort((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(world, choice, bounds, async (past, chosen, limits) => {
      const { rows, selection } = await ask(
        past,
        'dwell-times',
        chosen,
        `groupBy=${chosen.groupBy}&bounds=${limits.join()}`,
      );
      expect(sorted(rows)).toEqual(sorted(oracle.dwellTimes(past.events, selection, chosen.groupBy, limits)));
      expect(rows.map(({ visits }) => visits)).toEqual(
        rows.map(({ visits }) => visits).sort((one, other) => other - one),
      );
    }),
    runs,
  );
});

test.each(['Europe/Rome', 'America/St_Johns', 'Pacific/Chatham', 'Australia/Lord_Howe', 'UTC'])(
  'entries are counted by the hours and days of %s, where clocks change too',
  async (timeZone) => {
    await fc.assert(
      fc.asyncProperty(
        world,
        choice,
        fc.constantFrom('hour' as const, 'day' as const),
        async (past, chosen, interval) => {
          const query = `groupBy=${chosen.groupBy}&interval=${interval}&timeZone=${timeZone}`;
          const { rows, selection } = await ask(past, 'entries', chosen, query);
          expect(sorted(rows)).toEqual(
            sorted(oracle.entries(past.events, selection, chosen.groupBy, interval, timeZone)),
          );
          expect(rows.map(({ start }) => start)).toEqual(rows.map(({ start }) => start).sort());
        },
      ),
      runs,
    );
  },
);

// In India the dashboard showed 1,956 entries beside an empty chart and an empty table: its hours began at the hours of
// UTC, those of the server at 23:30Z, and rows of no known hour were dropped.
test.each([
  ...['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Adelaide', 'America/St_Johns', 'Australia/Lord_Howe'],
  ...['Europe/Rome', 'UTC'],
])('the dashboard has a bar for each hour and day that the server counts in %s', async (timeZone) => {
  await fc.assert(
    fc.asyncProperty(
      world,
      choice,
      fc.constantFrom('hour' as const, 'day' as const),
      async (past, chosen, interval) => {
        const { rows, selection } = await ask(past, 'entries', chosen, `interval=${interval}&timeZone=${timeZone}`);
        const [from, to] = [selection.fromMs, selection.toMs].map((timeMs) => new Date(timeMs).toISOString());
        const keys = slotsOf(from!, to!, { interval, timeZone }).map(({ key }) => key);
        expect(keys).toEqual([...new Set(keys)].sort());
        expect(keys).toEqual(expect.arrayContaining(rows.map((row) => (interval === 'hour' ? row.start : row.local))));
        if (interval === 'hour') expect(keys[0]).toBe(new Date(startOfHour(selection.fromMs, timeZone)).toISOString());
      },
    ),
    runs,
  );
});

test('unique users count once per userId across devices', async () => {
  await fc.assert(
    fc.asyncProperty(world, choice, async (past, chosen) => {
      const { rows, selection } = await ask(past, 'unique-users', chosen, `groupBy=${chosen.groupBy}`);
      expect(sorted(rows)).toEqual(sorted(oracle.uniqueUsers(past.events, selection, chosen.groupBy)));
    }),
    runs,
  );
});

test('flows pair each exit with the next entry within the time limit', async () => {
  await fc.assert(
    fc.asyncProperty(world, choice, fc.constantFrom(1, 15, 60, 1_440), async (past, chosen, minutes) => {
      const { rows, selection } = await ask(past, 'flows', chosen, `groupBy=${chosen.groupBy}&within=${minutes}`);
      expect(sorted(rows)).toEqual(sorted(oracle.flows(past.events, selection, chosen.groupBy, minutes)));
    }),
    runs,
  );
});
