/** How many different users came. */
import Type from 'typebox';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, person, placeRow, type Question, rangeOf } from '../query.js';

export const uniqueUsers: Question = {
  name: 'unique-users',
  operationId: 'countUniqueUsers',
  summary: 'Unique users of each geofence or tag',
  description:
    'Of those who entered within the range, most users first. A user is one by `userId`, on whatever device; without a `userId` each user record counts.',
  parameters: { ...placesSchema, ...groupingSchema('place') },
  row: Type.Object({
    ...placeRow,
    users: count('Different users'),
    devices: count('Different devices'),
    entries: count('Entries'),
  }),
  ask(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'place'), 'entered_at');
    return {
      sql: `SELECT ${grouping.select} uniqExact(${person}) AS users, uniqExact(each.device_id) AS devices, count() AS entries
        FROM ${rangeOf('entries')} WHERE ${chosen} ${groupBy(grouping.keys)} ORDER BY ${['users DESC', ...grouping.keys].join(', ')}`,
      parameters,
    };
  },
};
