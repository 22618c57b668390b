/** Runs spatial queries over the catalog, and returns the API's JSON. */
import type { Location } from '../../../schemas/records.js';
import { createTurns, runInTurns } from '../../../schemas/turns.js';
import { geofenceJson, geofenceJsonWithoutMetadata } from '../../../schemas/wire/geofence.js';
import { isDisabled, isForRequest, isForUser, isGone } from '../../evaluation/rules.js';
import { type FenceRules, Zone } from '../../evaluation/types.js';
import { type FoundByDistance, nearestBeacons, nearestFences } from '../index/by-distance.js';
import type { MonitoredCatalog, MonitoredContext } from '../index/catalog.js';
import { MinHeap } from '../index/min-heap.js';
import type { PlacedBeacon } from '../index/monitored-beacons.js';
import type { MonitoredFences } from '../index/monitored-fences.js';
import { metadataMatches } from '../store/tables/list-reader.js';
import type { Scope, SpatialQueries } from '../types.js';
import { type ExplainedFence, explain, notice, withNames } from './explain.js';
import { maxListedMetadata, metadataCharacters, summariesOf } from './summaries.js';

const maxSearchResults = 1_000;
/** Records that are read before evaluation continues, in about ten milliseconds when each has 64 KiB of metadata. */
const recordsPerTurn = 32;
/** Attempts to explain a location while its fences change, as during an import. */
const maxExplanations = 5;
/** Fences of which it is tested whether they contain a point before evaluation continues: 0.1 to 1 ms. */
const testedPerTurn = 1_000;

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

  /** Iterates over what a search finds, and lets other work run where the search does. */
  async function* foundInTurns(found: FoundByDistance, signal?: AbortSignal) {
    for (const nearest of found) {
      if (nearest === undefined) await nextTurn(signal);
      else yield nearest;
    }
  }

  return {
    async context({ longitude, latitude, atMs, sender, ...scope }, signal) {
      const fences = context(scope)?.fences;
      if (!fences) return [];
      const isEnabled = enabledAt(fences, atMs ?? clock());
      const contains = (row: number): boolean =>
        isEnabled(row) &&
        (sender === undefined || isForSender(fences.rules(row), sender)) &&
        fences.zone(row, longitude, latitude, 0) === Zone.within;
      const containing = new MinHeap<string>((a, b) => (a < b ? -1 : 1));
      for (const [index, id] of fences.idsWithin(longitude, latitude, 0).entries()) {
        // The set of fences may have changed at the last turn.
        const row = fences.rowOf(id);
        if (row >= 0 && contains(row)) containing.push(id);
        if (index % testedPerTurn === testedPerTurn - 1) await nextTurn(signal);
      }
      const listed = summariesOf(configuration).geofences(scope, containing.take(maxSearchResults));
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
      for await (const { id } of foundInTurns(nearestFences(fences, longitude, latitude, options), signal)) {
        const head = configuration.storedGeofenceHead(scope, id);
        if (head && metadataMatches(head, metadata)) {
          const shown = includeGeometry ? (configuration.storedGeofence(scope, id) ?? head) : head;
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
      const beacons = context(scope)?.beacons;
      if (!beacons) return [];
      const ids: string[] = [];
      const accepts = (beacon: PlacedBeacon) => beacon.enabled && (type === undefined || beacon.type === type);
      const found = nearestBeacons(beacons, longitude, latitude, { maxDistanceM: radiusM, accepts });
      for await (const { id } of foundInTurns(found, signal)) {
        ids.push(id);
        if (ids.length >= limit) break;
      }
      return runInTurns(summariesOf(configuration).beacons(scope, ids), nextTurn, recordsPerTurn, signal);
    },

    async explain({ location, state, geofence, ...scope }, signal) {
      await nextTurn(signal);
      const named = (fence: ExplainedFence) => withNames(fence, scope, configuration);
      for (let attempt = 1; ; attempt++) {
        const around = context(scope);
        if (!around) return { evaluation: null, fences: [] };
        const { changes } = around.fences;
        const steps = explain(location, state, around, geofence);
        const explained = await runInTurns(steps, nextTurn, recordsPerTurn, signal);
        // A fence that changed between turns has a rule that does not belong to the evaluation.
        const isMixed = around.fences.changes !== changes;
        if (isMixed && attempt < maxExplanations) continue;
        const fences = await inTurns(explained.fences, named, signal);
        return { ...explained, ...(isMixed && notice('geofences_changed')), fences };
      }
    },
  };
}
