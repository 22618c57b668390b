/** Counts devices that are inside each place now. */
import Type from 'typebox';
import { maxAheadMs } from '../../../http/location/occurred-at.js';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, person, placeRow, type Query, rangeOf } from '../query.js';

/** Devices that are inside now, by their last location. */
export const inside: Query = {
  name: 'inside',
  operationId: 'countDevicesInside',
  summary: 'Devices inside now',
  description:
    'Uses the last location of each device; most devices first. Only devices whose last location lies in the range ' +
    'count, so `from` sets how long a device may have been silent. A device shared by several users counts for the ' +
    'last one. `to` is five minutes ahead by default, as clocks of devices may be.',
  // A device whose clock is ahead would otherwise never count, as long as it reports.
  aheadMs: maxAheadMs,
  parameters: { ...placesSchema, ...groupingSchema('place') },
  row: Type.Object({
    ...placeRow,
    devices: count('Devices inside'),
    users: count('Different users of these devices'),
    lastUpdatedAt: Type.String({ format: 'date-time', description: 'Time of the most recent location' }),
  }),
  build(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'place'), 'updated_at');
    return {
      sql: `SELECT ${grouping.select} uniqExact(each.device_id) AS devices, uniqExact(${person}) AS users,
          max(each.updated_at) AS lastUpdatedAt
        FROM ${rangeOf('devices_inside')} WHERE ${chosen} ${groupBy(grouping.keys)}
        ORDER BY ${['devices DESC', ...grouping.keys].join(', ')}`,
      parameters,
    };
  },
};
