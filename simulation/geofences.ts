/** The geofences of the demo in a project: those of its city, under one tag. */
import type { ApiDependencies } from '../api/dependencies.js';
import { geofenceId } from '../api/geofences/record.js';
import { changeMany } from '../api/paired/bulk.js';
import { applyBatch } from '../imports/batch.js';
import { geometryResolver, resourceOf } from '../imports/resources.js';
import type { Scope } from '../pipeline/catalog/types.js';
import type { City } from './city.js';

/** All geofences of the demo have it, so that they are found, and removed, together. */
export const demoTag = 'demo';

/** What the geofences of the demo are read and written with. */
export type GeofenceParts = Pick<ApiDependencies, 'configuration' | 'writer' | 'geometrySources' | 'clock'>;

const pairsOf = ({ geofences }: City) =>
  geofences.map(({ tag, externalId, fields }) => ({
    tag: demoTag,
    externalId: `${tag}-${externalId}`,
    fields: { ...fields, metadata: { ...(fields.metadata as object | undefined), kind: tag } },
  }));

/** Returns how many geofences of the demo are in the environment. */
export const countGeofences = ({ configuration }: GeofenceParts, scope: Scope): number =>
  configuration.count('geofence', { ...scope, tag: demoTag });

/** Creates the geofences of the city, or updates them. Throws if one is invalid, which is a mistake of the city. */
export async function loadGeofences(parts: GeofenceParts, scope: Scope, city: City): Promise<void> {
  const { configuration, writer } = parts;
  const records = pairsOf(city).map(({ tag, externalId, fields }) => ({ tag, externalId, ...fields }));
  const resource = resourceOf('geofence', { configuration, resolve: geometryResolver(parts) }, scope);
  const results = await applyBatch({ configuration, writer }, resource, records, false);
  const rejected = results.find(({ action }) => action === 'rejected');
  if (rejected) throw new Error(`the demo's geofence ${rejected.index} is invalid: ${rejected.error?.message}`);
}

/** Deletes the geofences. Resolves to their number. */
export async function removeGeofences(parts: GeofenceParts, scope: Scope, city: City): Promise<number> {
  const ids = pairsOf(city).map((pair) => geofenceId(scope, pair));
  const find = (id: string) => parts.configuration.geofence(scope, id);
  return (await changeMany(parts, 'geofence', 'delete', ids, find)).changed;
}
