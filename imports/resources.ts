/** What an import needs of geofences and of beacons: how rows are read, identified and made into records. */
import { isDeepStrictEqual } from 'node:util';
import { type BeaconInput, beaconFields, readBeacon } from '../api/beacons/fields.js';
import { beaconId, beaconRecord } from '../api/beacons/record.js';
import type { ApiDependencies, GeometrySources } from '../api/dependencies.js';
import {
  type GeofenceInput,
  type GivenGeofence,
  geofenceFields,
  isSought,
  readGeofence,
} from '../api/geofences/fields.js';
import { fullPlace, maxGeofencesPerPlace, resolveGeometry } from '../api/geofences/geometry.js';
import { geofenceId, geofenceRecord, replacedGeofence } from '../api/geofences/record.js';
import { requireBeaconPlan } from '../api/plans.js';
import { type ExportedFields, exportedBeacon, exportedGeofence } from '../api/stored-fields.js';
import type { Outcome, RawFields } from '../http/fields/reader.js';
import { answeredFields, type FieldTable } from '../http/fields/table.js';
import type { ConfigurationReader, Scope } from '../pipeline/catalog/types.js';
import { createBoundedCache } from '../schemas/bounded-cache.js';
import { deriveId } from '../schemas/ids.js';
import { Beacon, type BeaconRecord } from '../schemas/json/beacon.js';
import { Geofence, type GeofenceRecord } from '../schemas/json/geofence.js';
import { createTurns } from '../schemas/turns.js';

/** The kinds of records that can be imported. */
export const importedKinds = ['geofence', 'beacon'] as const;
/** The kinds of records that files have. */
export type ImportedKind = (typeof importedKinds)[number];
/** A record of any imported kind. */
export type ImportedRecord = GeofenceRecord | BeaconRecord;

/** A row that follows all rules. */
export interface ReadRow {
  readonly id: string;
  readonly tag: string | null;
  readonly externalId: string | null;
  /** Returns the current record, if there is one. */
  existing(): ImportedRecord | undefined;
  /** Returns the whole record that replaces `existing`. */
  record(existing: ImportedRecord | undefined, nowMs: number): ImportedRecord;
}

/** How the rows of one kind are read into one environment, for one file. */
export interface ImportedResource {
  readonly kind: ImportedKind;
  readonly table: FieldTable;
  /** Names of the fields of answers, so that a record that was read can be sent back. */
  readonly answered: readonly string[];
  /** Reads a row. A promise only if its geometry, or the beacons without a pair, must be looked up. */
  read(fields: RawFields): Outcome<ReadRow> | Promise<Outcome<ReadRow>>;
}

/** Returns whether two records differ in nothing but the time of their update. */
export function isUnchanged(one: ImportedRecord, other: ImportedRecord): boolean {
  const [left, right] = [one, other] as unknown as Record<string, unknown>[];
  const names = Object.keys(left!);
  return (
    names.length === Object.keys(right!).length &&
    names.every((name) => name === 'updatedAt' || isSame(left![name], right![name]))
  );
}

/** Most fields are numbers and texts, which are compared sooner than by a call. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && isDeepStrictEqual(one, other));

/** Returns the names of the fields in which two records differ, as columns of a file name them. */
export function changedFields(kind: ImportedKind, before: ImportedRecord, after: ImportedRecord): string[] {
  const { names, values } = (kind === 'geofence' ? exportedGeofence : exportedBeacon) as ExportedFields<ImportedRecord>;
  const [old, now] = [values(before), values(after)];
  return names.filter((_, index) => !isDeepStrictEqual(old[index], now[index]));
}

/** Looks up the geometry of a geofence that is not given as coordinates. `id` names the record that is replaced. */
export type ResolveGeometry = (scope: Scope, given: GivenGeofence, id: string) => Promise<Outcome<GeofenceInput>>;

/** Returns the lookup that the API uses: by address, place or travel time. */
export const geometryResolver =
  ({ configuration, geometrySources }: GeometryParts): ResolveGeometry =>
  (scope, given, id) =>
    resolveGeometry(
      scope,
      given,
      async () => replacedGeofence(configuration, scope, id, given.deleteAfter),
      configuration,
      geometrySources,
    );

interface GeometryParts {
  readonly configuration: ConfigurationReader;
  readonly geometrySources: GeometrySources;
}

/** The dependencies of reading rows. */
export interface ResourceParts {
  readonly configuration: ConfigurationReader;
  readonly resolve: ResolveGeometry;
}

/** More places than the rows have that are not stored yet. */
const maxCountedPlaces = 10_000;

