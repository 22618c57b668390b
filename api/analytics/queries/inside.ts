/** Which devices are where now. */
import Type from 'typebox';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, person, placeRow, type Question, rangeOf } from '../query.js';

export const inside: Question = {
  name: 'inside',
  operationId: 'countDevicesInside',
  summary: 'Devices inside now',
  description:
    'As the last location of each device left it, most devices first. Only devices whose last location lies in the range count; `from` tells how long a device may have been silent. A device that several users have used counts for the last one.',
  parameters: { ...placesSchema, ...groupingSchema('place') },
  row: Type.Object({
    ...placeRow,
    devices: count('Inside'),
    users: count('Different users of these devices'),
    lastUpdatedAt: Type.String({ format: 'date-time', description: 'Of the device that was heard of last' }),
  }),
  ask(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'place'), 'updated_at');
    return {
      sql: `SELECT ${grouping.select} uniqExact(each.device_id) AS devices, uniqExact(${person}) AS users, max(each.updated_at) AS lastUpdatedAt
        FROM ${rangeOf('devices_inside')} WHERE ${chosen} ${groupBy(grouping.keys)} ORDER BY ${['devices DESC', ...grouping.keys].join(', ')}`,
      parameters,
    };
  },
};
