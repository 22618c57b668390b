/** Counts unique users. */
import Type from 'typebox';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, person, placeRow, type Query, rangeOf } from '../query.js';

/** Different users and devices that entered, and their entries. */
export const uniqueUsers: Query = {
  name: 'unique-users',
  operationId: 'countUniqueUsers',
  summary: 'Unique users of each geofence or tag',
  description:
    'Counts users who entered within the range; most users first. Users with the same `userId` count once across ' +
    'devices; without a `userId` each user record counts.',
  parameters: { ...placesSchema, ...groupingSchema('place') },
  row: Type.Object({
    ...placeRow,
    users: count('Unique users'),
    devices: count('Unique devices'),
    entries: count('Entries'),
  }),
  build(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'place'), 'entered_at');
    return {
      sql: `SELECT ${grouping.select} uniqExact(${person}) AS users, uniqExact(each.device_id) AS devices,
          count() AS entries
        FROM ${rangeOf('entries')} WHERE ${chosen} ${groupBy(grouping.keys)}
        ORDER BY ${['users DESC', ...grouping.keys].join(', ')}`,
      parameters,
    };
  },
};
