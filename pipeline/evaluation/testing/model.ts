/**
 * A plain and slow model of evaluation: it examines every fence and every beacon for every location, and applies each
 * rule as the documentation words it. It shares only types with the code under test.
 */
import { deriveId } from '../../../schemas/ids.js';
import type { Settings } from '../../../schemas/json/project.js';
import type { DeviceState, Location, UserState, Visit } from '../../../schemas/records.js';
import type { Transition } from '../types.js';
import { type FlatFence, type FlatWorld, overlapShare, signedDistance } from './flat-world.js';

interface ModelEvaluation {
  readonly result: 'applied' | 'repeat' | 'stale';
  readonly state: DeviceState;
  readonly transitions: Transition[];
  readonly notEntered: number;
}

/**
 * Evaluates a location by the rules alone. `freshId` is the `_id` that the code under test gave to a new user record.
 */
export function evaluateByTheTables(
  location: Location,
  before: DeviceState | undefined,
  world: FlatWorld,
  freshId: string,
): ModelEvaluation {
  const state: DeviceState = structuredClone(before ?? { users: [], locationMs: null });
  const latest = state.users[0];
  let overtaken: string[] = [];

  if (latest?.last && location.deviceTimed) {
    const occurredAt = isOfWrongClock(latest.last, location)
      ? timeAfterWrongClock(location, latest.last.occurredAt, state.locationMs)
      : timeOfFix(location, latest.last.occurredAt, state.locationMs);
    if (occurredAt < latest.last.occurredAt) return { result: 'stale', state, transitions: [], notEntered: 0 };
    const isSameUser = latest.userId === location.userId;
    const isNews = profileWith(location, latest.profile) !== latest.profile;
    const isLast = isSameUser && fingerprint({ ...location, occurredAt }) === fingerprintOfLast(latest);
    const isOfOneTime = occurredAt === latest.last.occurredAt;
    const isOvertaken = isOfOneTime && (state.overtaken ?? []).includes(idOfFix(location, rangedSet(location)));
    if (isOvertaken || (isLast && !isNews)) return { result: 'repeat', state, transitions: [], notEntered: 0 };
    if (isOfOneTime && latest.last.deviceTimed) {
      overtaken = [...(state.overtaken ?? [])];
      if (!isLast) overtaken.push(idOfFix({ ...latest.last, userId: latest.userId }, latest.last.beacons));
      overtaken.splice(0, overtaken.length - 32);
    }
  }

  const user = takeRecord(state, location, freshId);
  const geofences = moveThroughFences(user, location, world);
  const beacons = moveThroughBeacons(user, location, world);
  remember(user, location);
  state.locationMs = location.details?.locationMs ?? null;
  state.users.unshift(user);
  state.users.splice(16);
  if (overtaken.length > 0) state.overtaken = overtaken;
  else delete state.overtaken;
  return {
    result: 'applied',
    state,
    transitions: [...geofences.transitions, ...beacons.transitions],
    notEntered: geofences.notEntered + beacons.notEntered,
  };
}

const rangedSet = (location: Location): string | null =>
  location.beacons &&
  [...new Set(location.beacons.map((one) => [one.type, one.group, one.major, one.minor].join('/')))].sort().join(',');

const fingerprint = (location: Location): string =>
  JSON.stringify([
    location.deviceTimed,
    location.occurredAt,
    location.longitude,
    location.latitude,
    location.accuracy_m,
    location.stopped,
    location.foreground,
    rangedSet(location),
  ]);

function fingerprintOfLast({ last }: UserState): string {
  const { deviceTimed, occurredAt, longitude, latitude, accuracy_m, stopped, foreground, beacons } = last!;
  return JSON.stringify([deviceTimed, occurredAt, longitude, latitude, accuracy_m, stopped, foreground, beacons]);
}

/** Returns what distinguishes fixes of one time. */
const idOfFix = (
  fix: Pick<Location, 'userId' | 'longitude' | 'latitude' | 'accuracy_m' | 'stopped' | 'foreground'>,
  beacons: string | null,
): string => {
  const { userId, longitude, latitude, accuracy_m, stopped, foreground } = fix;
  return deriveId('fix', JSON.stringify([userId, longitude, latitude, accuracy_m, stopped, foreground, beacons]));
};

/** Returns the record of the user, the anonymous record that the first user takes over, or a new record. */
function takeRecord(state: DeviceState, { userId, receivedAt }: Location, freshId: string): UserState {
  const own = state.users.findIndex((user) => user.userId === userId);
  if (own >= 0) return state.users.splice(own, 1)[0]!;
  const namedNobodyYet = state.users.length > 0 && state.users.every((user) => user.userId === null);
  if (namedNobodyYet) return { ...state.users.splice(0, 1)[0]!, userId };
  return { id: freshId, userId, createdAt: receivedAt, profile: null, last: null, geofences: [], beacons: [] };
}

