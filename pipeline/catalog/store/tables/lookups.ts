/** Finds single records by id. */
import type { ProjectRecord } from '../../../../schemas/json/project.js';
import type { ConfigurationReader } from '../../types.js';
import { type Databases, versionNames } from './databases.js';
import { find, findInScope } from './find.js';

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
    const record = find(projects, id);
    if (record !== undefined) projectCache.set(id, record);
    return record;
  }

  return {
    project,
    account: (id) => find(accounts, id),
    geofence(scope, id) {
      const record = findInScope(geofences, scope, id);
      return record !== undefined && clock() <= (record.deleteAfter ?? Infinity) ? record : undefined;
    },
    storedGeofence: (scope, id) => findInScope(geofences, scope, id),
    storedGeofenceHead: (scope, id) => findInScope(geofenceHeads, scope, id),
    beacon: (scope, id) => findInScope(beacons, scope, id),
  };
}
