/** Reads the body of an explain request: the location and the state to evaluate. Pure. */
import Type from 'typebox';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { field, readTable } from '../../http/fields/table.js';
import { isDictionary, isGiven, readDate, textOf } from '../../http/fields/values.js';
import { readAddress } from '../../http/location/address.js';
import { readLocation } from '../../http/location/request.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { isId } from '../../schemas/ids.js';
import { Id, Timestamp } from '../../schemas/json/common.js';
import type { DeviceState, Location, Visit } from '../../schemas/records.js';

interface ExplainRequest {
  readonly location: Location;
  /** The state before the location; undefined when the body has none. */
  readonly state: DeviceState | undefined;
  /** The `_id` of the only geofence to explain. */
  readonly geofence: string | undefined;
}

const maxVisits = 1_000;

/** The device of a location that names none. */
const someDevice = 'explain';

/**
 * Reads the request. The fields of the location are under `location`, or at the top level as in a track request.
 * @param ip address of the caller, for a location that names none.
 */
export function readExplainRequest(
  scope: Scope,
  body: RawFields,
  nowMs: number,
  ip: string | null,
): Outcome<ExplainRequest> {
  const reader = new FieldReader({ location: body, ...body });
  const location = readExplainedLocation(reader, scope, nowMs, ip);
  const { state, geofence } = readTable(reader, explainFields(location?.occurredAt ?? nowMs, location?.userId ?? null));
  return reader.outcome(() => ({
    location: location as Location,
    state: state ?? undefined,
    geofence: geofence ?? undefined,
  }));
}

const Visits = Type.Optional(Type.Array(Type.Union([Id, Type.Object({ _id: Id, since: Type.Optional(Timestamp) })])));

/**
 * Returns the fields of a request besides those of a location.
 * @param occurredAt when the user was inside, where a visit names no time.
 */
export const explainFields = (occurredAt: number, userId: string | null) => ({
  geofence: field(readGeofence, Type.String(), {
    description: '`_id` of the only geofence to explain. Absent: those that are near or were entered',
  }),
  state: field(
    (reader, name) => readState(reader, name, occurredAt, userId),
    Type.Object({ geofences: Visits, beacons: Visits }),
    {
      description:
        'What the user is inside of beforehand. Absent: as stored for the deviceId, else nothing. ' +
        'Locations that are not evaluated yet are not in the stored state',
    },
  ),
});

function readGeofence(reader: FieldReader, name: string): string | null {
  const id = reader.text(name);
  return id === null || isId(id) ? id : reader.refuse(name, 'must be the _id of a geofence: 24 hex digits');
}

function readExplainedLocation(
  reader: FieldReader,
  scope: Scope,
  nowMs: number,
  callerIp: string | null,
): Location | null {
  const fields = reader.dictionary('location');
  if (fields === undefined) return reader.refuse('location', 'is required');
  const given = readAddress(fields.ip);
  if (!given.ok) return reader.take(given);
  const ip = given.value ?? callerIp;
  const { project, environment } = scope;
  const receipt = { project, environment, receivedAt: nowMs, ip, replayed: false, replyTo: null };
  return reader.take(readLocation({ deviceId: someDevice, ...fields }, receipt));
}

/** Reads the state: one user with the listed open visits. */
function readState(reader: FieldReader, name: string, occurredAt: number, userId: string | null): DeviceState | null {
  const fields = reader.dictionary(name);
  if (fields === undefined) return null;
  const geofences = readVisits(reader, `${name}.geofences`, fields.geofences, occurredAt);
  const beacons = readVisits(reader, `${name}.beacons`, fields.beacons, occurredAt);
  const user = { id: '', userId, createdAt: occurredAt, profile: null, last: null, geofences, beacons };
  return { users: [user], locationMs: null };
}

/**
 * Reads a list of ids or of `{ _id, since }`, ordered by time of entry. By default `since` is the time of the location.
 */
function readVisits(reader: FieldReader, name: string, value: unknown, occurredAt: number): Visit[] {
  const given = value ?? [];
  if (!Array.isArray(given) || given.length > maxVisits) {
    reader.refuse(name, `must be a list of at most ${maxVisits} ids or { _id, since }`);
    return [];
  }
  const visits = given.map((item) => visitOf(item, occurredAt));
  if (visits.includes(undefined))
    reader.refuse(name, 'must be ids of 24 hex digits, or { _id, since } with a date and time');
  return visits.filter((visit) => visit !== undefined).sort((one, other) => one.since - other.since);
}

function visitOf(item: unknown, occurredAt: number): Visit | undefined {
  const { _id, since: given } = isDictionary(item) ? item : { _id: item, since: undefined };
  const id = textOf(_id);
  const since = isGiven(given) ? readDate(given) : occurredAt;
  return id !== null && isId(id) && since != null ? { id, since, dwelled: false, generation: null } : undefined;
}
