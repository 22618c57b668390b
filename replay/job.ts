/**
 * One replay for the API: the differences between what proposed geofences would have made and what is recorded.
 *
 * Reads a log, writes nothing. Yields progress and events while it runs, and the summary at the end. What it keeps is
 * bounded: records that it reads, events of each kind, and places.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Scope } from '../pipeline/catalog/types.js';
import type { ProjectRecord } from '../schemas/json/project.js';
import type { Event } from '../schemas/records.js';
import { eventJson } from '../schemas/wire/user.js';
import { openReplayCatalog } from './catalog.js';
import { configuredFor, type Proposed } from './configuration.js';
import type { Erased } from './erased.js';
import type { TimeRange } from './partition.js';
import { type ComparedEvent, prepareReplay } from './replay.js';
import { type Place, Tally, type TransitionCounts } from './tally.js';
import { noTotals, sumOf } from './totals.js';

/** Where an event was found: in the replay, on record, or in both. */
export type FoundIn = ComparedEvent['foundIn'];

/** What to replay. `warmUpMs` before the range, locations are evaluated and their events are not counted. */
export interface ReplayJob {
  readonly project: ProjectRecord;
  readonly scope: Scope;
  readonly range: TimeRange;
  readonly warmUpMs: number;
  readonly proposed: Proposed;
  /** What is left out. */
  readonly erased: Erased;
}

/** Bounds of one replay. */
export interface JobBounds {
  /** Records of all projects that are read. */
  readonly maxRecords: number;
  /** Events of each kind that are kept. More are only counted. */
  readonly maxEvents: number;
  readonly maxPlaces: number;
}

/** The bounds that no setting changes. */
export const defaultJobBounds: JobBounds = { maxRecords: 20_000_000, maxEvents: 5_000, maxPlaces: 200 };

/** The result of a replay. Counts are of the range, without the warm-up. */
export interface ReplaySummary {
  readonly locations: { readonly applied: number; readonly repeat: number; readonly stale: number };
  readonly total: TransitionCounts;
  /** Those with the most differences first. */
  readonly places: readonly Place[];
  /** Events of the replay that the first stored location of a device caused. */
  readonly firstLocationEvents: number;
}

/** What a running job tells. `end` or `failed` is the last message. Each event is a text of JSON. */
export type JobMessage =
  | { readonly kind: 'progress'; readonly records: number; readonly total: number }
  | { readonly kind: 'events'; readonly foundIn: FoundIn; readonly events: readonly string[] }
  | { readonly kind: 'end'; readonly summary: ReplaySummary }
  | { readonly kind: 'failed'; readonly reason: string };

/** Returns the event as JSON, without metadata and profile: they may be large, and are not compared. */
function textOf({ event, isFirst }: ComparedEvent): string {
  const plain: Event = {
    ...event,
    metadata: null,
    user: event.user && { ...event.user, profile: null },
    geofence: event.geofence && { ...event.geofence, metadata: null },
    beacon: event.beacon && { ...event.beacon, metadata: null },
  };
  return JSON.stringify({ firstLocation: isFirst, event: eventJson(plain) });
}

/** Yields the events of each kind, until `kept` says that `maxEvents` of the kind are kept. Counts them in `kept`. */
function* eventsToKeep(
  events: readonly ComparedEvent[],
  kept: Record<FoundIn, number>,
  maxEvents: number,
): Generator<JobMessage> {
  const texts: Record<FoundIn, string[]> = { both: [], replay: [], record: [] };
  for (const each of events) {
    if (kept[each.foundIn] === maxEvents) continue;
    kept[each.foundIn] += 1;
    texts[each.foundIn].push(textOf(each));
  }
  for (const foundIn of Object.keys(texts) as FoundIn[])
    if (texts[foundIn].length > 0) yield { kind: 'events', foundIn, events: texts[foundIn] };
}

const differencesOf = ({ transitions }: Place): number =>
  Object.values(transitions).reduce((sum, { replay, record }) => sum + replay + record, 0);

/** Runs the job. The caller ends it early by returning from the loop. */
export async function* runJob(log: ReadableLog, job: ReplayJob, bounds: JobBounds): AsyncGenerator<JobMessage> {
  const { project, scope, range, warmUpMs, proposed, erased } = job;
  const { catalog, close } = await openReplayCatalog(configuredFor(log, project, scope, proposed));
  try {
    const { records: total, steps } = await prepareReplay({ log, catalog, scope, range, warmUpMs, erased });
    if (total > bounds.maxRecords) {
      const limit = `a replay runs at most ${bounds.maxRecords}`;
      const reason = `the range has ${total} locations of all projects, and ${limit}: choose a shorter range`;
      yield { kind: 'failed', reason };
      return;
    }
    const tally = new Tally();
    const kept: Record<FoundIn, number> = { both: 0, replay: 0, record: 0 };
    let totals = noTotals;
    yield { kind: 'progress', records: 0, total };
    for await (const step of steps()) {
      totals = sumOf(totals, step.totals);
      for (const each of step.events) tally.add(each);
      yield* eventsToKeep(step.events, kept, bounds.maxEvents);
      yield { kind: 'progress', records: totals.records, total };
      // Lets the process receive the request to end.
      await nextTurn();
    }
    const places = [...tally.places].sort((one, other) => differencesOf(other) - differencesOf(one));
    const summary = {
      locations: totals.results,
      total: tally.total,
      places: places.slice(0, bounds.maxPlaces),
      firstLocationEvents: tally.firsts,
    };
    yield { kind: 'end', summary };
  } finally {
    await close();
  }
}
