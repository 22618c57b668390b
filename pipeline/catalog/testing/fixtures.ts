/** Builds valid records for the catalog's tests, with the given fields. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { deriveId, placeRecordId } from '../../../schemas/ids.js';
import type { BeaconRecord } from '../../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import type { PlaceRecord } from '../../../schemas/json/place.js';
import { defaultSettings, type ProjectRecord } from '../../../schemas/json/project.js';
import type { Location } from '../../../schemas/records.js';
import { exampleLocation } from '../../../schemas/testing/examples.js';
import type { ReadModel } from '../store/read-model.js';
import type { DecodedChange, Scope } from '../types.js';

/** A project with two of the {@link scopes}. */
export const projectA = deriveId('project', 'a');
/** A project with one of the {@link scopes}. */
export const projectB = deriveId('project', 'b');
/** Scopes that differ in environment or project, to show that records do not mix. */
export const scopes: Scope[] = [
  { project: projectA, environment: 'test' },
  { project: projectA, environment: 'live' },
  { project: projectB, environment: 'test' },
];
/** The scope of tests that need only one. */
export const scope = scopes[0]!;

/** Returns a circle with the fields changed. Its `_id` follows from the external id. */
export const geofenceRecord = (fields: Partial<GeofenceRecord> = {}): GeofenceRecord => ({
  _id: deriveId('geofence', fields.externalId ?? 'x'),
  ...scope,
  createdAt: 1_000,
  updatedAt: 1_000,
  tag: 'shop',
  externalId: 'x',
  description: 'A shop',
  type: fields.ring ? 'polygon' : 'circle',
  center: [10, 50],
  radius: 100,
  ring: null,
  mode: null,
  enabled: true,
  metadata: null,
  operatingHours: null,
  timeZone: 'UTC',
  stopDetection: null,
  dwellThreshold_min: null,
  disableAfter: null,
  deleteAfter: null,
  userIds: null,
  ip: null,
  ...fields,
});

/** Returns a beacon with the fields changed. Its `_id` follows from the external id. */
export const beaconRecord = (fields: Partial<BeaconRecord> = {}): BeaconRecord => ({
  _id: deriveId('beacon', fields.externalId ?? 'x'),
  ...scope,
  createdAt: 1_000,
  updatedAt: 1_000,
  tag: null,
  externalId: null,
  description: 'A beacon',
  type: 'ibeacon',
  group: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
  major: '1',
  minor: '1',
  coordinates: [10, 50],
  enabled: true,
  metadata: null,
  ...fields,
});

/** Returns a place with the fields changed, whose geometry hash tells its geometry. */
export function placeRecord(fields: Partial<PlaceRecord> = {}): PlaceRecord {
  const { placeId = 'p', center = [10, 50], ring = null } = fields;
  const { project, environment } = { ...scope, ...fields };
  return {
    _id: placeRecordId(project, environment, placeId),
    project,
    environment,
    createdAt: 1_000,
    updatedAt: 1_000,
    placeId,
    name: 'A place',
    categories: [],
    chain: null,
    address: null,
    metadata: null,
    center,
    ring,
    radius: ring && 100,
    geometryHash: deriveId(JSON.stringify([center, ring])),
    ...fields,
  };
}

/** Returns project A with the fields changed. */
export const projectRecord = (fields: Partial<ProjectRecord> = {}): ProjectRecord => ({
  _id: projectA,
  name: 'A project',
  createdAt: 1_000,
  updatedAt: 1_000,
  keys: [],
  settings: { test: defaultSettings, live: defaultSettings },
  ...fields,
});

/** Returns a location of the fixtures' environment with the fields changed. */
export const location = (fields: Partial<Location> = {}): Location => exampleLocation({ ...scope, ...fields });

/** Returns an empty directory that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-catalog-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Applies batches of changes of geofences. Returns the geofences that a plain map then has. */
export async function applyGeofences(
  readModel: Pick<ReadModel, 'apply'>,
  batches: readonly (readonly DecodedChange[])[],
): Promise<ReadonlyMap<string, GeofenceRecord>> {
  const model = new Map<string, GeofenceRecord>();
  let offset = 0;
  for (const batch of batches) {
    offset += batch.length;
    await readModel.apply(batch, offset);
    for (const { id, record } of batch) {
      if (record === null) model.delete(id);
      else model.set(id, record as GeofenceRecord);
    }
  }
  return model;
}
