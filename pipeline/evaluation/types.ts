/**
 * What evaluation asks of the world, and what it answers. Pure: no I/O, no clock, no randomness.
 *
 * Flows in: a Location, the device's state, the fences and beacons of its project and environment (as the catalog
 * implements them), the project's settings. Flows out: the next state and the transitions.
 */
import type { Settings } from '../../schemas/json/project.js';
import type { DeviceState, Location, OutcomeResult, RangedBeacon, UserState } from '../../schemas/records.js';
import type { Zone } from '../geometry/zone.js';

export { Zone } from '../geometry/zone.js';

/** Instant (epoch ms) -> open at that instant by the fence's local clock? */
export type OpeningHours = (instantMs: number) => boolean;

/** An address in textual form -> does it match? */
export type AddressRanges = (ip: string) => boolean;

/** What decides whether and how a fence is monitored. Shared between fences that are alike; frozen. */
export interface FenceRules {
  readonly enabled: boolean;
  /** Epoch ms; Infinity when not set. After it (later than) the fence is disabled. */
  readonly disableAfterMs: number;
  /** Epoch ms; Infinity when not set. After it the fence is gone. */
  readonly deleteAfterMs: number;
  /** null: the project's setting. */
  readonly stopDetection: boolean | null;
  /** Minutes; null: the project's default. */
  readonly dwellThreshold_min: number | null;
  readonly hours: OpeningHours | null;
  readonly userIds: ReadonlySet<string> | null;
  readonly addresses: AddressRanges | null;
}

/** The fences of one project and environment. A row is a small integer that names a fence until the set changes. */
export interface Fences {
  /**
   * Rows of all fences whose box, widened by `reachM`, holds the point; each once, in any order. The buffer belongs to
   * the set and is valid until the next call: its first `candidateCount` entries count.
   */
  candidates(longitude: number, latitude: number, reachM: number): Int32Array;
  readonly candidateCount: number;
  /** -1 when there is no such fence. */
  rowOf(id: string): number;
  idOf(row: number): string;
  /** Differs between fences that had the same id one after another: a visit belongs to the one that was entered. */
  generation(row: number): number;
  rules(row: number): FenceRules;
  zone(row: number, longitude: number, latitude: number, accuracyM: number): Zone;
  /** f: the share of D's area that lies in the fence, 0 to 1. Only asked in the zones `near` and `partly`. */
  share(row: number, longitude: number, latitude: number, accuracyM: number): number;
  /** Is f at least one half? Asked in the same zones; cheap for a disc that is much larger than the fence. */
  holdsHalf(row: number, longitude: number, latitude: number, accuracyM: number): boolean;
  /** d: metres to the boundary, positive inside. Reads every edge. */
  signedDistance(row: number, longitude: number, latitude: number): number;
}

/** A beacon as evaluation needs it. */
export interface MonitoredBeacon {
  readonly id: string;
  readonly enabled: boolean;
  /** As of a fence. */
  readonly generation: number;
}

/** The beacons of one project and environment. */
export interface Beacons {
  /** All that have these identifiers, enabled or not. */
  matching(ranged: RangedBeacon): Iterable<MonitoredBeacon>;
  byId(id: string): MonitoredBeacon | undefined;
}

/** What keeps the work of one location and the size of a state bounded, whatever accuracy a device claims. */
export interface EvaluationBounds {
  /**
   * Of one user, in geofences; and as many in range of beacons. A location enters as many as there is room for, the
   * nearest.
   */
  readonly maxVisits: number;
  /**
   * A fence that does not hold the point, but is within the accuracy, is entered only while the visits are fewer than
   * this.
   */
  readonly maxBufferedVisits: number;
  /** With buffered entries, fences at most this far away are always looked at. */
  readonly fullReachM: number;
  /** A reach beyond `fullReachM` is halved while it has more fences than this. */
  readonly maxEntryCandidates: number;
}

/**
 * Far above what projects need: an accuracy worse than a kilometre says little about fences, and few users are inside
 * of 100.
 */
export const defaultBounds: EvaluationBounds = {
  maxVisits: 1_000,
  maxBufferedVisits: 100,
  fullReachM: 1_000,
  maxEntryCandidates: 500,
};

/** The fences, beacons and settings that a location is evaluated against. */
export interface EvaluationContext {
  readonly fences: Fences;
  readonly beacons: Beacons;
  readonly settings: Settings;
  readonly bounds: EvaluationBounds;
}

/** Something to be told: becomes one event. */
export interface Transition {
  readonly type:
    | 'user.entered_geofence'
    | 'user.exited_geofence'
    | 'user.dwelled_in_geofence'
    | 'user.entered_beacon'
    | 'user.exited_beacon';
  /** The geofence's or beacon's _id. */
  readonly id: string;
  readonly confidence: 1 | 2 | 3;
  /** Milliseconds since entry; null on entries. */
  readonly durationMs: number | null;
  /** null when the fence has no operating hours. */
  readonly currentlyOperating: boolean | null;
}

/** What one location did. For `repeat` and `stale` the state is the one that came in and there are no transitions. */
export interface Evaluation {
  readonly result: OutcomeResult;
  readonly state: DeviceState;
  /**
   * The user record the location is about, always one of `state`. For a stale one whose user has none: that of the
   * device's latest user.
   */
  readonly user: UserState;
  readonly transitions: readonly Transition[];
  /** Geofences and beacons that the location would enter, were the user not inside of as many as it can be. */
  readonly notEntered: number;
}

/** Collects what one location does beside the next state. */
export interface Effects {
  readonly transitions: Transition[];
  notEntered: number;
}

export type Evaluate = (location: Location, state: DeviceState | undefined, context: EvaluationContext) => Evaluation;
