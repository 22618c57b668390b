/** Lists visits: entry, exit and duration. */
import Type from 'typebox';
import { placesSchema, readPlaces } from '../places.js';
import { minutes, placeRow, type Query, rangeOf, unset } from '../query.js';

/** Each entry with its exit, as one row. */
export const visits: Query = {
  name: 'visits',
  operationId: 'listVisits',
  summary: 'Visits: each entry with its exit, newest first',
  description:
    'A visit belongs to the range that contains its entry; its exit may be later. `state`: `ended`; `open`, without ' +
    'an exit so far; `unseen`, when the user entered again without an exit in between.',
  parameters: placesSchema,
  row: Type.Object({
    entry: Type.String({ description: '`_id` of the entry event' }),
    user: Type.String({ description: '`_id` of the user' }),
    userId: Type.Optional(Type.String()),
    deviceId: Type.String(),
    ...placeRow,
    enteredAt: Type.String({ format: 'date-time' }),
    exitedAt: Type.Optional(Type.String({ format: 'date-time' })),
    durationMinutes: minutes('From entry to exit'),
    state: Type.Enum(['ended', 'open', 'unseen']),
  }),
  build(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    return {
      sql: `SELECT each.id AS entry, each.user AS user, ${unset('user_id')} AS userId, each.device_id AS deviceId,
          ${unset('geofence')} AS geofence, ${unset('beacon')} AS beacon, ${unset('tag')} AS tag,
          ${unset('external_id')} AS externalId, each.entered_at AS enteredAt, each.exited_at AS exitedAt,
          each.duration_min AS durationMinutes, each.state AS state
        FROM ${rangeOf('visits')} WHERE ${chosen} ORDER BY enteredAt DESC, entry DESC`,
      parameters,
    };
  },
};
