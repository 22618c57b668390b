/** Who was where, from when to when. */
import Type from 'typebox';
import { placesSchema, readPlaces } from '../places.js';
import { minutes, placeRow, type Question, rangeOf, unset } from '../query.js';

export const visits: Question = {
  name: 'visits',
  operationId: 'listVisits',
  summary: 'Visits: each entry with the exit that ended it, newest first',
  description:
    'A visit belongs to the range that its entry lies in; its exit may lie after it. `state`: `ended`; `open`, while no exit came; `unseen`, when the user entered again without an exit in between.',
  parameters: placesSchema,
  row: Type.Object({
    entry: Type.String({ description: '`_id` of the event of the entry' }),
    user: Type.String({ description: '`_id` of the user' }),
    userId: Type.Optional(Type.String()),
    deviceId: Type.String(),
    ...placeRow,
    enteredAt: Type.String({ format: 'date-time' }),
    exitedAt: Type.Optional(Type.String({ format: 'date-time' })),
    durationMinutes: minutes('From entry to exit'),
    state: Type.Enum(['ended', 'open', 'unseen']),
  }),
  ask(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    return {
      sql: `SELECT each.id AS entry, each.user AS user, ${unset('user_id')} AS userId, each.device_id AS deviceId,
        ${unset('geofence')} AS geofence, ${unset('beacon')} AS beacon, ${unset('tag')} AS tag, ${unset('external_id')} AS externalId,
        each.entered_at AS enteredAt, each.exited_at AS exitedAt, each.duration_min AS durationMinutes, each.state AS state
        FROM ${rangeOf('visits')} WHERE ${chosen} ORDER BY enteredAt DESC, entry DESC`,
      parameters,
    };
  },
};
