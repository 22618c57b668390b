import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PortError } from '../pipeline/errors.js';
import { evaluate } from '../pipeline/evaluation/evaluate.js';
import { contextOf, flatWorld, locationAt, minutes } from '../pipeline/evaluation/testing/flat-world.js';
import type { StateStore } from '../pipeline/ports.js';
import { encodeDeviceState } from '../pipeline/records/device-state.js';
import type { DeviceState, Location } from '../schemas/records.js';
import { exampleDetails } from '../schemas/testing/examples.js';
import { propertyRuns } from '../schemas/testing/property-runs.js';
import { lastKnownUser, userOfDropped } from './last-known.js';

const context = contextOf(flatWorld([]));

/** A fix of a device whose clock counts from boot. Its request takes `delayMin`, so it seems younger than it is. */
const fix = fc
  .record({
    atMin: fc.integer({ min: 0, max: 3 }),
    delayMin: fc.constantFrom(0, 1, 2, 3),
    userId: fc.constantFrom(null, 'ann', 'bob'),
    hasClock: fc.boolean(),
    deviceTimed: fc.boolean(),
  })
  .map(({ atMin, delayMin, userId, hasClock, deviceTimed }) =>
    locationAt(atMin + delayMin, 0, 0, {
      userId,
      deviceTimed,
      details: exampleDetails({ locationMs: hasClock ? minutes(atMin) : null }),
    }),
  );

/** Each location gets an id of its own, from which ids of users are derived. */
const fixes = (minLength: number): fc.Arbitrary<Location[]> => fc.array(fix, { minLength, maxLength: 4 });

function stateAfter(locations: readonly Location[]) {
  let state: DeviceState | undefined;
  let user: string | undefined;
  for (const location of locations) {
    const evaluation = evaluate(location, state, context);
    state = evaluation.state;
    user = evaluation.user.id;
  }
  return { state, user };
}

function encoded(state: DeviceState): Buffer {
  const target = Buffer.alloc(65_536);
  return target.subarray(0, encodeDeviceState(state, target, 0));
}

const known = (locations: readonly Location[], state: DeviceState | undefined) =>
  knownWith(locations, async () => [state && encoded(state)]);

const knownWith = (locations: readonly Location[], load: StateStore['load']) =>
  lastKnownUser(locations, sourcesWith(load));

const sourcesWith = (load: StateStore['load']) => ({
  log: { partitionOf: () => 0 },
  states: { load },
  configuration: { storedGeofenceHead: () => undefined, beacon: () => undefined } as never,
});

test('while the state store is unavailable, the user is as the location describes it', async () => {
  const sent = [locationAt(1, 0, 0, { userId: 'ann' })];
  const failsWith = (error: Error) => knownWith(sent, () => Promise.reject(error));
  expect(await failsWith(new PortError('unavailable', 'away'))).toMatchObject({ userId: 'ann' });
  await expect(failsWith(new PortError('overloaded', 'busy'))).rejects.toThrow('busy');
  await expect(failsWith(new Error('damaged'))).rejects.toThrow('damaged');
});

// Lateness was decided by the server's time alone. For a fix that was late by the device's clock, or later than
// another of its request, the answer had a user that evaluation did not create.
test('the answer without waiting is about the user that evaluation reports', async () => {
  await fc.assert(
    fc.asyncProperty(fixes(0), fixes(1), async (before, sent) => {
      const all = [...before, ...sent].map((location, index) => ({ ...location, id: `location-${index}` }));
      const [stored, waiting] = [all.slice(0, before.length), all.slice(before.length)];
      expect((await known(waiting, stateAfter(stored).state))._id).toBe(stateAfter(all).user);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

// Only late fixes were left out, so a repeat had a record, which the anonymous fix after it took.
test('regression: the answer named a record that evaluation did not create after a repeat', async () => {
  const at = (id: string, said: Partial<Location>) => locationAt(1, 0, 0, { id, deviceTimed: true, ...said });
  const before = [at('anonymous', {}), at('named', { userId: 'ann' })];
  const sent = [at('anonymous again', {}), at('without a time', { deviceTimed: false })];
  const { user } = stateAfter([...before, ...sent]);
  expect((await known(sent, stateAfter(before).state))._id).toBe(user);
});

// An old stop that was dropped named the record that it would have made, and the next location another one.
test('regression: the answer to a dropped stop named a record that nothing makes', async () => {
  const { state, user } = stateAfter([locationAt(1, 0, 0, { id: 'before', userId: 'ann' })]);
  const stop = locationAt(2, 0, 0, { id: 'stop', userId: 'bob', deviceTimed: false });
  const sources = sourcesWith(async () => [state && encoded(state)]);
  expect(await userOfDropped(stop, sources)).toMatchObject({ _id: user, userId: 'ann' });
  const neverSeen = sourcesWith(async () => [undefined]);
  expect(await userOfDropped(stop, neverSeen)).toMatchObject({ userId: 'bob' });
});
