import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveId } from '../../schemas/ids.js';
import type { Event } from '../../schemas/records.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import * as arbitrary from '../../schemas/testing/records.js';
import { eventRows } from '../../schemas/testing/rows.js';
import { useAnalytics } from '../testing/fixtures.js';
import { eventsStatement } from './events.js';
import { type EventFilters, eventMatcher } from './filters.js';

const analytics = await useAnalytics();

const any: EventFilters = {
  type: null,
  user: null,
  userId: null,
  deviceId: null,
  geofence: null,
  beacon: null,
  tag: null,
  externalId: null,
};

/** Returns the values of an event by filter, independently of the definition. */
const valuesOf = ({
  type,
  user,
  geofence,
  beacon,
}: Event): { [name in keyof EventFilters]: string | null | undefined } => ({
  type,
  user: user?.id,
  userId: user?.userId,
  deviceId: user?.deviceId,
  geofence: geofence?.id,
  beacon: beacon?.id,
  tag: geofence ? geofence.tag : beacon?.tag,
  externalId: geofence ? geofence.externalId : beacon?.externalId,
});

/** Generates filters that mostly match an event, and sometimes none. */
const filtersOf = (events: readonly Event[]): fc.Arbitrary<EventFilters> =>
  fc
    .tuple(
      fc.constantFrom(...events),
      fc.subarray(Object.keys(any) as (keyof EventFilters)[], { maxLength: 3 }),
      fc.option(
        fc.tuple(fc.constantFrom<keyof EventFilters>('userId', 'tag', 'type'), fc.string({ unit: 'grapheme' })),
        {
          freq: 4,
        },
      ),
    )
    .map(([event, names, other]) => {
      const values = valuesOf(event);
      const asked = Object.fromEntries(names.map((name) => [name, values[name] || null]));
      return { ...any, ...asked, ...(other?.[1] && { [other[0]]: other[1] }) };
    });

const worlds = fc
  .array(arbitrary.event, { minLength: 1, maxLength: 20 })
  .chain((events) => fc.tuple(fc.constant(events), fc.array(filtersOf(events), { minLength: 3, maxLength: 6 })));

let runs = 0;

test('filters the table and the topic alike', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ([drawn, asked]) => {
      runs += 1;
      const scope = { project: deriveId('project', `${runs}`), environment: 'test' as const };
      // The table drops events received more than a year ago.
      const actualCreatedAt = Date.now();
      const events = drawn.map((event, index) => ({
        ...event,
        ...scope,
        actualCreatedAt,
        id: deriveId(`${runs}`, `${index}`),
      }));
      await analytics.insert('events', eventRows(events));
      for (const filters of asked) {
        const { sql, parameters } = eventsStatement(scope, { ...filters, limit: 1_000, cursor: null });
        const rows = await analytics.query<{ id: string }>(sql, parameters);
        const kept = events.filter(eventMatcher(filters));
        expect(rows.map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort());
      }
    }),
    { numRuns: propertyRuns(25) },
  );
});

test('each filter matches events with its value and no others', () => {
  fc.assert(
    fc.property(arbitrary.event, arbitrary.event, (event, other) => {
      const [values, otherValues] = [valuesOf(event), valuesOf(other)];
      for (const name of Object.keys(any) as (keyof EventFilters)[]) {
        if (!values[name]) continue;
        const matches = eventMatcher({ ...any, [name]: values[name] });
        expect(matches(event)).toBe(true);
        expect(matches(other)).toBe(otherValues[name] === values[name]);
      }
    }),
  );
});
