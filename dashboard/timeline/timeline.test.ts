import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event, ExplainedFence, Explanation, UserLocation } from '../../client/types';
import { readPages } from './pages';
import { sightOf } from './sight';
import { hasEvents, type Item, locationMark, locationTitle, pathsOf, reasonsOf, timelineOf } from './timeline';

const timeAt = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const event = (id: string, more: object = {}): Event => ({
  _id: id,
  type: 'user.entered_geofence',
  createdAt: timeAt(1),
  actualCreatedAt: timeAt(1),
  live: false,
  confidence: 3,
  ...more,
});
const location = (id: string, minute = 1, events: string[] = []): UserLocation => ({
  _id: id,
  at: timeAt(minute),
  receivedAt: timeAt(minute),
  locationAccuracy: 20,
  foreground: true,
  stopped: false,
  location: { type: 'Point', coordinates: [0, 0] },
  replayed: false,
  result: 'applied',
  geofences: [],
  events,
});
const fence = (id: string, code: string, more: Partial<ExplainedFence> = {}): ExplainedFence => ({
  _id: id,
  description: `Fence ${id}`,
  wasInside: false,
  rule: { code: code as never, text: `Rule ${code}.` },
  ...more,
});
const explanation = (fences: ExplainedFence[]): Explanation => ({
  evaluatedAt: timeAt(1),
  evaluation: { result: 'applied', transitions: [] },
  fences,
});
const inFence = (id: string) => ({ geofence: { _id: id, description: `Fence ${id}` } });

describe('a timeline', () => {
  test('has every location and every event once, newest first, each event at the location that caused it', () => {
    const given = fc.record({
      locations: fc.array(fc.tuple(fc.nat(50), fc.uniqueArray(fc.nat(20), { maxLength: 3 })), { maxLength: 8 }),
      events: fc.uniqueArray(fc.tuple(fc.nat(20), fc.nat(50)), { selector: ([id]) => id, maxLength: 12 }),
    });
    fc.assert(
      fc.property(given, ({ locations, events }) => {
        const items = timelineOf(
          locations.map(([minute, ids], index) => location(`${index}`, minute, ids.map(String))),
          events.map(([id, minute]) => event(`${id}`, { createdAt: timeAt(minute) })),
        );
        const times = items.map(({ at }) => at);
        expect(times).toEqual([...times].sort().reverse());
        const places = items.flatMap((item) => (item.kind === 'location' ? [item.location._id] : []));
        expect(places.sort()).toEqual(locations.map((_, index) => `${index}`).sort());
        const shown = items.flatMap((item) => (item.kind === 'location' ? item.events : [item.event]));
        expect(shown.map(({ _id }) => _id).sort()).toEqual(events.map(([id]) => `${id}`).sort());
        for (const item of items) {
          const isCaused = (id: string) => locations.some(([, ids]) => ids.map(String).includes(id));
          if (item.kind === 'event') expect(isCaused(item.event._id)).toBe(false);
          else for (const { _id } of item.events) expect(item.location.events).toContain(_id);
        }
      }),
    );
  });
});

// A user had 1,300 locations, nearly all with three events. Only one page of 1,000 events was read, so the list called
// the older locations "No event", and "Only events" left them out.
describe('a timeline with more events than a page', () => {
  test('knows that a location caused events which are not loaded', () => {
    const items = timelineOf(
      [location('new', 3, ['1', '2']), location('old', 2, ['3', '4']), location('none', 1)],
      [event('1', { createdAt: timeAt(3), ...inFence('a') })],
    ) as Extract<Item, { kind: 'location' }>[];
    expect(items.map(hasEvents)).toEqual([true, true, false]);
    expect(items.map(locationTitle)).toEqual(['2 events', '2 events', 'No event']);
    expect(items.map(locationMark)).toEqual(['entered', 'other', 'none']);
  });

  test('reads every page, up to a bound', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat()), fc.integer({ min: 1, max: 5 }), fc.nat(40), async (all, size, max) => {
        const read = async (cursor = '0') => {
          const end = Number(cursor) + size;
          return { items: all.slice(Number(cursor), end), cursor: end < all.length ? `${end}` : undefined };
        };
        const { items, hasMore } = await readPages(read, max);
        expect(items).toEqual(all.slice(0, items.length));
        expect(hasMore).toBe(items.length < all.length);
        if (hasMore) expect(items.length).toBeGreaterThanOrEqual(max);
        expect(items.length).toBeLessThan(max + size + 1);
      }),
    );
  });
});

