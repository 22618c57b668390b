/**
 * Compares the events of two services for the same devices. Pure.
 *
 * Two events match when they have the same user, type, and geofence or beacon, and times within the tolerance. Each
 * event matches one other at most.
 */
import { groupedBy } from '../../schemas/groups.js';

/** An event as both services list it, and as webhooks deliver it. */
export interface ComparedEvent {
  readonly _id: string;
  readonly type: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly user?: { readonly userId?: string | null; readonly deviceId?: string | null } | undefined;
  readonly geofence?: Place | undefined;
  readonly beacon?: Place | undefined;
}

interface Place {
  readonly _id?: string;
  readonly tag?: string | null;
  readonly externalId?: string | null;
}

type Difference = { readonly kind: 'missing' | 'extra'; readonly event: ComparedEvent };

/** What two lists of events have in common, and what not. */
export interface Comparison {
  /** By type of event. `missing`: only Radar has it. `extra`: only Fenceline has it. */
  readonly counts: ReadonlyMap<string, { matched: number; missing: number; extra: number }>;
  /** In order of time. */
  readonly differences: readonly Difference[];
  /** Radar's events of types that Fenceline does not have. */
  readonly notCompared: number;
}

interface CompareOptions {
  readonly toleranceMs: number;
  /** The field that names the same user in both services. */
  readonly by: 'userId' | 'deviceId';
}

const comparedTypes = /^user\.(entered|exited)_(geofence|beacon)$|^user\.dwelled_in_geofence$/;

const untagged = 'radar';

/** Returns what must be equal. A geofence without a pair has its `_id` here as its external id after a migration. */
function identityOf({ type, user, geofence, beacon }: ComparedEvent, by: CompareOptions['by']): string {
  const { _id, tag, externalId } = geofence ?? beacon ?? {};
  return JSON.stringify([user?.[by] ?? user?.userId ?? user?.deviceId, type, tag || untagged, externalId || _id]);
}

const timeOf = ({ createdAt }: ComparedEvent): number => Date.parse(createdAt);
const byTime = (a: ComparedEvent, b: ComparedEvent): number => timeOf(a) - timeOf(b);

/** Pairs events of the same user, type and place in order of time, if their times differ by at most `toleranceMs`. */
export function compareEvents(
  radar: readonly ComparedEvent[],
  fenceline: readonly ComparedEvent[],
  { toleranceMs, by }: CompareOptions,
): Comparison {
  const isCompared = ({ type }: ComparedEvent): boolean => comparedTypes.test(type);
  const [theirs, ours] = [radar.filter(isCompared), fenceline.filter(isCompared)];
  const counts = new Map<string, { matched: number; missing: number; extra: number }>();
  const differences: Difference[] = [];
  const count = (type: string, what: 'matched' | 'missing' | 'extra'): void => {
    const entry = counts.get(type) ?? { matched: 0, missing: 0, extra: 0 };
    entry[what] += 1;
    counts.set(type, entry);
  };
  const [theirGroups, ourGroups] = [grouped(theirs, by), grouped(ours, by)];
  for (const identity of new Set([...theirGroups.keys(), ...ourGroups.keys()])) {
    const { matched, missing, extra } = match(
      theirGroups.get(identity) ?? [],
      ourGroups.get(identity) ?? [],
      toleranceMs,
    );
    for (const { type } of matched) count(type, 'matched');
    for (const event of missing) count(event.type, 'missing');
    for (const event of extra) count(event.type, 'extra');
    differences.push(...missing.map((event) => ({ kind: 'missing' as const, event })));
    differences.push(...extra.map((event) => ({ kind: 'extra' as const, event })));
  }
  return {
    counts: new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
    differences: differences.sort((a, b) => byTime(a.event, b.event)),
    notCompared: radar.length - theirs.length,
  };
}

/** Groups distinct events by identity, each group in order of time. */
function grouped(events: readonly ComparedEvent[], by: CompareOptions['by']): Map<string, ComparedEvent[]> {
  const distinct = new Map(events.map((each) => [each._id, each])).values();
  const groups = groupedBy(distinct, (event) => identityOf(event, by));
  for (const group of groups.values()) group.sort(byTime);
  return groups;
}

/** Matches as many events as possible: of two lists in order of time, the earliest that fit belong together. */
function match(theirs: readonly ComparedEvent[], ours: readonly ComparedEvent[], toleranceMs: number) {
  const matched: ComparedEvent[] = [];
  const missing: ComparedEvent[] = [];
  const extra: ComparedEvent[] = [];
  let [a, b] = [0, 0];
  while (a < theirs.length && b < ours.length) {
    const [their, our] = [theirs[a] as ComparedEvent, ours[b] as ComparedEvent];
    const laterMs = timeOf(our) - timeOf(their);
    if (Math.abs(laterMs) <= toleranceMs) {
      matched.push(our);
      a += 1;
      b += 1;
    } else if (laterMs > 0) {
      missing.push(their);
      a += 1;
    } else {
      extra.push(our);
      b += 1;
    }
  }
  missing.push(...theirs.slice(a));
  extra.push(...ours.slice(b));
  return { matched, missing, extra };
}
