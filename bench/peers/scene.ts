/** What an engine is measured with: the fences and fixes of a workload. */
import { workloads } from '../workloads/all.js';
import { drawFleet, type Fixes } from '../workloads/fleet.js';
import type { Fence, Workload } from '../workloads/workload.js';

/** Decides everything of a scene, so that another process can draw it too. */
export interface SceneOptions {
  /** The name of the workload. */
  readonly workload: string;
  readonly fences: number;
  readonly devices: number;
  readonly fixes: number;
  readonly seed: number;
}

/** The fences and fixes that all engines get. */
export interface Scene {
  readonly options: SceneOptions;
  readonly workload: Workload;
  readonly fixes: Fixes;
  fences(): Iterable<Fence>;
}

/** Draws a scene, the same for the same options. */
export function drawScene(options: SceneOptions): Scene {
  const workload = workloads.find(({ name }) => name === options.workload)!;
  const { seed, devices, fixes: count } = options;
  const places = workload.places(options.fences, seed);
  return {
    options,
    workload,
    fixes: drawFleet({ devices, count, places, speedsMps: workload.speedsMps, seed: seed + 10 }),
    fences: () => workload.fences(options.fences, seed),
  };
}
