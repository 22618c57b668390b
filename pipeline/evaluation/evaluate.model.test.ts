/** Random devices in random worlds: compares `evaluate` with a plain model, and with itself after another split. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Settings } from '../../schemas/json/project.js';
import type { DeviceState, Location, LocationDetails, Visit } from '../../schemas/records.js';
import { exampleDetails } from '../../schemas/testing/examples.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { decodeDeviceState, encodeDeviceState } from '../records/device-state.js';
import { erasureCommand, withoutErased } from '../records/erasure-command.js';
import { evaluate, transitionOrder } from './evaluate.js';
import {
  contextOf,
  type FlatWorld,
  flatBeacon,
  flatFence,
  flatWorld,
  locationAt,
  minutes,
  noonMs,
} from './testing/flat-world.js';
import { evaluateByTheTables } from './testing/model.js';
import type { EvaluationBounds, FenceRules, Transition } from './types.js';

const often = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

const settings: fc.Arbitrary<Partial<Settings>> = fc.record({
  stopDetection: often(false, true),
  bufferEntries: fc.boolean(),
  bufferExits: fc.boolean(),
  restrictToOperatingHours: fc.boolean(),
  dwellEvents: often(true, false),
  defaultDwellThreshold: fc.constantFrom(null, 0, 2),
  minimumConfidence: often(1, 2, 3),
});

const oddMinutes = (atMs: number) => Math.floor(atMs / minutes(1)) % 2 === 1;
const passes = minutes(12) + noonMs;

const rules: fc.Arbitrary<FenceRules> = fc.record({
  enabled: often(true, false),
  disableAfterMs: often(Number.POSITIVE_INFINITY, passes),
  deleteAfterMs: often(Number.POSITIVE_INFINITY, passes),
  stopDetection: often<boolean | null>(null, true, false),
  dwellThreshold_min: often<number | null>(null, 0, 1, 3),
  hours: often<FenceRules['hours']>(null, oddMinutes),
  userIds: often<FenceRules['userIds']>(null, new Set(['ann', 'bob'])),
  addresses: often<FenceRules['addresses']>(null, (ip) => ip === '10.0.0.1'),
});

// The next world has some fences unchanged, some edited, and some deleted and created again.
const generation = often(1, 2);

// Integers and small circles, so that points are exactly on boundaries.
const coordinate = fc.integer({ min: -9, max: 9 });
const fences = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    x: coordinate,
    y: coordinate,
    radiusM: fc.constantFrom(3, 5, 8),
    rules,
    generation,
  }),
  { selector: ({ id }) => id, maxLength: 5 },
);
// Several beacons may have the same identifiers, and some are disabled.
const beacons = fc
  .uniqueArray(
    fc.record({
      id: fc.constantFrom('p', 'q', 'r', 's'),
      minor: fc.integer({ min: 1, max: 2 }),
      enabled: often(true, false),
      generation,
    }),
    { selector: ({ id }) => id },
  )
  .map((list) => list.map((one) => flatBeacon(one.id, one.minor, one.enabled, one.generation)));
// Limits small enough for a handful of fences.
const bounds: fc.Arbitrary<Partial<EvaluationBounds>> = often<Partial<EvaluationBounds>>(
  {},
  { maxVisits: 2 },
  { maxVisits: 3, maxBufferedVisits: 1 },
  { maxVisits: 1, fullReachM: 2, maxEntryCandidates: 1 },
  { fullReachM: 3, maxEntryCandidates: 2 },
  { fullReachM: 1, maxReachM: 4 },
);
const world: fc.Arbitrary<FlatWorld> = fc
  .tuple(fences, settings, beacons, bounds)
  .map(([list, some, beaconList, limits]) =>
    flatWorld(
      list.map((one) => flatFence(one.id, one.x, one.y, one.radiusM, one.rules, one.generation)),
      some,
      beaconList,
      limits,
    ),
  );

const ranged = fc.option(
  fc.array(
    fc.integer({ min: 1, max: 3 }).map((minor) => flatBeacon('', minor).identifiers),
    { maxLength: 4 },
  ),
  { freq: 2 },
);
const details = often<LocationDetails | null>(
  null,
  ...['phone', 'watch', null].map((installId) => exampleDetails({ installId })),
);

const said = fc.record({
  accuracy_m: fc.constantFrom(0, 1, 2, 5, 10, 100_000, 20_037_508),
  userId: often<string | null>('ann', null, 'bob'),
  deviceTimed: often(true, false),
  foreground: fc.boolean(),
  stopped: fc.boolean(),
  ip: often<string | null>('10.0.0.1', '10.0.0.2', null),
  beacons: ranged,
  details,
});

/**
 * A step of a story: the device moves, repeats its last location (perhaps with a difference), sends an earlier one
 * again with the age that it had before, a user is erased, the world changes, or another server takes requests.
 */
