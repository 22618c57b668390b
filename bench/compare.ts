/**
 * Compares the entries and exits of an engine with Fenceline's and explains each difference. Pure.
 *
 * Without buffers and minimum confidence, which are off in both, a device is inside what contains its newest fix. So a
 * transition depends on two fixes only: the one that caused it and the one that the device was compared with. Whatever
 * makes the engines differ is seen at one of them.
 */
import type { Transition } from './peers/engine.js';
import type { Fixes } from './workloads/fleet.js';

/** Why a transition is found by one engine only, in the order in which they are tried. */
export const causes = ['late fix', 'state loss', 'distance model', 'unexplained'] as const;
type Cause = (typeof causes)[number];

/** How many transitions are the same, and why the others differ. */
export interface Comparison {
  readonly same: number;
  /** Fenceline's that the engine did not find. */
  readonly missing: Readonly<Record<Cause, number>>;
  /** The engine's that Fenceline did not find. */
  readonly extra: Readonly<Record<Cause, number>>;
  /** The farthest from its outline that a fix lay whose transition differs by the distance model. */
  readonly modelErrorM: number;
}

interface Compared {
  readonly fixes: Fixes;
  readonly reference: readonly Transition[];
  readonly found: readonly Transition[];
  /** The index of the first fix after the engine was killed. */
  readonly restartedAt: number;
  /** Returns the distance of a fix from the outline of a fence in metres. */
  readonly outlineDistanceM: (fix: number, fence: number) => number;
  /** Returns how far two models of the earth may differ at the outline of a fence. */
  readonly toleranceM: (fence: number) => number;
}

/** Compares the transitions of an engine with the reference. Both are of the same fixes. */
export function compare(compared: Compared): Comparison {
  const { reference, found } = compared;
  const [expectedKeys, foundKeys] = [new Set(reference.map(keyOf)), new Set(found.map(keyOf))];
  const causeOf = explainer(compared);
  const missing = emptyCounts();
  const extra = emptyCounts();
  let modelErrorM = 0;
  /** An engine that has lost its visits enters again, and reports no exit. */
  const count = (transition: Transition, counts: Record<Cause, number>): void => {
    const isAsAfterLoss = transition.kind === (counts === extra ? 'enter' : 'exit');
    const { cause, distanceM } = causeOf(transition, isAsAfterLoss);
    counts[cause] += 1;
    if (cause === 'distance model') modelErrorM = Math.max(modelErrorM, distanceM);
  };
  for (const transition of reference) if (!foundKeys.has(keyOf(transition))) count(transition, missing);
  for (const transition of found) if (!expectedKeys.has(keyOf(transition))) count(transition, extra);
  const same = reference.filter((transition) => foundKeys.has(keyOf(transition))).length;
  return { same, missing, extra, modelErrorM };
}

const keyOf = ({ fix, fence, kind }: Transition): string => `${fix}/${fence}/${kind}`;
const emptyCounts = (): Record<Cause, number> => ({
  'late fix': 0,
  'state loss': 0,
  'distance model': 0,
  unexplained: 0,
});

/** Returns a function that explains a transition which only one of the two has found. */
function explainer({ fixes, restartedAt, outlineDistanceM, toleranceM }: Compared) {
  const before = predecessors(fixes);
  return ({ fix, fence }: Transition, isAsAfterLoss: boolean): { cause: Cause; distanceM: number } => {
    const compared = before[fix]!;
    const pair = compared < 0 ? [fix] : [fix, compared];
    const distanceM = Math.min(...pair.map((each) => outlineDistanceM(each, fence)));
    if (pair.some((each) => fixes.late[each] === 1)) return { cause: 'late fix', distanceM };
    if (isAsAfterLoss && compared < restartedAt && fix >= restartedAt) return { cause: 'state loss', distanceM };
    if (distanceM <= toleranceM(fence)) return { cause: 'distance model', distanceM };
    return { cause: 'unexplained', distanceM };
  };
}

/** Returns the index of the fix of the same device that came before each one, or -1. */
function predecessors({ count, deviceCount, devices }: Fixes): Int32Array {
  const last = new Int32Array(deviceCount).fill(-1);
  const before = new Int32Array(count);
  for (let fix = 0; fix < count; fix++) {
    const device = devices[fix]!;
    before[fix] = last[device]!;
    last[device] = fix;
  }
  return before;
}
