/** Counts flows: the place a user enters next after leaving a place. */
import Type from 'typebox';
import {
  endGrouping,
  type GroupBy,
  groupBy,
  groupingSchema,
  placesSchema,
  readGroupBy,
  readPlaces,
} from '../places.js';
import { count, minutes, person, placeRow, type Query, rangeOf } from '../query.js';

const defaultWithinMinutes = 60;
const maxWithinMinutes = 1_440;

const columns = {
  geofence: 'from_geofence',
  beacon: 'from_beacon',
  tag: 'from_tag',
  externalId: 'from_external_id',
  toGeofence: 'to_geofence',
  toBeacon: 'to_beacon',
  toTag: 'to_tag',
  toExternalId: 'to_external_id',
  userId: 'user_id',
};

const { geofence, beacon, tag, externalId } = placesSchema;
const byDefault: GroupBy = 'place';

/** Pairs of an exit and the entry that follows within some minutes. */
export const flows: Query = {
  name: 'flows',
  operationId: 'countFlows',
  summary: 'Flows from place to place, largest first',
  description:
    'Pairs every exit from a place with the place that the user entered next, at most `within` minutes later. ' +
    'Returning to the same place counts too. A flow belongs to the range that contains its exit. `geofence`, ' +
    '`beacon`, `tag` and `externalId` filter by the place that was left.',
  parameters: {
    within: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxWithinMinutes, default: defaultWithinMinutes, description: 'Minutes' }),
    ),
    ...placesSchema,
    toGeofence: geofence,
    toBeacon: beacon,
    toTag: tag,
    toExternalId: externalId,
    ...groupingSchema(byDefault),
  },
  row: Type.Object({
    fromGeofence: placeRow.geofence,
    fromBeacon: placeRow.beacon,
    fromTag: placeRow.tag,
    fromExternalId: placeRow.externalId,
    fromDescription: placeRow.description,
    toGeofence: placeRow.geofence,
    toBeacon: placeRow.beacon,
    toTag: placeRow.tag,
    toExternalId: placeRow.externalId,
    toDescription: placeRow.description,
    flows: count('Number of flows'),
    users: count('Different users'),
    medianMinutes: minutes('Median time from exit to entry'),
  }),
  meta: { withinMinutes: Type.Integer() },
  build(reader) {
    const within = reader.integer('within', { minimum: 1, maximum: maxWithinMinutes }) ?? defaultWithinMinutes;
    const { sql: chosen, parameters } = readPlaces(reader, columns);
    const by = readGroupBy(reader, byDefault);
    const [from, to] = [endGrouping('from', by, 'left_at'), endGrouping('to', by, 'entered_at')];
    const keys = [...from.keys, ...to.keys];
    return {
      sql: `SELECT ${from.select} ${to.select} count() AS flows, uniqExact(${person}) AS users,
          quantileExactInclusive(0.5)(each.gap_min) AS medianMinutes
        FROM ${rangeOf('flows', ', within_min = {within:UInt16}')} WHERE ${chosen} ${groupBy(keys)}
        ORDER BY ${['flows DESC', ...keys].join(', ')}`,
      parameters: { ...parameters, within },
      meta: { withinMinutes: within },
    };
  },
};