type Step =
  | { kind: 'move'; afterMin: number; x: number; y: number; said: Partial<Location>; isAfterUpgrade: boolean }
  | { kind: 'again'; difference: Partial<Location> }
  | { kind: 'resent'; back: number; afterMin: number }
  | { kind: 'erase'; name: string }
  | { kind: 'world'; world: FlatWorld }
  | { kind: 'server'; aheadMin: number };

const move = fc.record({
  kind: fc.constant('move'),
  afterMin: fc.constantFrom(1, 1, 2, 3, 0, 0.5, -1),
  x: coordinate,
  y: coordinate,
  said,
  isAfterUpgrade: often(false, true),
}) as fc.Arbitrary<Step>;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: move },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('again'),
      difference: fc.oneof(
        fc.constant({}),
        said.chain((one) => fc.subarray(Object.entries(one), { maxLength: 1 }).map(Object.fromEntries<unknown>)),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('resent'),
      back: fc.integer({ min: 1, max: 4 }),
      afterMin: fc.constantFrom(0.01, 0.5, 1, 2, 2.1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('world'), world }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase'), name: fc.constantFrom('ann', 'bob') }) },
) as fc.Arbitrary<Step>;

/** A server whose clock is ahead takes the requests until the next such step. */
const otherServer = fc.record({
  kind: fc.constant('server'),
  aheadMin: fc.constantFrom(0, 0, 300, 61, 59, 5),
}) as fc.Arbitrary<Step>;

interface Happening {
  readonly location: Location;
  /** By how much the clock of the server that took it was ahead. */
  readonly aheadMin: number;
  readonly world: FlatWorld;
  /** True if a release without generations stored the previous state. */
  readonly isAfterUpgrade: boolean;
  /** Users that were erased since the previous location. */
  readonly erased: readonly string[];
}

/** Returns the location with the clock of a device that was started at noon. */
const withClock = (location: Location, details: LocationDetails | null, aheadMin = 0): Location =>
  details === null || details.installId === 'watch'
    ? location
    : { ...location, details: { ...details, locationMs: location.occurredAt - minutes(aheadMin) - noonMs } };

/** The steps as locations, each with its world. */
function happenings(first: FlatWorld, steps: readonly Step[]): Happening[] {
  const result: Happening[] = [];
  let current = first;
  let previous: Location | undefined;
  let atMin = 0;
  let aheadMin = 0;
  let erased: string[] = [];
  for (const one of steps) {
    if (one.kind === 'world') current = one.world;
    if (one.kind === 'erase') erased.push(one.name);
    if (one.kind === 'server') aheadMin = one.aheadMin;
    if (one.kind === 'move') {
      atMin += one.afterMin;
      const moved = locationAt(atMin + aheadMin, one.x, one.y, one.said);
      previous = withClock(moved, moved.details, aheadMin);
    }
    if (one.kind === 'resent' && previous !== undefined) {
      const { location, aheadMin: before } = result.at(-one.back) ?? result[0]!;
      const laterMs = minutes(one.afterMin + aheadMin - before);
      const [occurredAt, receivedAt] = [location.occurredAt + laterMs, location.receivedAt + laterMs];
      previous = { ...location, occurredAt, receivedAt, id: `${location.id}!` };
    }
    if (one.kind === 'again' && previous !== undefined)
      previous = { ...previous, ...one.difference, id: `${previous.id}+` };
    if (one.kind !== 'world' && one.kind !== 'erase' && one.kind !== 'server' && previous !== undefined) {
      const isAfterUpgrade = one.kind === 'move' && one.isAfterUpgrade;
      result.push({ location: previous, aheadMin, world: current, isAfterUpgrade, erased });
      erased = [];
    }
  }
  return result;
}

const moves = fc.tuple(world, fc.array(move, { minLength: 1, maxLength: 20, size: 'max' }));

const story = fc
  .tuple(world, fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }))
  .map(([first, steps]) => happenings(first, steps));

const storyOfServers = fc
  .tuple(
    world,
    fc.array(fc.oneof({ weight: 6, arbitrary: step }, { weight: 1, arbitrary: otherServer }), {
      minLength: 1,
      maxLength: 40,
      size: 'max',
    }),
  )
  .map(([first, steps]) => happenings(first, steps));

/** Returns the state as a release stored it that knew neither generations nor clocks. */
const withoutGenerations = (state: DeviceState): DeviceState => {
  const forgotten = (visits: Visit[]) => visits.map((visit) => ({ ...visit, generation: null }));
  return {
    users: state.users.map((user) => ({
      ...user,
      geofences: forgotten(user.geofences),
      beacons: forgotten(user.beacons),
    })),
    locationMs: null,
  };
};