function geofenceResource({ configuration, resolve }: ResourceParts, scope: Scope): ImportedResource {
  /** Geofences by place, with those of rows that are not stored yet. */
  const followers = createBoundedCache<string, number>(maxCountedPlaces);
  /** Counts a row. Returns whether it may follow its place. */
  function mayFollow(id: string, placeId: string): boolean {
    if (configuration.geofence(scope, id)?.geometrySource?.place?.id === placeId) return true;
    const count = followers.get(placeId) ?? configuration.geofencesOfPlace(scope, placeId, maxGeofencesPerPlace).length;
    followers.set(placeId, count + 1);
    return count < maxGeofencesPerPlace;
  }
  const rowOf = (id: string, input: GeofenceInput): ReadRow => ({
    id,
    tag: input.tag,
    externalId: input.externalId,
    existing: () => replacedGeofence(configuration, scope, id, input.deleteAfter),
    record: (existing, nowMs) => geofenceRecord(scope, input, existing as GeofenceRecord | undefined, nowMs, id),
  });
  return {
    kind: 'geofence',
    table: geofenceFields,
    answered: answeredFields(Geofence.properties),
    read(fields) {
      const read = readGeofence(fields);
      if (!read.ok) return read;
      const given = read.value;
      const id = geofenceId(scope, given);
      // Most files give all coordinates. Their rows need no promise each.
      if (given.type !== 'isochrone' && !isSought(given)) return { ok: true, value: rowOf(id, given) };
      return resolve(scope, given, id).then((resolved) => {
        if (!resolved.ok) return resolved;
        const { place } = resolved.value.geometrySource ?? {};
        return place && !mayFollow(id, place.id) ? fullPlace() : { ok: true, value: rowOf(id, resolved.value) };
      });
    },
  };
}

/** Records of one turn: reading them takes a few milliseconds. */
const pageRecords = 500;
const nextTurn = createTurns();

/** What identifies a beacon without a pair: what it transmits. */
const transmissionOf = ({ type, group, major, minor }: Pick<BeaconRecord, 'type' | 'group' | 'major' | 'minor'>) =>
  [type, group, major, minor].join('/');

/** Returns the ids of the beacons without a pair, by what they transmit. Of several, the oldest counts. */
async function unpairedBeacons(configuration: ConfigurationReader, scope: Scope): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (let from: string | null = null; ; ) {
    const { items, next } = configuration.walkBeacons(scope, from, pageRecords);
    for (const beacon of items) {
      const transmission = transmissionOf(beacon);
      const isUnpaired = beacon.tag === null || beacon.externalId === null;
      if (isUnpaired && !ids.has(transmission)) ids.set(transmission, beacon._id);
    }
    if (next === null) return ids;
    from = next;
    await nextTurn();
  }
}

/**
 * A beacon needs no pair. One without is the same beacon if it transmits the same, so that importing a file again
 * creates no other.
 */
function beaconResource({ configuration }: Pick<ResourceParts, 'configuration'>, scope: Scope): ImportedResource {
  const { project, environment } = scope;
  let unpaired: Map<string, string> | undefined;
  let looking: Promise<Map<string, string>> | undefined;
  const rowOf = (id: string, input: BeaconInput): Outcome<ReadRow> => ({
    ok: true,
    value: {
      id,
      tag: input.tag,
      externalId: input.externalId,
      existing: () => configuration.beacon(scope, id),
      record: (existing, nowMs) => ({
        ...beaconRecord(scope, input, existing as BeaconRecord | undefined, nowMs),
        _id: id,
      }),
    },
  });
  const unpairedRow = (ids: ReadonlyMap<string, string>, input: BeaconInput): Outcome<ReadRow> => {
    const transmission = transmissionOf(input);
    return rowOf(ids.get(transmission) ?? deriveId('beacon', project, environment, transmission), input);
  };
  return {
    kind: 'beacon',
    table: beaconFields,
    answered: answeredFields(Beacon.properties),
    read(fields) {
      const read = readBeacon(fields);
      if (!read.ok) return read;
      const input = read.value;
      const id = beaconId(scope, input);
      if (id !== undefined) return rowOf(id, input);
      if (unpaired !== undefined) return unpairedRow(unpaired, input);
      looking ??= unpairedBeacons(configuration, scope);
      return looking.then((ids) => {
        unpaired = ids;
        return unpairedRow(ids, input);
      });
    },
  };
}

/** Returns the fields of a kind, as requests have them. */
export const tableOf = (kind: ImportedKind): FieldTable => (kind === 'geofence' ? geofenceFields : beaconFields);

/** Returns how the rows of a kind become records of the scope. */
export const resourceOf = (kind: ImportedKind, parts: ResourceParts, scope: Scope): ImportedResource =>
  kind === 'geofence' ? geofenceResource(parts, scope) : beaconResource(parts, scope);

/** Throws `plan_required` if the project may not import records of the kind. */
export function requirePlan(
  dependencies: Pick<ApiDependencies, 'configuration' | 'arePlansEnabled'>,
  kind: ImportedKind,
  scope: Pick<Scope, 'project'>,
): void {
  if (kind === 'beacon') requireBeaconPlan(dependencies, scope);
}
