/** Runs spatial queries over the catalog, and returns the API's JSON. */
import type { DeviceState, Location } from '../../../schemas/records.js';
import { createTurns, runInTurns } from '../../../schemas/turns.js';
import { geofenceJson, geofenceJsonWithoutMetadata } from '../../../schemas/wire/geofence.js';
import { isDisabled, isForRequest, isForUser, isGone } from '../../evaluation/rules.js';
import { type FenceRules, Zone } from '../../evaluation/types.js';
import type { MonitoredCatalog, MonitoredContext } from '../index/catalog.js';
import type { MonitoredFences } from '../index/monitored-fences.js';
import { nearestFences } from '../index/nearest-fences.js';
import { metadataMatches } from '../store/tables/list-reader.js';
import type { Scope, SpatialQueries } from '../types.js';
import { type ExplainedFence, explain, withNames } from './explain.js';
import { maxListedMetadata, metadataCharacters, summariesOf } from './summaries.js';

const maxSearchResults = 1_000;
/** Records that are read before evaluation continues, in about ten milliseconds when each has 64 KiB of metadata. */
const recordsPerTurn = 32;

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

  /** Maps items that each read a record, in turns. */
  async function inTurns<Item, Read>(items: readonly Item[], read: (item: Item) => Read, signal?: AbortSignal) {
    const results: Read[] = [];
    for (const item of items) {
      results.push(read(item));
      if (results.length % recordsPerTurn === 0) await nextTurn(signal);
    }
    return results;
  }

  return {
    async context({ longitude, latitude, atMs, sender, ...scope }, signal) {
      const fences = context(scope)?.fences;
      if (!fences) return [];
      const rows = fences.candidates(longitude, latitude, 0).subarray(0, fences.candidateCount);
      const ids = Array.from(rows)
        .filter(enabledAt(fences, atMs ?? clock()))
        .filter((row) => sender === undefined || isForSender(fences.rules(row), sender))
        .filter((row) => fences.zone(row, longitude, latitude, 0) === Zone.within)
        .map((row) => fences.idOf(row));
      const listed = summariesOf(configuration).geofences(scope, ids.sort().slice(0, maxSearchResults));
      return runInTurns(listed, nextTurn, recordsPerTurn, signal);
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
      let left = maxListedMetadata;
      for (const nearest of nearestFences(fences, longitude, latitude, options)) {
        if (nearest === undefined) {
          await nextTurn(signal);
          continue;
        }
        const head = configuration.storedGeofenceHead(scope, nearest.id);
        if (head && metadataMatches(head, metadata)) {
          const shown = includeGeometry ? (configuration.storedGeofence(scope, nearest.id) ?? head) : head;
          const characters = metadataCharacters(head);
          const fits = characters <= left;
          if (fits) left -= characters;
          found.push(fits ? geofenceJson(shown, timeMs) : geofenceJsonWithoutMetadata(shown, timeMs));
        }
        if (found.length >= Math.min(limit, maxSearchResults)) break;
        if (++read % recordsPerTurn === 0) await nextTurn(signal);
      }
      return found;
    },

    async searchBeacons({ longitude, latitude, radiusM, limit, type, ...scope }, signal) {
      const nearest = context(scope)?.beacons.nearest(longitude, latitude, { radiusM, limit, type }) ?? [];
      const ids = nearest.map(({ id }) => id);
      return runInTurns(summariesOf(configuration).beacons(scope, ids), nextTurn, recordsPerTurn, signal);
    },

    async explain({ location, state, geofence, ...scope }, signal) {
      await nextTurn(signal);
      const around = context(scope);
      if (!around) return { evaluation: null, fences: [] };
      const steps = explain(location as Location, state as DeviceState | undefined, around, geofence);
      const explained = await runInTurns(steps, nextTurn, recordsPerTurn, signal);
      const named = (fence: ExplainedFence) => withNames(fence, scope, configuration);
      return { ...explained, fences: await inTurns(explained.fences, named, signal) };
    },
  };
}
