/**
 * Types of evaluation. Evaluation is pure: no I/O, no clock, no randomness.
 *
 * Input: a Location, the state of its device, the fences and beacons of its project and environment, which the catalog
 * implements, and the project's settings. Output: the next state and the transitions.
 */
import type { Settings } from '../../schemas/json/project.js';
import type { DeviceState, Location, OutcomeResult, RangedBeacon, UserState } from '../../schemas/records.js';
import type { Zone } from '../geometry/zone.js';

export { Zone } from '../geometry/zone.js';

/** Tests whether a fence is open at an instant (epoch ms), by its local clock. */
export type OpeningHours = (instantMs: number) => boolean;

/** Tests whether an IP address, as text, matches. */
export type AddressRanges = (ip: string) => boolean;

/** The rules by which a fence is monitored. Frozen, and shared between fences with equal rules. */
export interface FenceRules {
  readonly enabled: boolean;
  /** Epoch ms; Infinity if not set. The fence is disabled at later times. */
  readonly disableAfterMs: number;
  /** Epoch ms; Infinity if not set. The fence counts as deleted at later times. */
  readonly deleteAfterMs: number;
  /** null: the project's setting. */
  readonly stopDetection: boolean | null;
  /** Minutes; null: the project's default. */
  readonly dwellThreshold_min: number | null;
  readonly hours: OpeningHours | null;
  readonly userIds: ReadonlySet<string> | null;
  readonly addresses: AddressRanges | null;
}

/**
 * The fences of one project and environment. A row is a small integer that identifies a fence until the set changes.
 */
export interface Fences {
  /**
   * Returns the rows of all fences whose box, extended by `reachM`, contains the point, each once and in any order.
   * They are the first `candidateCount` entries of a shared buffer, valid until the next call.
   */
  candidates(longitude: number, latitude: number, reachM: number): Int32Array;
  readonly candidateCount: number;
  /** Returns the row of a fence, or -1. */
  rowOf(id: string): number;
  idOf(row: number): string;
  /** Tests whether the row, of this set or another, is that of the fence with this id. */
  isRowOf(row: number, id: string): boolean;
  /** Distinguishes successive fences with the same id: a visit belongs to the fence that was entered. */
  generation(row: number): number;
  rules(row: number): FenceRules;
  zone(row: number, longitude: number, latitude: number, accuracyM: number): Zone;
  /** Returns f, the share of the accuracy disc that is inside the fence, 0 to 1. Only for zones `near` and `partly`. */
  share(row: number, longitude: number, latitude: number, accuracyM: number): number;
  /** Tests whether f is at least one half. For the same zones; cheap if the disc is much larger than the fence. */
  holdsHalf(row: number, longitude: number, latitude: number, accuracyM: number): boolean;
  /** Returns d, the distance to the boundary in metres, positive inside. Reads every edge. */
  signedDistance(row: number, longitude: number, latitude: number): number;
}

/** The part of a beacon that evaluation needs. */
export interface MonitoredBeacon {
  readonly id: string;
  readonly enabled: boolean;
  /** See {@link Fences.generation}. */
  readonly generation: number;
}

/** The beacons of one project and environment. */
export interface Beacons {
  /** Returns all beacons with these identifiers, enabled or not. */
  matching(ranged: RangedBeacon): Iterable<MonitoredBeacon>;
  byId(id: string): MonitoredBeacon | undefined;
}

/** Limits on the work of one location and the size of a state, for any accuracy that a device reports. */
export interface EvaluationBounds {
  /**
   * Visits of one user to geofences, and as many to beacons. A location beyond the limit enters the nearest geofences.
   */
  readonly maxVisits: number;
  /**
   * A fence that does not contain the point, but is within the accuracy, is entered only while there are fewer visits.
   */
  readonly maxBufferedVisits: number;
  /** With buffered entries, fences up to this distance are always examined. */
  readonly fullReachM: number;
  /** With buffered entries, no fence beyond this distance is examined, whatever the accuracy. */
  readonly maxReachM: number;
  /** A reach beyond `fullReachM` is halved while it contains more fences. */
  readonly maxEntryCandidates: number;
}

/**
 * The limits are far above the needs of projects: an accuracy worse than a kilometre says little about fences, and few
 * users are inside 100 geofences.
 */
export const defaultBounds: EvaluationBounds = {
  maxVisits: 1_000,
  maxBufferedVisits: 100,
  fullReachM: 1_000,
  maxReachM: 100_000,
  maxEntryCandidates: 500,
};

/** The fences, beacons and settings that a location is evaluated against. */
export interface EvaluationContext {
  readonly fences: Fences;
  readonly beacons: Beacons;
  readonly settings: Settings;
  readonly bounds: EvaluationBounds;
}

/** A change that becomes one event. */
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

/** The effects of one location. For `repeat` and `stale` the state is the given one and there are no transitions. */
export interface Evaluation {
  readonly result: OutcomeResult;
  readonly state: DeviceState;
  /**
   * The user record of the location, always one of `state`. For a stale location whose user has no record: the record
   * of the device's latest user.
   */
  readonly user: UserState;
  readonly transitions: readonly Transition[];
  /** Number of geofences and beacons that were not entered because of the limit on visits. */
  readonly notEntered: number;
}

/** Collects the effects of one location other than the next state. */
export interface Effects {
  readonly transitions: Transition[];
  notEntered: number;
}

/** Returns what a location does. `state` is undefined for a device without one. */
export type Evaluate = (location: Location, state: DeviceState | undefined, context: EvaluationContext) => Evaluation;
