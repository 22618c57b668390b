/** What every engine of the benchmark can do: Fenceline, its peers, and the bare loop that is the limit. */
import type { Fence } from '../workloads/workload.js';
import type { Scene } from './scene.js';

/** The device of a fix has entered or left a fence with it. */
export interface Transition {
  /** The index of the fix. */
  readonly fix: number;
  /** The number of the fence. */
  readonly fence: number;
  readonly kind: 'enter' | 'exit';
}

/** What an engine takes of the machine. */
export interface Usage {
  /** Of all processes and threads of the engine, since it started. */
  readonly processorS: number;
  /** Without mapped files. */
  readonly memoryMib: number;
}

/** A running engine, which knows the fixes of its scene. */
export interface Engine {
  /** Begins to watch these fences. Resolves when the next fix is compared with all of them. */
  load(fences: Iterable<Fence>): Promise<void>;
  /** Applies the fixes from `from` to before `to`, as fast as it can. Resolves when all are applied. */
  apply(from: number, to: number): Promise<void>;
  /** Applies one fix. Resolves to its transitions as soon as a subscriber has them. */
  locate(fix: number): Promise<readonly Transition[]>;
  /** Adds a fence. */
  put(fence: Fence): Promise<void>;
  /** Ends as if the power of its process were cut, and starts again. */
  restart(): Promise<void>;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

/** An engine that can be started, and what readers must know to judge its figures. */
export interface Peer {
  /** As `--peer` takes it. */
  readonly name: string;
  /** How the bench uses it. */
  readonly about: string;
  /** What it keeps after its process was killed. */
  readonly durability: string;
  /** When it reports entries and exits, and what it measures distances with. */
  readonly semantics: string;
  readonly hasPolygons: boolean;
  /** The command that installs it, or where its guide is. */
  readonly install: string;
  /** Returns why it can't run here, or undefined. */
  lacking(): Promise<string | undefined>;
  version(): Promise<string>;
  /** Starts it. A durable one keeps what it can keep; another one is as fast as it can be. */
  start(scene: Scene, isDurable: boolean): Promise<Engine>;
}
