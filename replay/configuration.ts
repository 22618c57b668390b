/**
 * Reads the configuration from topic `changes`: the projects, and the configuration of one project and environment.
 *
 * The topic exists in every log, while the server's read model, a copy of it, may be missing.
 */
import type { GeofenceInput } from '../api/geofences/fields.js';
import { geofenceRecord } from '../api/geofences/record.js';
import type { ReadableLog } from '../backends/embedded/reader.js';
import { isSameScope } from '../pipeline/catalog/scope.js';
import { createChangeDecoder } from '../pipeline/catalog/store/changes.js';
import { isApplicable, originOf } from '../pipeline/catalog/store/tables/revisions.js';
import type { ChangeOrigin, DecodedChange, RecordRevision, Scope } from '../pipeline/catalog/types.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import type { BeaconRecord } from '../schemas/json/beacon.js';
import type { ErasureRecord } from '../schemas/json/erasure.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import type { ProjectRecord, Settings } from '../schemas/json/project.js';
import type { ChangeKind } from '../schemas/records.js';
import { recordPages } from './pages.js';

const maxChangesAtOnce = 5_000;

/** Returns the projects, oldest first. */
export const readProjects = (log: ReadableLog): Promise<ProjectRecord[]> => readRecords(log, 'project');

/** Returns the erasures of a project and environment, oldest first. */
export async function readErasures(log: ReadableLog, scope: Scope): Promise<ErasureRecord[]> {
  const erasures = await readRecords<ErasureRecord>(log, 'erasure');
  return erasures.filter((record) => isSameScope(record, scope));
}

/** Returns the records of a kind that exist, oldest first. */
async function readRecords<Stored extends { readonly createdAt: number }>(
  log: ReadableLog,
  kind: ChangeKind,
): Promise<Stored[]> {
  const records = new Map<string, Stored>();
  const revisions = new Map<string, RecordRevision>();
  for await (const changes of readChanges(log, [kind])) {
    for (const { id, record, origin } of changes) {
      if (!isApplicable(revisions.get(id), origin)) continue;
      revisions.set(id, { revision: origin.offset, deletedAtMs: record === null ? origin.timestampMs : null });
      if (record === null) records.delete(id);
      else records.set(id, record as unknown as Stored);
    }
  }
  return [...records.values()].sort((a, b) => a.createdAt - b.createdAt);
}

/**
 * Yields changes of these kinds in the scope, some at a time. Includes deletions of all scopes, because they do not
 * contain their scope.
 */
async function* readConfigured(
  log: ReadableLog,
  scope: Scope,
  kinds: readonly ('geofence' | 'beacon')[],
): AsyncGenerator<DecodedChange[]> {
  for await (const changes of readChanges(log, kinds)) {
    yield changes.filter(
      ({ record }) => record === null || isSameScope(record as BeaconRecord | GeofenceRecord, scope),
    );
  }
}

/** The configuration that a replay uses instead of the stored one. */
export interface Proposed {
  readonly geofences?: readonly GeofenceInput[];
  /** Whether the stored geofences take part as well, unless a proposed one has their tag and external id. */
  readonly keepsOthers?: boolean;
  readonly settings?: Settings;
}

/** Yields the project, its beacons, and its geofences or the proposed ones. */
export async function* configuredFor(
  log: ReadableLog,
  project: ProjectRecord,
  scope: Scope,
  { geofences, keepsOthers = false, settings }: Proposed,
): AsyncGenerator<DecodedChange[]> {
  const record = settings ? { ...project, settings: { ...project.settings, [scope.environment]: settings } } : project;
  yield [{ kind: 'project', id: project._id, record }];
  yield* readConfigured(log, scope, geofences && !keepsOthers ? ['beacon'] : ['beacon', 'geofence']);
  if (geofences) yield* proposedChanges(geofences, scope);
}

/** Yields the proposed geofences. They have the same ids as on the server. */
function* proposedChanges(geofences: readonly GeofenceInput[], scope: Scope): Generator<DecodedChange[]> {
  for (let start = 0; start < geofences.length; start += maxChangesAtOnce) {
    yield geofences.slice(start, start + maxChangesAtOnce).map((input): DecodedChange => {
      const record = geofenceRecord(scope, input, undefined, 0);
      return { kind: 'geofence', id: record._id, record };
    });
  }
}

type LoggedChange = DecodedChange & { readonly origin: ChangeOrigin };

/**
 * Yields changes in order, including refused ones and several of one record; the caller decides which are applied.
 * Skips invalid changes, as the read model of a node does.
 */
async function* readChanges(log: ReadableLog, kinds: readonly ChangeKind[]): AsyncGenerator<LoggedChange[]> {
  const decodeChange = createChangeDecoder();
  const isWanted = ({ key }: LogRecord): boolean => kinds.some((kind) => key.startsWith(`${kind}/`));

  function decoded(record: LogRecord): LoggedChange[] {
    try {
      return [{ ...decodeChange(record), origin: originOf(record) }];
    } catch {
      return [];
    }
  }
  const { first, end } = await log.bounds(topics.changes, 0);
  for await (const page of recordPages(log, { topic: topics.changes, partition: 0, from: first, end })) {
    yield page.filter(isWanted).flatMap(decoded);
  }
}