function remember(user: UserState, location: Location): void {
  const { occurredAt, receivedAt, latitude, longitude, accuracy_m, deviceTimed, foreground, stopped, ip, source } =
    location;
  const beacons = rangedSet(location);
  user.last = {
    occurredAt,
    receivedAt,
    latitude,
    longitude,
    accuracy_m,
    deviceTimed,
    foreground,
    stopped,
    beacons,
    ip,
    source,
  };
  user.profile = profileWith(location, user.profile);
}

/** The stories tell nothing else of the profile. */
const profileWith = ({ details }: Location, profile: string | null): string | null =>
  details?.installId == null ? profile : JSON.stringify({ installId: details.installId });

/**
 * The time of the fix by the clock of the location before, if a request that was sent again explains why the server's
 * time is later.
 */
function timeOfFix({ occurredAt, details }: Location, lastAt: number, lastMs: number | null): number {
  if (details?.locationMs == null || lastMs === null) return occurredAt;
  const byClock = lastAt + (details.locationMs - lastMs);
  return occurredAt > byClock && occurredAt <= byClock + 120_000 ? byClock : occurredAt;
}

/** The last location lies more than an hour beyond the receipt of a fix that is younger than two minutes. */
const isOfWrongClock = (last: NonNullable<UserState['last']>, { occurredAt, receivedAt }: Location): boolean =>
  last.occurredAt - receivedAt > 3_600_000 && receivedAt - occurredAt < 120_000;

/** The time of the fix by the device's clock, if it is at most two minutes before the last one, else any later one. */
function timeAfterWrongClock({ details }: Location, lastAt: number, lastMs: number | null): number {
  if (details?.locationMs == null || lastMs === null) return Number.POSITIVE_INFINITY;
  const laterMs = details.locationMs - lastMs;
  return laterMs <= 0 && laterMs >= -120_000 ? lastAt + laterMs : Number.POSITIVE_INFINITY;
}

/** Visits that began after the location begin with it. */
function beginBy(visits: readonly Visit[], { occurredAt }: Location): void {
  for (const visit of visits) if (visit.since > occurredAt) visit.since = occurredAt;
}

/** The relation of the location to a fence, in the notation of `geometry/zone.ts`. */
function measure(fence: FlatFence, { longitude, latitude, accuracy_m: a }: Location) {
  const d = signedDistance(fence, longitude, latitude);
  const f = a === 0 ? (d >= 0 ? 1 : 0) : overlapShare(fence, longitude, latitude, a);
  const entry: 1 | 2 | 3 = d >= a ? 3 : f >= 0.5 ? 2 : 1;
  const exit: 1 | 2 | 3 = d <= -a ? 3 : 1 - f >= 0.5 ? 2 : 1;
  return { d, a, entry, exit };
}

interface Moved {
  readonly transitions: Transition[];
  readonly notEntered: number;
}

/**
 * Ends visits to fences and beacons that were deleted, even if created again, and gives visits without a generation the
 * current one.
 */
function forgetGone(
  visits: readonly Visit[],
  existing: readonly { readonly id: string; readonly generation: number }[],
): Visit[] {
  return visits.flatMap((visit) => {
    const now = existing.find(({ id }) => id === visit.id);
    const isTheSame = now !== undefined && (visit.generation === null || visit.generation === now.generation);
    return isTheSame ? [{ ...visit, generation: now.generation }] : [];
  });
}

/** The reach of the search for fences: the accuracy, unless it is too large or too many fences are within it. */
function entryReach({ longitude, latitude, accuracy_m, occurredAt }: Location, { fences, bounds }: FlatWorld): number {
  const isCrowded = (reachM: number): boolean =>
    fences.filter((fence) => isNear(fence, longitude, latitude, reachM) && !(occurredAt > fence.rules.deleteAfterMs))
      .length > bounds.maxEntryCandidates;
  const wantedM = Math.min(accuracy_m, bounds.maxReachM);
  let reachM = Math.min(wantedM, bounds.fullReachM);
  while (reachM < wantedM && !isCrowded(Math.min(reachM * 2, wantedM))) reachM = Math.min(reachM * 2, wantedM);
  return reachM;
}

/** Tests whether the fence's box, extended by the reach, contains the point. */
const isNear = ({ x, y, radiusM }: FlatFence, longitude: number, latitude: number, reachM: number): boolean =>
  Math.max(Math.abs(x - longitude), Math.abs(y - latitude)) <= radiusM + reachM;

