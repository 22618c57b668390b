/** Fenceline's evaluation, called in process, with states in memory as between two commits. */
import { evaluate } from '../../pipeline/evaluation/evaluate.js';
import type { DeviceState } from '../../schemas/records.js';
import { benchProject, contextOf, locationOf } from '../context.js';
import { geofenceId, recordOf } from '../workload.js';
import type { Peer, Transition } from './engine.js';
import { type Core, startInProcess } from './in-process.js';
import type { Scene } from './scene.js';

/** Creates Fenceline's core of a scene, without fences. */
export function createFencelineCore({ fixes, fences }: Scene): Core {
  let evaluation: ReturnType<typeof contextOf> | undefined;
  let numbers: Map<string, number> | undefined;
  const states: (DeviceState | undefined)[] = new Array(fixes.deviceCount).fill(undefined);
  const names = Array.from({ length: fixes.deviceCount }, (_, device) => `device-${device}`);

  function applyOne(fix: number) {
    const device = fixes.devices[fix]!;
    const location = locationOf(
      names[device]!,
      fixes.longitudes[fix]!,
      fixes.latitudes[fix]!,
      fixes.accuraciesM[fix]!,
      fixes.timesMs[fix]!,
    );
    const evaluated = evaluate(location, states[device], evaluation!.context);
    states[device] = evaluated.state;
    return evaluated.transitions;
  }

  /** Made when first needed, so that it doesn't count as memory of the engine. */
  function numberOf(id: string): number {
    numbers ??= new Map(Array.from(fences(), ({ number }) => [geofenceId(benchProject, number), number]));
    return numbers.get(id)!;
  }

  return {
    load(all) {
      evaluation = contextOf(records(all));
    },
    apply(from, to) {
      for (let fix = from; fix < to; fix++) applyOne(fix);
    },
    locate: (fix) =>
      applyOne(fix).map(
        ({ id, type }): Transition => ({
          fix,
          fence: numberOf(id),
          kind: type === 'user.entered_geofence' ? 'enter' : 'exit',
        }),
      ),
    put(fence) {
      evaluation!.put(recordOf(fence, benchProject));
    },
    // The product commits states to disk or to Redis. Here the caller keeps them.
    restart() {},
  };
}

function* records(fences: Parameters<Core['load']>[0]) {
  for (const fence of fences) yield recordOf(fence, benchProject);
}

/** Fenceline's evaluation in process. */
export const fencelinePeer: Peer = {
  name: 'fenceline',
  about: 'evaluation alone, called in process: one thread, states in memory',
  durability: 'none by itself: the pipeline commits states with their results',
  semantics:
    'WGS84; an entry or exit when the point crosses the outline; by device time, so a late fix changes nothing',
  hasPolygons: true,
  install: '',
  lacking: async () => undefined,
  version: async () => process.env.npm_package_version ?? 'of this commit',
  start: (scene) => startInProcess('fenceline', scene),
};
