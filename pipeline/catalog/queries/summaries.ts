/**
 * Lists the geofences and beacons of users, contexts and searches. A user may be inside a thousand geofences with 64 kB
 * of metadata each: with all of it, one answer had 66 MB, and forty of them ended the process.
 *
 * A list has every item, and metadata up to a limit. An item whose metadata no longer fits says `metadataOmitted`. What
 * is left of the records is kept in memory, so that a list costs little.
 */
import { createBoundedCacheOfWeight } from '../../../schemas/bounded-cache.js';
import type { Beacon, BeaconRecord } from '../../../schemas/json/beacon.js';
import type { GeofenceHead, GeofenceSummary, MonitoredTimes } from '../../../schemas/json/geofence.js';
import type { Steps } from '../../../schemas/turns.js';
import { beaconSummary, geofenceSummary } from '../../../schemas/wire/geofence.js';
import { isSameScope } from '../scope.js';
import { createForgetter } from '../store/forget-changes.js';
import type { ConfigurationReader, Scope } from '../types.js';

/** Characters of metadata that one list has, as JSON. */
export const maxListedMetadata = 524_288;

/** Longer metadata is read from the store for each list. */
const maxKeptMetadata = 1_024;
/** In both caches together, with entries of about 0.5 kB: 100 MB at most. */
const keptEntries = 100_000;
const charactersPerEntry = 512;

type Summary = GeofenceSummary | Beacon;
type Listed = GeofenceHead | BeaconRecord;

/** What decides whether a list has a record. */
type Conditions = Scope & { readonly createdAt: number; readonly enabled: boolean };
type GeofenceConditions = Conditions & MonitoredTimes;

/** What is kept of a record. */
interface Kept<Of extends Conditions> {
  readonly conditions: Of;
  /** Without metadata that is too long to be kept. */
  readonly summary: Summary;
  readonly metadataCharacters: number;
}

/** Lists the records that a test accepts, in the order of their ids. Yields after each record that is read. */
type ListSummaries<Of extends Conditions, Shown extends Summary> = (
  scope: Scope,
  ids: Iterable<string>,
  accepts?: (conditions: Of, index: number) => boolean,
) => Steps<Shown[]>;

interface Summaries {
  readonly geofences: ListSummaries<GeofenceConditions, GeofenceSummary>;
  readonly beacons: ListSummaries<Conditions, Beacon>;
}

type Source = Pick<ConfigurationReader, 'version' | 'feed' | 'storedGeofenceHead' | 'beacon'>;

interface Kind<Record extends Listed, Of extends Conditions, Shown extends Summary> {
  find(scope: Scope, id: string): Record | undefined;
  conditionsOf(record: Record): Of;
  summaryOf(record: Record): Shown;
}

function createList<Record extends Listed, Of extends Conditions, Shown extends Summary>({
  find,
  conditionsOf,
  summaryOf,
}: Kind<Record, Of, Shown>) {
  const kept = createBoundedCacheOfWeight<string, Kept<Of>>(keptEntries, weightOf);

  function keep(record: Record): Kept<Of> {
    const characters = metadataCharacters(record);
    const summary = summaryOf(characters <= maxKeptMetadata ? record : { ...record, metadata: null });
    const entry = { conditions: conditionsOf(record), summary, metadataCharacters: characters };
    kept.set(record._id, entry);
    return entry;
  }

  function* list(scope: Scope, ids: Iterable<string>, accepts: (conditions: Of, index: number) => boolean) {
    const shown: Shown[] = [];
    let left = maxListedMetadata;
    let index = -1;
    for (const id of ids) {
      index += 1;
      let entry = kept.get(id);
      if (entry === undefined) {
        const record = find(scope, id);
        entry = record && keep(record);
        yield;
      }
      if (entry === undefined || !isSameScope(entry.conditions, scope) || !accepts(entry.conditions, index)) continue;
      if (entry.metadataCharacters > left) {
        shown.push({ ...(entry.summary as Shown), metadataOmitted: true });
        continue;
      }
      left -= entry.metadataCharacters;
      if (entry.metadataCharacters <= maxKeptMetadata) {
        shown.push(entry.summary as Shown);
        continue;
      }
      const record = find(scope, id);
      if (record !== undefined) shown.push(summaryOf(record));
      yield;
    }
    return shown;
  }
  return { kept, list };
}

/** Returns the characters of the metadata of a record, as JSON. */
export const metadataCharacters = ({ metadata }: Pick<Listed, 'metadata'>): number =>
  metadata === null ? 0 : JSON.stringify(metadata).length;

const weightOf = ({ conditions, summary }: Kept<Conditions>): number =>
  1 + Math.floor((JSON.stringify(summary).length + JSON.stringify(conditions).length) / charactersPerEntry);

const all = (): boolean => true;

function createSummaries(configuration: Source): Summaries {
  const geofences = createList<GeofenceHead, GeofenceConditions, GeofenceSummary>({
    find: (scope, id) => configuration.storedGeofenceHead(scope, id),
    conditionsOf: ({ project, environment, createdAt, enabled, disableAfter, deleteAfter, userIds }) => ({
      project,
      environment,
      createdAt,
      enabled,
      disableAfter,
      deleteAfter,
      userIds,
    }),
    summaryOf: geofenceSummary,
  });
  const beacons = createList<BeaconRecord, Conditions, Beacon>({
    find: (scope, id) => configuration.beacon(scope, id),
    conditionsOf: ({ project, environment, createdAt, enabled }) => ({ project, environment, createdAt, enabled }),
    summaryOf: beaconSummary,
  });
  const refresh = createForgetter(configuration, { geofence: geofences.kept, beacon: beacons.kept });
  return {
    geofences(scope, ids, accepts = all) {
      refresh();
      return geofences.list(scope, ids, accepts);
    },
    beacons(scope, ids, accepts = all) {
      refresh();
      return beacons.list(scope, ids, accepts);
    },
  };
}

const known = new WeakMap<Source, Summaries>();

/** Returns the lists of a configuration. All that read it share what they keep in memory. */
export function summariesOf(configuration: Source): Summaries {
  const summaries = known.get(configuration) ?? createSummaries(configuration);
  known.set(configuration, summaries);
  return summaries;
}