describe('reasons', () => {
  test('say with numbers why an event happened, and why none did', () => {
    const near = fence('a', 'entered', { distance_m: 12, overlap: 1, zone: 'within', entryConfidence: 3 });
    const far = fence('b', 'stays_outside_boundary', { distance_m: -230.4, overlap: 0, zone: 'apart' });
    const half = fence('c', 'confidence_below_minimum', {
      distance_m: 2.04,
      overlap: 0.62,
      zone: 'partly',
      entryConfidence: 2,
      exitConfidence: 1,
    });
    const left = fence('d', 'already_inside', { wasInside: true, distance_m: 40, overlap: 1, zone: 'within' });
    const before = { geofences: [{ _id: 'd', since: timeAt(-64) }] };
    const events = [event('1', inFence('a'))];
    const all = [near, far, half, left];
    const reasons = reasonsOf({ location: location('x'), before, explanation: explanation(all), events });
    expect(reasons.map(({ title, verdict, text }) => [title, verdict, text])).toEqual([
      [
        ...['Entered Fence a', 'happened'],
        '12 m inside the boundary. The whole circle of accuracy (±20 m) lies inside. Confidence 3 of 3. Rule entered.',
      ],
      [
        ...['No event for Fence b', 'none'],
        '230 m outside the boundary. The circle of accuracy (±20 m) does not reach it. Rule stays_outside_boundary.',
      ],
      [
        ...['No event for Fence c', 'none'],
        '2.0 m inside the boundary. 62 % of the circle of accuracy (±20 m) lies inside. Confidence 2 of 3. ' +
          'Rule confidence_below_minimum.',
      ],
      [
        ...['No event for Fence d', 'none'],
        '40 m inside the boundary. The whole circle of accuracy (±20 m) lies inside. Inside for 1 h 5 min before. ' +
          'Rule already_inside.',
      ],
    ]);
  });

  test('have every recorded event of a geofence once, and every examined geofence', () => {
    const codes = ['entered', 'exited', 'dwelled', 'stays_outside_boundary', 'already_inside'];
    const types = ['user.entered_geofence', 'user.exited_geofence', 'user.dwelled_in_geofence'];
    const given = fc.record({
      fences: fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom(...codes)), {
        selector: ([id]) => id,
      }),
      events: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom(...types)), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(given, ({ fences, events }) => {
        const recorded = events.map(([id, type], index) => event(`${index}`, { type, ...inFence(id) }));
        const reasons = reasonsOf({
          location: location('x'),
          explanation: explanation(fences.map(([id, code]) => fence(id, code))),
          events: recorded,
        });
        const shown = reasons.flatMap(({ event }) => (event ? [event._id] : []));
        expect(shown.sort()).toEqual(recorded.map(({ _id }) => _id).sort());
        for (const [id] of fences) expect(reasons.some((reason) => reason.fence._id === id)).toBe(true);
        for (const { verdict, event, fence } of reasons) {
          const type = { entered: types[0], exited: types[1], dwelled: types[2] }[fence.rule.code as string];
          const expected =
            event && event.type === type ? 'happened' : event ? 'recorded only' : type ? 'not recorded' : 'none';
          expect(verdict).toBe(expected);
        }
      }),
    );
  });
});

describe('the map of a timeline', () => {
  const pathsAt = (...minutes: number[]) =>
    pathsOf(minutes.toReversed().map((minute) => location(`${minute}`, minute))).map((path) =>
      path.map(({ _id }) => Number(_id)),
    );

  test('has no line over hours without a location (fault: a line led from the evening to the morning)', () => {
    expect(pathsAt(0, 1, 2, 16, 480, 481)).toEqual([
      [0, 1, 2, 16],
      [480, 481],
    ]);
    expect(pathsAt()).toEqual([]);
  });

  test('joins the locations of a device that reports seldom, and leaves out those that were not applied', () => {
    expect(pathsAt(0, 30, 60, 90, 120, 300)).toEqual([[0, 30, 60, 90, 120], [300]]);
    const stale = { ...location('stale', 1), result: 'stale' } as UserLocation;
    expect(pathsOf([location('2', 2), stale, location('0', 0)]).flat()).not.toContain(stale);
  });

  test('shows visited geofences whole, but for those that would make the path a dot (fault: edges were cut)', () => {
    const way = [
      [11.25, 43.77],
      [11.26, 43.77],
    ] as const;
    const square = (degrees: number) =>
      [
        [11.25 - degrees, 43.77 - degrees],
        [11.25 + degrees, 43.77 + degrees],
      ] as const;
    expect(sightOf(way, [square(0.01), square(3)])).toEqual([...way, ...square(0.01)]);
    expect(sightOf([way[0]], [square(0.005)])).toHaveLength(3);
    expect(sightOf([], [square(3)])).toEqual([]);
    expect(
      sightOf(
        [[179.999, 0]],
        [
          [
            [179.995, 0],
            [-179.995, 0],
          ],
        ],
      ),
    ).toHaveLength(3);
  });
});
