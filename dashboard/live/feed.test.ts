import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../client/types';
import {
  type Arrived,
  addArrived,
  createInbox,
  emptyFeed,
  matchesFilter,
  maxEvents,
  medianLagMs,
  resume,
} from './feed';

const arrived = (id: string, more: Partial<Event> = {}, arrivedAtMs = 0): Arrived => ({
  arrivedAtMs,
  event: {
    _id: id,
    type: 'user.entered_geofence',
    createdAt: '2026-01-01T00:00:00.000Z',
    live: false,
    confidence: 3,
    actualCreatedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  },
});
const idsOf = (all: readonly Arrived[]) => all.map(({ event }) => event._id);

describe('the feed', () => {
  test('has each event once, newest first, whether they come twice or the reader pauses', () => {
    const step = fc.record({
      ids: fc.array(fc.integer({ min: 0, max: 30 }).map(String), { maxLength: 8 }),
      isPaused: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let feed = emptyFeed;
        for (const { ids, isPaused } of steps) {
          if (!isPaused) feed = resume(feed);
          feed = addArrived(
            feed,
            ids.map((id) => arrived(id)),
            isPaused,
          );
          if (!isPaused) expect(feed.held).toEqual([]);
        }
        // The order of the first arrivals, the newest first.
        const expected = [...new Set(steps.flatMap(({ ids }) => ids))].reverse();
        expect(idsOf(resume(feed).shown)).toEqual(expected);
      }),
    );
  });

  test('keeps the newest', () => {
    const many = Array.from({ length: maxEvents + 5 }, (_, index) => arrived(`${index}`));
    const { shown } = addArrived(emptyFeed, many, false);
    expect([shown.length, shown[0]!.event._id]).toEqual([maxEvents, `${maxEvents + 4}`]);
  });

  // While the page was hidden or paused, events were kept without a bound, or left out without a word.
  test('counts what it does not keep, also of a page that is hidden or paused', () => {
    const inbox = createInbox();
    const count = 5 * maxEvents;
    for (let index = 0; index < count; index++) inbox.add(arrived(`${index}`));
    const { arrived: taken, dropped } = inbox.take();
    expect(taken.length).toBeLessThanOrEqual(2 * maxEvents);
    expect([taken.length + dropped, taken.at(-1)!.event._id]).toEqual([count, `${count - 1}`]);
    expect(inbox.take()).toEqual({ arrived: [], dropped: 0 });
    const shown = addArrived(emptyFeed, [arrived('first')], false);
    const held = addArrived(shown, taken, true, dropped);
    expect([held.shown.length, held.held.length, held.dropped]).toEqual([1, maxEvents, count - maxEvents]);
    expect(resume(held)).toMatchObject({ shown: { length: maxEvents }, held: [], dropped: count + 1 - maxEvents });
  });
});

test.each([
  [{}, true],
  [{ type: 'user.entered_geofence' }, true],
  [{ type: 'user.exited_geofence' }, false],
  [{ tag: 'ST' }, true],
  [{ tag: 'tore' }, false],
  [{ user: 'NN' }, true],
  [{ user: 'phone-1' }, true],
  [{ user: 'phone-2' }, false],
])('the filter %j matches: %s', (filter, isMatching) => {
  const geofence = { tag: 'store' } as Event['geofence'];
  const { event } = arrived('1', { geofence, user: { userId: 'anna', deviceId: 'phone-1' } } as Partial<Event>);
  expect(matchesFilter(event, { type: '', tag: '', user: '', ...filter })).toBe(isMatching);
});

test('the lag is the middle one, by the clock of the server', () => {
  const startMs = Date.parse('2026-01-01T00:00:00.000Z');
  const all = [100, 9_000, 300].map((lagMs, index) => arrived(`${index}`, {}, startMs + lagMs + 60_000));
  expect(medianLagMs(all, 60_000)).toBe(300);
  expect(medianLagMs([], 0)).toBeUndefined();
});
