/**
 * Runs the demo in the test environment of a project: loads its city, and drives its fleet through it. The locations
 * are those of devices, so all that follows is real.
 *
 * A run is bounded in size and time and ends by itself. A lease says that one runs, on whatever node. Its state is a
 * value of the shared store; a run whose state was taken away ends within seconds.
 */
import { randomUUID } from 'node:crypto';
import type { ApiDependencies } from '../api/dependencies.js';
import { isProjectDeleted } from '../pipeline/catalog/store/tables/revisions.js';
import type { Scope } from '../pipeline/catalog/types.js';
import type { HeldLease, HeldLeases } from '../pipeline/held-lease.js';
import { minuteMs } from '../schemas/durations.js';
import { ApiError } from '../schemas/errors.js';
import { buildCity, type City } from './city.js';
import { createFleet } from './fleet.js';
import { countGeofences, demoTag, type GeofenceParts, loadGeofences, removeGeofences } from './geofences.js';
import { driveFleet, type TrafficParts } from './traffic.js';

/** Size and length of every run. */
export const demoBounds = { devices: 80, durationMs: 10 * minuteMs } as const;

const stateRetentionMs = 10 * minuteMs;
/** A run whose process has ended is over after this time. */
const leaseMs = 15_000;
const renewEveryMs = 2_000;
const maxRunning = 4;
const retryAfterS = 60;

interface RunningDemo {
  readonly id: string;
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  readonly devices: number;
  /** Number of locations that were sent. */
  readonly locations: number;
}

/** What the demo of a node works with. */
export interface DemoParts extends GeofenceParts, TrafficParts, Pick<ApiDependencies, 'values'> {
  readonly leases: HeldLeases;
  readonly onProblem: (error: unknown) => void;
}

interface Demo {
  /** Returns the run of the project, on any node. */
  running(scope: Scope): Promise<RunningDemo | undefined>;
  /** Returns the number of the demo's geofences. */
  geofences(scope: Scope): number;
  /** Loads the city and starts a run. Throws `conflict` while one runs, and `overloaded` if this node runs many. */
  start(scope: Scope): Promise<RunningDemo>;
  stop(scope: Scope): Promise<void>;
  /** Stops the run, and deletes the demo's geofences. Resolves to their number. */
  remove(scope: Scope): Promise<number>;
  close(): Promise<void>;
}

const leaseKey = ({ project }: Scope): string => `demo/${project}`;
const stateKey = (id: string): string => `demo-state/${id}`;

const newRun = (startedAtMs: number): RunningDemo => ({
  id: randomUUID(),
  startedAtMs,
  endsAtMs: startedAtMs + demoBounds.durationMs,
  devices: demoBounds.devices,
  locations: 0,
});

/** Creates the demo of a node. One run per environment on all nodes. */
export function createDemo(parts: DemoParts): Demo {
  const { configuration, values, leases, clock, admitWrite, onProblem } = parts;
  /** The runs of this node. */
  const runs = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  let starting = 0;
  const closing = new AbortController();
  let city: City | undefined;
  const theCity = (): City => {
    city ??= buildCity();
    return city;
  };

  async function running(scope: Scope): Promise<RunningDemo | undefined> {
    const id = await leases.holderOf(leaseKey(scope));
    const text = id && (await values.get(stateKey(id)));
    return text ? (JSON.parse(text) as RunningDemo) : undefined;
  }

  /**
   * Creates a function that stores the number of locations that were sent. It resolves to false when the run is over:
   * its state was taken away, or its project was deleted.
   */
  function stateOf(scope: Scope, first: RunningDemo): (locations: number) => Promise<boolean> {
    let current = JSON.stringify(first);
    return async (locations) => {
      if (isProjectDeleted(configuration, scope.project)) return false;
      const next = JSON.stringify({ ...first, locations });
      const isKept = await values.put(stateKey(first.id), next, stateRetentionMs, { current });
      current = next;
      return isKept;
    };
  }

  async function load(scope: Scope, first: RunningDemo): Promise<void> {
    await values.put(stateKey(first.id), JSON.stringify(first), stateRetentionMs);
    await loadGeofences(parts, scope, theCity());
  }

  async function runToEnd(scope: Scope, first: RunningDemo, lease: HeldLease, signal: AbortSignal): Promise<void> {
    try {
      await driveFleet(parts, {
        scope,
        fleet: createFleet(theCity(), first.devices),
        prefix: demoTag,
        endsAtMs: first.endsAtMs,
        signal: AbortSignal.any([signal, lease.lost]),
        report: stateOf(scope, first),
      });
    } catch (error) {
      onProblem(error);
    }
    await forget(first, lease);
  }

  async function forget({ id }: RunningDemo, lease: HeldLease): Promise<void> {
    await lease.release();
    // Without the store, the state expires by itself.
    await values.delete(stateKey(id)).catch(() => undefined);
  }

  async function stop(scope: Scope): Promise<void> {
    const id = await leases.holderOf(leaseKey(scope));
    if (id !== undefined) await values.delete(stateKey(id));
    const run = runs.get(scope.project);
    run?.stop.abort();
    await run?.done;
  }

  return {
    running,
    geofences: (scope) => countGeofences(parts, scope),
    stop,

    async start(scope) {
      admitWrite?.();
      const first = newRun(clock());
      // Only one request of a project continues: the others must not take the places of other projects.
      const terms = { leaseMs, renewEveryMs, closing: closing.signal };
      const lease = await leases.hold(leaseKey(scope), first.id, terms);
      if (lease === undefined) throw new ApiError('conflict', 'the demo of this project runs already');
      try {
        if (runs.size + starting >= maxRunning)
          throw new ApiError('overloaded', 'this server runs several demos', { retryAfterS });
        starting += 1;
        await load(scope, first).finally(() => {
          starting -= 1;
        });
        // A run that starts now would be stopped by nobody.
        closing.signal.throwIfAborted();
      } catch (error) {
        await forget(first, lease);
        throw error;
      }
      const stopping = new AbortController();
      const done = runToEnd(scope, first, lease, stopping.signal).finally(() => {
        if (runs.get(scope.project)?.stop === stopping) runs.delete(scope.project);
      });
      runs.set(scope.project, { stop: stopping, done });
      return first;
    },

    async remove(scope) {
      await stop(scope);
      return removeGeofences(parts, scope, theCity());
    },

    async close() {
      closing.abort(new ApiError('unavailable', 'the server is stopping', { retryAfterS }));
      const open = [...runs.values()];
      for (const run of open) run.stop.abort();
      await Promise.all(open.map(({ done }) => done));
    },
  };
}
