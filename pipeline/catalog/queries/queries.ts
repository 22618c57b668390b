/** Runs spatial queries over the catalog, and returns the API's JSON. */
import type { DeviceState, Location } from '../../../schemas/records.js';
import { createTurns } from '../../../schemas/turns.js';
import { beaconSummary, geofenceJson, geofenceSummary } from '../../../schemas/wire/geofence.js';
import { isDisabled, isForRequest, isForUser, isGone } from '../../evaluation/rules.js';
import { type FenceRules, Zone } from '../../evaluation/types.js';
import type { MonitoredCatalog, MonitoredContext } from '../index/catalog.js';
import type { MonitoredFences } from '../index/monitored-fences.js';
import { nearestFences } from '../index/nearest-fences.js';
import { metadataMatches } from '../store/tables/list-reader.js';
import type { Scope, SpatialQueries } from '../types.js';
import { explain } from './explain.js';

const maxSearchResults = 1_000;
/** Number of records that a search reads before it yields to evaluation. */
const recordsPerTurn = 256;

const enabledAt =
  (fences: MonitoredFences, nowMs: number) =>
  (row: number): boolean =>
    !isGone(fences.rules(row), nowMs) && !isDisabled(fences.rules(row), nowMs);

const isForSender = (rules: FenceRules, { userId, ip }: Pick<Location, 'userId' | 'ip'>): boolean =>
  isForUser(rules, userId) && isForRequest(rules, ip);

/** Creates the queries. `clock` returns epoch ms. Queries of an unknown project return nothing. */
export function createSpatialQueries(catalog: MonitoredCatalog, clock: () => number = Date.now): SpatialQueries {
  const { configuration } = catalog;
  /** Resolves when this search may continue. One of the long searches continues between two batches of locations. */
  const nextTurn = createTurns();

  /** Returns the current context. Applies changes first, because there may have been no batch of locations lately. */
  function context(scope: Scope): MonitoredContext | undefined {
    catalog.refresh();
    return catalog.context(scope);
  }

  return {
    async context({ longitude, latitude, atMs, sender, ...scope }) {
      const fences = context(scope)?.fences;
      if (!fences) return [];
      const rows = fences.candidates(longitude, latitude, 0).subarray(0, fences.candidateCount);
      const ids = Array.from(rows)
        .filter(enabledAt(fences, atMs ?? clock()))
        .filter((row) => sender === undefined || isForSender(fences.rules(row), sender))
        .filter((row) => fences.zone(row, longitude, latitude, 0) === Zone.within)
        .map((row) => fences.idOf(row));
      return ids
        .sort()
        .slice(0, maxSearchResults)
        .flatMap((id) => configuration.storedGeofenceHead(scope, id) ?? [])
        .map(geofenceSummary);
    },

    async searchGeofences(query, signal) {
      const { longitude, latitude, limit, radiusM, tags, metadata, includeGeometry, atMs, userId, ...scope } = query;
      const fences = context(scope)?.fences;
      const found: object[] = [];
      if (!fences) return found;
      const timeMs = atMs ?? clock();
      const isEnabled = enabledAt(fences, timeMs);
      const accepts = (row: number): boolean =>
        isEnabled(row) && (userId === undefined || isForUser(fences.rules(row), userId));
      const options = { tags, maxDistanceM: radiusM, accepts };
      let read = 0;
      for (const nearest of nearestFences(fences, longitude, latitude, options)) {
        if (nearest === undefined) {
          await nextTurn(signal);
          continue;
        }
        const head = configuration.storedGeofenceHead(scope, nearest.id);
        if (head && metadataMatches(head, metadata)) {
          const shown = includeGeometry ? (configuration.storedGeofence(scope, nearest.id) ?? head) : head;
          found.push(geofenceJson(shown, timeMs));
        }
        if (found.length >= Math.min(limit, maxSearchResults)) break;
        if (++read % recordsPerTurn === 0) await nextTurn(signal);
      }
      return found;
    },

    async searchBeacons({ longitude, latitude, radiusM, limit, ...scope }) {
      const nearest = context(scope)?.beacons.nearest(longitude, latitude, radiusM, limit) ?? [];
      return nearest.flatMap(({ id }) => configuration.beacon(scope, id) ?? []).map(beaconSummary);
    },

    async explain({ location, state, geofence, ...scope }) {
      const around = context(scope);
      if (!around) return { evaluation: null, fences: [] };
      return explain(location as Location, state as DeviceState | undefined, around, configuration, geofence);
    },
  };
}