/** Returns the state of the device before the location: what an upgrade or erasures have left of it. */
function stateBefore(
  { location: { project, environment, deviceId }, isAfterUpgrade, erased }: Happening,
  stored: DeviceState | undefined,
): DeviceState | undefined {
  let state = isAfterUpgrade && stored !== undefined ? withoutGenerations(stored) : stored;
  for (const name of erased) {
    const command = {
      project,
      environment,
      deviceId,
      erasure: 'erasure',
      name,
      receivedBy: noonMs + minutes(1_000_000),
      receivedBeyond: noonMs + minutes(2_000_000),
    };
    state = state && withoutErased(erasureCommand(command), state);
  }
  return state;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

/** Counts results and transitions of a story. */
type Counts = Map<string, number>;

const agreesWithTheTables = (seen: Counts, stories = story) =>
  fc.property(stories, (list) => {
    const count = (kind: string) => seen.set(kind, (seen.get(kind) ?? 0) + 1);
    let state: DeviceState | undefined;
    for (const happening of list) {
      const { location, world: around } = happening;
      state = stateBefore(happening, state);
      const actual = evaluate(location, deepFreeze(state), contextOf(around));
      const expected = evaluateByTheTables(location, state, around, actual.user.id);
      const { result, state: after, transitions, notEntered } = actual;
      expect({ result, state: after, transitions, notEntered }).toEqual(expected);
      if (actual.result !== 'applied') expect(actual.state).toBe(state);
      if (actual.result === 'applied') expect(actual.state.users[0]).toBe(actual.user);
      // The reported record is always one that the state contains.
      expect(actual.state.users).toContain(actual.user);
      if (notEntered > 0) count('not entered');
      for (const kind of [actual.result, ...actual.transitions.map(({ type }) => type)]) count(kind);
      state = actual.state;
    }
  });

test('agrees with the tables and does not modify the given state', () => {
  fc.assert(agreesWithTheTables(new Map()), { numRuns: propertyRuns(600) });
});

test('agrees with the tables when clocks of servers are ahead', () => {
  fc.assert(agreesWithTheTables(new Map(), storyOfServers), { numRuns: propertyRuns(600) });
});

test('agrees with the tables in stories with every result and every transition', () => {
  const seen: Counts = new Map();
  // The seed is fixed, so that the counts do not depend on chance.
  fc.assert(agreesWithTheTables(seen), { numRuns: 300, seed: 3 });
  const kinds = ['applied', 'repeat', 'stale', 'not entered', ...transitionOrder];
  for (const kind of kinds) expect(seen.get(kind), kind).toBeGreaterThan(20);
});

function run(
  list: readonly Happening[],
  start?: DeviceState,
): { state: DeviceState | undefined; transitions: Transition[] } {
  let state = start;
  const transitions: Transition[] = [];
  for (const happening of list) {
    const done = evaluate(happening.location, stateBefore(happening, state), contextOf(happening.world));
    state = done.state;
    transitions.push(...done.transitions);
  }
  return { state, transitions };
}

function bytesOf(state: DeviceState | undefined): Buffer {
  const target = Buffer.alloc(100_000);
  return Buffer.from(target.subarray(0, state && encodeDeviceState(state, target, 0)));
}

test('a sequence split at any point, with the state stored in between, gives the same events and state', () => {
  fc.assert(
    fc.property(storyOfServers, fc.nat(), (list, at) => {
      const whole = run(list);
      const split = at % (list.length + 1);
      const first = run(list.slice(0, split));
      const second = run(list.slice(split), first.state && decodeDeviceState(bytesOf(first.state)));
      expect([...first.transitions, ...second.transitions]).toEqual(whole.transitions);
      expect(bytesOf(second.state)).toEqual(bytesOf(whole.state));
    }),
    { numRuns: propertyRuns(500) },
  );
});

/** The sequence of one user, with device times. */
const timed = (list: readonly Happening[], change = (location: Location) => location): Happening[] =>
  list.map(({ location, world: around }) => ({
    location: change({ ...location, deviceTimed: true, userId: null }),
    aheadMin: 0,
    world: around,
    isAfterUpgrade: false,
    erased: [],
  }));

const withoutClock = (location: Location): Location =>
  location.details === null ? location : { ...location, details: { ...location.details, locationMs: null } };

test('a repeated sequence with device times changes nothing', () => {
  fc.assert(
    fc.property(story, (list) => {
      const sequence = timed(list, withoutClock);
      const once = run(sequence);
      expect(run(sequence, once.state)).toEqual({ state: once.state, transitions: [] });
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a sequence with ages and the clock of the device changes nothing when it arrives again in two minutes', () => {
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 120_000 }), ([first, steps], delayMs) => {
      const sequence = timed(happenings(first, steps), (location) => withClock(location, exampleDetails()));
      const once = run(sequence);
      const later = timed(sequence, (location) => ({ ...location, occurredAt: location.occurredAt + delayMs }));
      expect(run(later, once.state)).toEqual({ state: once.state, transitions: [] });
    }),
    { numRuns: propertyRuns(500) },
  );
});
