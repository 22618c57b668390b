/** Counts entries by hour or day. */
import Type from 'typebox';
import { intervalMeta, intervalRow, intervalsSchema, readInterval, readIntervals } from '../intervals.js';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, placeRow, type Query, rangeOf } from '../query.js';

/** Entries by hour or day of a time zone. */
export const entries: Query = {
  name: 'entries',
  operationId: 'countEntries',
  summary: 'Entries by hour or day of a time zone',
  description:
    'Ordered by time. Hours and days without an entry have no row. The first and last interval count only entries ' +
    'within the range.',
  parameters: { ...intervalsSchema('day'), ...placesSchema, ...groupingSchema('none') },
  row: Type.Object({ ...intervalRow, ...placeRow, entries: count('Entries in the hour or day') }),
  meta: intervalMeta,
  build(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'none'), 'entered_at');
    const intervals = readIntervals(reader, readInterval(reader) ?? 'day', 'entered_at');
    const keys = ['start', 'local', ...grouping.keys];
    return {
      sql: `SELECT ${intervals.select} ${grouping.select} count() AS entries
        FROM ${rangeOf('entries')} WHERE ${chosen} ${groupBy(keys)} ORDER BY ${keys.join(', ')}`,
      parameters: { ...parameters, ...intervals.parameters },
      meta: intervals.meta,
    };
  },
};
