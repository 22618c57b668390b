/** Filters of events, defined once for the table and for the topic. A property test checks that they agree. */
import Type, { type TSchema } from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import type { Event } from '../../schemas/records.js';
import type { Condition } from '../sql.js';
import { eventTypeRule, readEventType } from './event-type.js';

interface Filter {
  /** Column of table `events`. */
  readonly column: string;
  readonly valueOf: (event: Event) => string | null | undefined;
  readonly description: string;
}

const filters = {
  type: {
    column: 'type',
    valueOf: ({ type }) => type,
    description: `Type of the event: ${eventTypeRule}`,
  },
  user: { column: 'user', valueOf: ({ user }) => user?.id, description: '`_id` of the user' },
  userId: { column: 'user_id', valueOf: ({ user }) => user?.userId, description: 'Id that your app gave the user' },
  deviceId: { column: 'device_id', valueOf: ({ user }) => user?.deviceId, description: 'Id of the device' },
  geofence: { column: 'geofence', valueOf: ({ geofence }) => geofence?.id, description: '`_id` of the geofence' },
  beacon: { column: 'beacon', valueOf: ({ beacon }) => beacon?.id, description: '`_id` of the beacon' },
  tag: {
    column: 'tag',
    valueOf: ({ geofence, beacon }) => (geofence ?? beacon)?.tag,
    description: 'Tag of the geofence or beacon',
  },
  externalId: {
    column: 'external_id',
    valueOf: ({ geofence, beacon }) => (geofence ?? beacon)?.externalId,
    description: 'External id of the geofence or beacon',
  },
} satisfies Record<string, Filter>;

type FilterName = keyof typeof filters;
const names = Object.keys(filters) as FilterName[];

/** Required values of an event; null: any. A value is never empty text. */
export type EventFilters = { readonly [name in FilterName]: string | null };

/** Reads the filters of lists, streams and redeliveries of events; null for each that is not given. */
export const readEventFilters = (reader: FieldReader): EventFilters =>
  Object.fromEntries(
    names.map((name) => [name, name === 'type' ? readEventType(reader, name) : reader.text(name)]),
  ) as EventFilters;

/** Returns the filters as conditions on rows of table `events`. */
export const filterConditions = (wanted: EventFilters): Condition[] =>
  names.map((name) => [`${filters[name].column} = {text}`, wanted[name]]);

/** Returns the filters as a predicate of events. */
export function eventMatcher(wanted: EventFilters): (event: Event) => boolean {
  const required = names.filter((name) => wanted[name] !== null);
  return (event) => required.every((name) => filters[name].valueOf(event) === wanted[name]);
}

/** Schemas of the filters, for the API description. */
export const filterParameters: Record<string, TSchema> = Object.fromEntries(
  names.map((name) => [name, Type.Optional(Type.String({ description: filters[name].description }))]),
);