function moveThroughFences(user: UserState, location: Location, world: FlatWorld): Moved {
  const { fences, settings, bounds } = world;
  const now = location.occurredAt;
  const exits: Transition[] = [];
  const wanted: { distanceM: number; visit: Visit; entry: Transition }[] = [];
  const dwells: Transition[] = [];
  const reachM = entryReach(location, world);
  const living = fences.filter((fence) => !(now > fence.rules.deleteAfterMs));
  user.geofences = forgetGone(user.geofences, living);
  beginBy(user.geofences, location);

  for (const fence of living.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const { rules } = fence;
    if (rules.addresses !== null && !(location.ip !== null && rules.addresses(location.ip))) continue;

    const isOpen = rules.hours === null || rules.hours(now);
    const isForUser = rules.userIds === null || (location.userId !== null && rules.userIds.has(location.userId));
    const isMonitored =
      rules.enabled && !(now > rules.disableAfterMs) && isForUser && (isOpen || !settings.restrictToOperatingHours);

    const { d, a, entry, exit } = measure(fence, location);
    const enter = settings.bufferEntries ? d >= -a : d >= 0;
    const leave = !enter && (settings.bufferExits ? d < -a : d < 0);
    const stops = rules.stopDetection ?? settings.stopDetection;
    const currentlyOperating = rules.hours === null ? null : isOpen;
    const visit = user.geofences.find(({ id }) => id === fence.id);
    const durationMs = visit === undefined ? null : Math.max(0, now - visit.since);
    const common = { id: fence.id, durationMs, currentlyOperating };

    if (visit === undefined) {
      const isStoppedEnough = !stops || location.stopped || location.foreground;
      const isLookedAt = !settings.bufferEntries || isNear(fence, location.longitude, location.latitude, reachM);
      if (isMonitored && isLookedAt && enter && isStoppedEnough && entry >= settings.minimumConfidence) {
        wanted.push({
          distanceM: d >= 0 ? 0 : -d,
          visit: { id: fence.id, since: now, dwelled: false, generation: fence.generation },
          entry: { type: 'user.entered_geofence', confidence: entry, ...common },
        });
      }
    } else if (leave && exit >= settings.minimumConfidence) {
      user.geofences.splice(user.geofences.indexOf(visit), 1);
      if (isMonitored) exits.push({ type: 'user.exited_geofence', confidence: exit, ...common });
    } else if (
      !leave &&
      isMonitored &&
      isLongEnough(visit, fence, now, settings) &&
      entry >= settings.minimumConfidence
    ) {
      visit.dwelled = true;
      dwells.push({ type: 'user.dwelled_in_geofence', confidence: entry, ...common });
    }
  }
  const remaining = user.geofences.length;
  const entered: typeof wanted = [];
  for (const one of wanted.toSorted((a, b) => a.distanceM - b.distanceM)) {
    const inside = remaining + entered.length;
    if (inside < bounds.maxVisits && (one.distanceM === 0 || inside < bounds.maxBufferedVisits)) entered.push(one);
  }
  entered.sort((a, b) => (a.visit.id < b.visit.id ? -1 : 1));
  for (const { visit } of entered) insert(user.geofences, visit);
  return {
    transitions: [...exits, ...entered.map(({ entry }) => entry), ...dwells],
    notEntered: wanted.length - entered.length,
  };
}

function isLongEnough(visit: Visit, fence: FlatFence, now: number, settings: Settings): boolean {
  const threshold = fence.rules.dwellThreshold_min ?? settings.defaultDwellThreshold;
  return settings.dwellEvents && threshold !== null && !visit.dwelled && (now - visit.since) / 60_000 > threshold;
}

/** Inserts a visit after all visits that began at the same time or earlier. */
function insert(visits: Visit[], visit: Visit): void {
  const after = visits.findIndex((other) => other.since > visit.since);
  visits.splice(after < 0 ? visits.length : after, 0, visit);
}

function moveThroughBeacons(user: UserState, location: Location, { beacons, bounds }: FlatWorld): Moved {
  const exits: Transition[] = [];
  const wanted: { visit: Visit; entry: Transition }[] = [];
  user.beacons = forgetGone(user.beacons, beacons);
  beginBy(user.beacons, location);
  if (location.beacons === null) return { transitions: [], notEntered: 0 };

  for (const beacon of beacons.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const { type, group, major, minor } = beacon.identifiers;
    const isHeard = location.beacons.some(
      (one) => one.type === type && one.group === group && one.major === major && one.minor === minor,
    );
    const visit = user.beacons.find(({ id }) => id === beacon.id);
    const common = { id: beacon.id, confidence: 3, currentlyOperating: null } as const;
    if (visit === undefined && isHeard && beacon.enabled) {
      wanted.push({
        visit: { id: beacon.id, since: location.occurredAt, dwelled: false, generation: beacon.generation },
        entry: { type: 'user.entered_beacon', durationMs: null, ...common },
      });
    } else if (visit !== undefined && !isHeard) {
      user.beacons.splice(user.beacons.indexOf(visit), 1);
      const durationMs = Math.max(0, location.occurredAt - visit.since);
      if (beacon.enabled) exits.push({ type: 'user.exited_beacon', durationMs, ...common });
    }
  }
  const entered = wanted.slice(0, Math.max(0, bounds.maxVisits - user.beacons.length));
  for (const { visit } of entered) insert(user.beacons, visit);
  return { transitions: [...exits, ...entered.map(({ entry }) => entry)], notEntered: wanted.length - entered.length };
}
