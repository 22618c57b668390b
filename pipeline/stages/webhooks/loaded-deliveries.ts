/** Counts the deliveries in memory, in windows and in flight, and says whether a project may load more. */
import type { Delivery } from '../../../schemas/records.js';

/** Limits of the deliveries in memory, over all sources of the process. */
export interface LoadedBounds {
  /** Deliveries in memory in total; beyond it each window holds one. */
  readonly maxLoadedDeliveries: number;
  /** Bytes of their bodies in total. A project may have half of them, and one delivery in any case. */
  readonly maxLoadedBytes: number;
}

/** The number and bytes of loaded deliveries, of all projects and of each. */
export class LoadedDeliveries {
  readonly #bounds: LoadedBounds;
  readonly #bytesOfProjects = new Map<string, number>();
  #count = 0;
  #bytes = 0;

  constructor(bounds: LoadedBounds) {
    this.#bounds = bounds;
  }

  /** Returns the number of loaded deliveries. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether windows may hold more than one delivery. */
  get isFew(): boolean {
    return this.#count < this.#bounds.maxLoadedDeliveries && this.#bytes < this.#bounds.maxLoadedBytes;
  }

  /** Tests whether a delivery of the project may be loaded. True for a project that has none, so that none starves. */
  hasRoom(project: string): boolean {
    const ofProject = this.#bytesOfProjects.get(project) ?? 0;
    const { maxLoadedBytes } = this.#bounds;
    return ofProject === 0 || (this.#bytes < maxLoadedBytes && ofProject < maxLoadedBytes / 2);
  }

  /** Counts a delivery that was loaded. */
  add({ project, body }: Delivery): void {
    this.#change(project, 1, body.length);
  }

  /** Counts a delivery that has left memory. */
  remove({ project, body }: Delivery): void {
    this.#change(project, -1, -body.length);
  }

  #change(project: string, count: number, bytes: number): void {
    this.#count += count;
    this.#bytes += bytes;
    const ofProject = (this.#bytesOfProjects.get(project) ?? 0) + bytes;
    if (ofProject === 0) this.#bytesOfProjects.delete(project);
    else this.#bytesOfProjects.set(project, ofProject);
  }
}
