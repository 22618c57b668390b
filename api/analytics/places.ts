/** Filters of a query by geofence or beacon, and the grouping of its rows. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import { optionalText, type QueryStatement, unset } from './query.js';

/** Columns of the views by parameter name. */
const places = { geofence: 'geofence', beacon: 'beacon', tag: 'tag', externalId: 'external_id', userId: 'user_id' };

/** Builds the conditions on the view's rows, joined by AND. */
export function readPlaces(reader: FieldReader, columns: Readonly<Record<string, string>> = places): QueryStatement {
  const given = Object.entries(columns).flatMap(([name, column]) => {
    const value = reader.text(name);
    return value === null ? [] : [{ name, column, value }];
  });
  const isBeacon = given.some(({ column }) => column.endsWith('beacon'));
  const kind = reader.choice('kind', ['geofence', 'beacon']) ?? (isBeacon ? 'beacon' : 'geofence');
  return {
    sql: ['each.kind = {kind:String}', ...given.map(({ name, column }) => `each.${column} = {${name}:String}`)].join(
      ' AND ',
    ),
    parameters: { kind, ...Object.fromEntries(given.map(({ name, value }) => [name, value])) },
  };
}

/** The filters that select geofences or beacons, and their user. */
export const placesSchema = {
  kind: Type.Optional(
    Type.Enum(['geofence', 'beacon'], {
      default: 'geofence',
      description: 'Kind of place; `beacon` when parameter `beacon` is given',
    }),
  ),
  geofence: optionalText('`_id` of the geofence'),
  beacon: optionalText('`_id` of the beacon'),
  tag: optionalText('Tag of the geofence or beacon'),
  externalId: optionalText('External id of the geofence or beacon'),
  userId: optionalText('Id that your app gave the user'),
};

/** What a row counts: one geofence or beacon, all with one tag, or all. */
export type GroupBy = 'place' | 'tag' | 'none';

/** Reads `groupBy`, or returns the default. */
export const readGroupBy = (reader: FieldReader, byDefault: GroupBy): GroupBy =>
  reader.choice('groupBy', ['place', 'tag', 'none']) ?? byDefault;

/** SQL of a grouping. */
interface Grouping {
  /** Columns to select, with a trailing comma. */
  readonly select: string;
  readonly keys: readonly string[];
}

/** Groups by place, tag or not at all. A place is shown with the newest tag and externalId among its rows. */
export function placeGrouping(by: GroupBy, timeColumn: string): Grouping {
  const newest = (column: string) => `nullIf(argMax(each.${column}, each.${timeColumn}), '')`;
  switch (by) {
    case 'place':
      return {
        select: `${unset('geofence')} AS geofence, ${unset('beacon')} AS beacon,
          ${newest('tag')} AS tag, ${newest('external_id')} AS externalId, `,
        keys: ['each.geofence', 'each.beacon'],
      };
    case 'tag':
      return { select: `${unset('tag')} AS tag, `, keys: ['each.tag'] };
    case 'none':
      return { select: '', keys: [] };
  }
}

/**
 * Returns a grouping like {@link placeGrouping}, for one end of a flow: column `from_geofence` becomes `fromGeofence`.
 */
export function endGrouping(end: 'from' | 'to', by: GroupBy, timeColumn: string): Grouping {
  const { select, keys } = placeGrouping(by, timeColumn);
  return {
    select: select
      .replaceAll(/each\.(geofence|beacon|tag|external_id)/g, `each.${end}_$1`)
      .replaceAll(/AS (\w)/g, (_, initial: string) => `AS ${end}${initial.toUpperCase()}`),
    keys: keys.map((key) => key.replace('each.', `each.${end}_`)),
  };
}

/** Returns the GROUP BY clause; empty without keys, which makes one group of all rows. */
export const groupBy = (keys: readonly string[]): string => (keys.length === 0 ? '' : `GROUP BY ${keys.join(', ')}`);

/** Returns the parameter `groupBy` with the default of the query. */
export const groupingSchema = (byDefault: GroupBy) => ({
  groupBy: Type.Optional(
    Type.Enum(['place', 'tag', 'none'], {
      default: byDefault,
      description: 'One row per geofence or beacon, one per tag, or one in total',
    }),
  ),
});
