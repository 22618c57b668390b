/**
 * Drives the fleet of the demo through its city, in the test environment of a project. The locations are validated and
 * appended as those of devices are, so all that follows is real.
 *
 * A run is bounded in size and time and ends by itself. A lease says that one runs, on whatever node. Its state is a
 * value of the shared store; a run whose state was taken away ends within seconds.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiDependencies } from '../api/dependencies.js';
import { geofenceId } from '../api/geofences/record.js';
import { changeMany } from '../api/paired/bulk.js';
import { readLocation } from '../http/location/request.js';
import { applyBatch } from '../imports/batch.js';
import { geometryResolver, resourceOf } from '../imports/resources.js';
import { recordOf } from '../ingest/intake.js';
import { isProjectDeleted } from '../pipeline/catalog/store/tables/revisions.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { type HeldLease, holdLease } from '../pipeline/held-lease.js';
import { topics } from '../pipeline/ports.js';
import { Slab } from '../pipeline/records/slab.js';
import { ApiError } from '../schemas/errors.js';
import { buildCity, type City } from './city.js';
import { createFleet, type Device } from './fleet.js';

/** All geofences of the demo have it, so that they are found, and removed, together. */
export const demoTag = 'demo';

export const demoBounds = { devices: 80, durationMs: 10 * 60_000 } as const;

const tickMs = 1_000;
/** A device reports at every so many ticks: 20 locations a second in all. */
const ticksPerReport = 4;
/** The fleet moves this many times as fast as in a city, so that viewers see events soon. */
const pace = 3;
/** The state is stored at every so many ticks. */
const ticksPerState = 2;
const keepStateMs = 10 * 60_000;
/** A run whose process has ended is over after this time. */
const leaseMs = 15_000;
const renewEveryMs = 2_000;
const maxRunning = 4;
const retryAfterS = 60;

export interface RunningDemo {
  readonly id: string;
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  readonly devices: number;
  /** Number of locations that were sent. */
  readonly locations: number;
}

export interface DemoParts
  extends Pick<ApiDependencies, 'configuration' | 'writer' | 'geometrySources' | 'log' | 'values' | 'clock'> {
  /** Throws while nothing can be stored. */
  readonly admitWrite?: (() => void) | undefined;
  readonly onProblem: (error: unknown) => void;
  /** Waits between two ticks; resolves early at the signal. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Demo {
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

const pairsOf = ({ geofences }: City) =>
  geofences.map(({ tag, externalId, fields }) => ({
    tag: demoTag,
    externalId: `${tag}-${externalId}`,
    fields: { ...fields, metadata: { ...(fields.metadata as object | undefined), kind: tag } },
  }));

const pauseUntil = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

export function createDemo(parts: DemoParts): Demo {
  const { configuration, writer, values, log, clock, admitWrite, onProblem, pause = pauseUntil } = parts;
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
    const id = await values.get(leaseKey(scope));
    const text = id && (await values.get(stateKey(id)));
    return text ? (JSON.parse(text) as RunningDemo) : undefined;
  }

  async function load(scope: Scope, first: RunningDemo): Promise<void> {
    await values.put(stateKey(first.id), JSON.stringify(first), keepStateMs);
    const records = pairsOf(theCity()).map(({ tag, externalId, fields }) => ({ tag, externalId, ...fields }));
    const resource = resourceOf('geofence', { configuration, resolve: geometryResolver(parts) }, scope);
    const results = await applyBatch({ configuration, writer }, resource, records, false);
    const rejected = results.find(({ action }) => action === 'rejected');
    if (rejected) throw new Error(`the demo's geofence ${rejected.index} is invalid: ${rejected.error?.message}`);
  }

  async function send(scope: Scope, devices: readonly Device[]): Promise<void> {
    admitWrite?.();
    const slab = new Slab();
    const { project, environment } = scope;
    const receipt = { project, environment, receivedAt: clock(), ip: null, replayed: false, replyTo: null };
    const records = devices.map((device) => {
      device.advance((ticksPerReport * tickMs * pace) / 1_000);
      const { beacons: _, ...fix } = device.fix();
      const deviceId = `${demoTag}-${device.deviceId}`;
      const location = readLocation({ deviceId, userId: deviceId, ...fix }, receipt);
      if (!location.ok) throw new Error(`the demo's location is invalid: ${location.problem.rule}`);
      return recordOf(location.value, slab);
    });
    await log.append(topics.locations, records);
  }

  /** Runs until the end, the signal, or until the state of the run was taken away or its project was deleted. */
  async function drive(scope: Scope, first: RunningDemo, signal: AbortSignal): Promise<void> {
    const fleet = createFleet(theCity(), first.devices);
    let text = JSON.stringify(first);
    let locations = 0;
    for (let tick = 0; clock() < first.endsAtMs && !signal.aborted; tick++) {
      if (tick % ticksPerState === 0) {
        if (isProjectDeleted(configuration, scope.project)) return;
        const next = JSON.stringify({ ...first, locations });
        if (!(await values.put(stateKey(first.id), next, keepStateMs, { current: text }))) return;
        text = next;
      }
      const due = fleet.filter((_, index) => index % ticksPerReport === tick % ticksPerReport);
      await send(scope, due);
      locations += due.length;
      await pause(tickMs, signal);
    }
  }

  async function runToEnd(scope: Scope, first: RunningDemo, lease: HeldLease, signal: AbortSignal): Promise<void> {
    await drive(scope, first, AbortSignal.any([signal, lease.lost])).catch(onProblem);
    await forget(first, lease);
  }

  const newRun = (startedAtMs: number): RunningDemo => ({
    id: randomUUID(),
    startedAtMs,
    endsAtMs: startedAtMs + demoBounds.durationMs,
    devices: demoBounds.devices,
    locations: 0,
  });

  async function forget({ id }: RunningDemo, lease: HeldLease): Promise<void> {
    await lease.release();
    await values.delete(stateKey(id)).catch(() => undefined);
  }

  async function stop(scope: Scope): Promise<void> {
    const id = await values.get(leaseKey(scope));
    if (id !== undefined) await values.delete(stateKey(id));
    const run = runs.get(scope.project);
    run?.stop.abort();
    await run?.done;
  }

  return {
    running,
    geofences: (scope) => configuration.count('geofence', { ...scope, tag: demoTag }),
    stop,

    async start(scope) {
      admitWrite?.();
      const first = newRun(clock());
      // Only one request of a project continues: the others must not take the places of other projects.
      const terms = { leaseMs, renewEveryMs, closing: closing.signal };
      const lease = await holdLease(values, leaseKey(scope), first.id, terms);
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
      const ids = pairsOf(theCity()).map((pair) => geofenceId(scope, pair));
      const find = (id: string) => configuration.geofence(scope, id);
      return (await changeMany({ configuration, writer, clock }, 'geofence', 'delete', ids, find)).changed;
    },

    async close() {
      closing.abort(new ApiError('unavailable', 'the server is stopping', { retryAfterS }));
      const open = [...runs.values()];
      for (const run of open) run.stop.abort();
      await Promise.all(open.map(({ done }) => done));
    },
  };
}
