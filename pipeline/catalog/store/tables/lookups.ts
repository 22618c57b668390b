/** Finds single records by id. */
import { isId } from '../../../../schemas/ids.js';
import type { ProjectRecord } from '../../../../schemas/json/project.js';
import type { ConfigurationReader, Scope } from '../../types.js';
import { type Databases, isSameScope, versionNames } from './databases.js';
import { idKey } from './keys.js';

type Lookups = Pick<
  ConfigurationReader,
  'project' | 'account' | 'geofence' | 'storedGeofence' | 'storedGeofenceHead' | 'beacon'
>;

/**
 * Creates the lookups of single records.
 * @param clock returns epoch ms, to compare with `deleteAfter`.
 */
export function createLookups(databases: Databases, clock: () => number): Lookups {
  const { number, projects, accounts, geofences, geofenceHeads, beacons } = databases;
  const projectCache = new Map<string, ProjectRecord>();
  let projectCacheVersion = -1;

  /** Returns a project from a cache that is valid until any project changes. */
  function project(id: string): ProjectRecord | undefined {
    const version = number(versionNames.project);
    if (version !== projectCacheVersion) projectCache.clear();
    projectCacheVersion = version;
    const cached = projectCache.get(id);
    if (cached !== undefined) return cached;
    const record = isId(id) ? projects.get(idKey(id)) : undefined;
    if (record !== undefined) projectCache.set(id, record);
    return record;
  }

  const inScope = <T extends Scope>(record: T | undefined, scope: Scope): T | undefined =>
    record && isSameScope(record, scope) ? record : undefined;
  const storedGeofence: Lookups['storedGeofence'] = (scope, id) =>
    inScope(isId(id) ? geofences.get(idKey(id)) : undefined, scope);
  const storedGeofenceHead: Lookups['storedGeofenceHead'] = (scope, id) =>
    inScope(isId(id) ? geofenceHeads.get(idKey(id)) : undefined, scope);

  return {
    project,
    account: (id) => (isId(id) ? accounts.get(idKey(id)) : undefined),
    geofence(scope, id) {
      const record = storedGeofence(scope, id);
      return record !== undefined && clock() <= (record.deleteAfter ?? Infinity) ? record : undefined;
    },
    storedGeofence,
    storedGeofenceHead,
    beacon: (scope, id) => inScope(isId(id) ? beacons.get(idKey(id)) : undefined, scope),
  };
}
