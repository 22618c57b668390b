/**
 * The filters of events: one definition for the table and for what is read from the topic. A property holds the two
 * together.
 */
import Type, { type TSchema } from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import type { Event } from '../../schemas/records.js';
import type { Condition } from '../sql.js';

interface Filter {
  /** Of table `events`. */
  readonly column: string;
  readonly valueOf: (event: Event) => string | null | undefined;
  readonly description: string;
}

const filters = {
  type: {
    column: 'type',
    valueOf: ({ type }) => type,
    description: 'As in user.entered_geofence, or the name of a conversion',
  },
  user: { column: 'user', valueOf: ({ user }) => user?.id, description: '`_id` of the user' },
  userId: { column: 'user_id', valueOf: ({ user }) => user?.userId, description: 'The id that the app gave the user' },
  deviceId: { column: 'device_id', valueOf: ({ user }) => user?.deviceId, description: 'The device' },
  geofence: { column: 'geofence', valueOf: ({ geofence }) => geofence?.id, description: '`_id` of the geofence' },
  beacon: { column: 'beacon', valueOf: ({ beacon }) => beacon?.id, description: '`_id` of the beacon' },
  tag: {
    column: 'tag',
    valueOf: ({ geofence, beacon }) => (geofence ?? beacon)?.tag,
    description: 'Of the geofence or beacon',
  },
  externalId: {
    column: 'external_id',
    valueOf: ({ geofence, beacon }) => (geofence ?? beacon)?.externalId,
    description: 'Of the geofence or beacon',
  },
} satisfies Record<string, Filter>;

type FilterName = keyof typeof filters;
const names = Object.keys(filters) as FilterName[];

/** What an event must have; null: anything. A value is never empty text. */
export type EventFilters = { readonly [name in FilterName]: string | null };

export const readEventFilters = (reader: FieldReader): EventFilters =>
  Object.fromEntries(names.map((name) => [name, reader.text(name)])) as EventFilters;

/** The filters as conditions on rows of table `events`. */
export const filterConditions = (wanted: EventFilters): Condition[] =>
  names.map((name) => [`${filters[name].column} = {text}`, wanted[name]]);

/** The filters as a test of events. */
export function eventMatcher(wanted: EventFilters): (event: Event) => boolean {
  const asked = names.filter((name) => wanted[name] !== null);
  return (event) => asked.every((name) => filters[name].valueOf(event) === wanted[name]);
}

/** Schemas of the filters, for the API's description. */
export const filterParameters: Record<string, TSchema> = Object.fromEntries(
  names.map((name) => [name, Type.Optional(Type.String({ description: filters[name].description }))]),
);
