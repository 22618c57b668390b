/** The last positions of users in the order of their receipt, for maps that follow many devices. */
import Type, { type Static } from 'typebox';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import { Id, Position, Timestamp } from '../../schemas/json/common.js';
import { isoTime, withoutUnset } from '../../schemas/wire/common.js';
import { pageMeta } from '../lists.js';
import { where } from '../sql.js';

/** Most positions of one answer. */
export const maxPositions = 5_000;
const defaultPositions = 1_000;

/** `after`: exclusive, by the server's time of receipt, epoch ms. */
interface PositionQuery {
  readonly limit: number;
  readonly after: number | null;
}

/** Where a user was last. */
export const UserPosition = Type.Object(
  {
    user: Id,
    userId: Type.Optional(Type.String()),
    deviceId: Type.String(),
    coordinates: Position,
    accuracy: Type.Number({ description: 'Metres' }),
    at: Timestamp,
    receivedAt: Timestamp,
    geofences: Type.Integer({ description: 'Number of geofences that the user was inside of' }),
  },
  { $id: 'UserPosition', description: 'Where a user was last' },
);
export type UserPosition = Static<typeof UserPosition>;

interface Row {
  readonly user: string;
  readonly userId: string;
  readonly deviceId: string;
  readonly longitude: number;
  readonly latitude: number;
  readonly accuracy: number;
  readonly atMs: number;
  readonly receivedMs: number;
  readonly geofences: number;
}

/** Reads `limit` and `after`, in epoch ms. */
export function readPositionQuery(query: RawFields): Outcome<PositionQuery> {
  const reader = new FieldReader(query);
  const limit = reader.integer('limit', { minimum: 1, maximum: maxPositions }) ?? defaultPositions;
  const after = reader.time('after');
  return reader.outcome(() => ({ limit, after: after && Math.max(0, after) }));
}

/** Returns the last position of each user, last received first. */
export async function listPositions(
  analytics: Pick<Analytics, 'query'>,
  scope: Scope,
  { limit, after }: PositionQuery,
) {
  const { sql, parameters } = where(scope, [['actual_updated_at > {time}', after]]);
  // The newest row of a user comes first, so LIMIT 1 BY replaces FINAL.
  const rows = await analytics.query<Row>(
    `SELECT user, user_id AS userId, device_id AS deviceId,
        JSONExtractFloat(body, 'last', 'longitude') AS longitude,
        JSONExtractFloat(body, 'last', 'latitude') AS latitude,
        JSONExtractFloat(body, 'last', 'accuracy_m') AS accuracy, toUnixTimestamp64Milli(updated_at) AS atMs,
        toUnixTimestamp64Milli(actual_updated_at) AS receivedMs, length(geofences) AS geofences
      FROM users WHERE ${sql}
      ORDER BY actual_updated_at DESC, user, updated_at DESC LIMIT 1 BY user LIMIT ${limit + 1}`,
    parameters,
  );
  return {
    meta: pageMeta(rows.length > limit, null),
    positions: rows.slice(0, limit).map(
      (row): UserPosition => ({
        user: row.user,
        ...withoutUnset({ userId: row.userId || null }),
        deviceId: row.deviceId,
        coordinates: [row.longitude, row.latitude],
        accuracy: row.accuracy,
        at: isoTime(row.atMs),
        receivedAt: isoTime(row.receivedMs),
        geofences: Number(row.geofences),
      }),
    ),
  };
}
