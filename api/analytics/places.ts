/** Which geofences or beacons a question is about, and by what its answer is broken down. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import { type Inquiry, unset } from './query.js';

/** Columns of the views by the names that parameters have. */
const places = { geofence: 'geofence', beacon: 'beacon', tag: 'tag', externalId: 'external_id', userId: 'user_id' };

/** Conditions by which the view's rows are chosen; all must hold. */
export function readPlaces(reader: FieldReader, columns: Readonly<Record<string, string>> = places): Inquiry {
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

const filter = (description: string) => Type.Optional(Type.String({ description }));

export const placesSchema = {
  kind: Type.Optional(
    Type.Enum(['geofence', 'beacon'], { default: 'geofence', description: 'Of what; beacon when `beacon` is given' }),
  ),
  geofence: filter('`_id` of the geofence'),
  beacon: filter('`_id` of the beacon'),
  tag: filter('Of the geofence or beacon'),
  externalId: filter('Of the geofence or beacon'),
  userId: filter('The id that the app gave the user'),
};

export type GroupBy = 'place' | 'tag' | 'none';

export const readGroupBy = (reader: FieldReader, byDefault: GroupBy): GroupBy =>
  reader.choice('groupBy', ['place', 'tag', 'none']) ?? byDefault;

/** What rows are grouped by. */
export interface Grouping {
  /** Columns to select, each with a comma after it. */
  readonly select: string;
  readonly keys: readonly string[];
}

/** A place's definition may change: it goes by the newest tag and externalId among its rows. */
export function placeGrouping(by: GroupBy, timeColumn: string): Grouping {
  const newest = (column: string) => `nullIf(argMax(each.${column}, each.${timeColumn}), '')`;
  switch (by) {
    case 'place':
      return {
        select: `${unset('geofence')} AS geofence, ${unset('beacon')} AS beacon, ${newest('tag')} AS tag, ${newest('external_id')} AS externalId, `,
        keys: ['each.geofence', 'each.beacon'],
      };
    case 'tag':
      return { select: `${unset('tag')} AS tag, `, keys: ['each.tag'] };
    case 'none':
      return { select: '', keys: [] };
  }
}

/** The same for a question about two places: columns `from_geofence` and so on become `fromGeofence`. */
export function endGrouping(end: 'from' | 'to', by: GroupBy, timeColumn: string): Grouping {
  const { select, keys } = placeGrouping(by, timeColumn);
  return {
    select: select
      .replaceAll(/each\.(geofence|beacon|tag|external_id)/g, `each.${end}_$1`)
      .replaceAll(/AS (\w)/g, (_, initial: string) => `AS ${end}${initial.toUpperCase()}`),
    keys: keys.map((key) => key.replace('each.', `each.${end}_`)),
  };
}

/** `GROUP BY …`, or nothing where there is one group of everything. */
export const groupBy = (keys: readonly string[]): string => (keys.length === 0 ? '' : `GROUP BY ${keys.join(', ')}`);

export const groupingSchema = (byDefault: GroupBy) => ({
  groupBy: Type.Optional(
    Type.Enum(['place', 'tag', 'none'], {
      default: byDefault,
      description: 'A row for each geofence or beacon, for each tag, or for everything together',
    }),
  ),
});
