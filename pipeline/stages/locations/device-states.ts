/**
 * Decoded states of the devices in partitions that this process owns. An owner is the only writer of its partition, so
 * cached states are current until it is fenced. A new claim makes a new owner, for whom earlier cache entries don't
 * count.
 */
import { type BoundedCache, createBoundedCache } from '../../../schemas/bounded-cache.js';
import type { DeviceState } from '../../../schemas/records.js';
import type { CacheUse } from '../../cache-use.js';
import type { Claim, Commit, CommitResult, Position, StateStore } from '../../ports.js';
import { decodeDeviceState } from '../../records/device-state.js';
import type { Breaker } from '../breaker.js';
import type { Owner } from '../claimed-partitions.js';

/** The claim on one partition and the state that depends on it; replaced when the partition is claimed again. */
export class PartitionOwner implements Owner {
  readonly claim: Claim;
  readonly breaker: Breaker;
  #position: Position;
  #hasWritten = false;

  constructor(claim: Claim, breaker: Breaker) {
    this.claim = claim;
    this.breaker = breaker;
    this.#position = { offset: claim.nextOffset, mark: claim.mark };
  }

  get position(): Position {
    return this.#position;
  }

  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Commits the results of the records up to the position, and advances to it unless the claim is lost. */
  async commit(
    states: Pick<StateStore, 'commit'>,
    position: Position,
    { states: changed, publish }: Pick<Commit, 'states' | 'publish'>,
  ): Promise<CommitResult> {
    const result = await states.commit(this.claim, {
      expectedOffset: this.#position.offset,
      nextOffset: position.offset,
      mark: position.mark,
      states: changed,
      publish,
    });
    if (result === 'committed') {
      this.#position = position;
      this.#hasWritten = true;
    }
    return result;
  }
}

/** A device within a batch. `state` is undefined until a first location is applied. */
export interface Device {
  readonly key: string;
  state: DeviceState | undefined;
  /** True while `state` differs from the state last given to the store. */
  changed: boolean;
}

interface OwnedDevice extends Device {
  readonly owner: PartitionOwner;
}

/** Loads states, and caches up to `maxDevices` over all partitions; evicts the least recently used. */
export class DeviceStates {
  readonly #states: StateStore;
  readonly #cached: BoundedCache<string, OwnedDevice>;
  #hits = 0;
  #misses = 0;

  constructor(states: StateStore, maxDevices: number) {
    this.#states = states;
    this.#cached = createBoundedCache(maxDevices);
  }

  /** Returns the hits, misses and entries of the cache, for metrics. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, entries: this.#cached.size };
  }

  /** Returns the devices of the keys, from the cache of this owner or else from the store. */
  async load(owner: PartitionOwner, keys: ReadonlySet<string>): Promise<ReadonlyMap<string, Device>> {
    const devices = new Map<string, Device>();
    const missing: string[] = [];
    for (const key of keys) {
      const device = this.#cached.get(key);
      if (device?.owner === owner) devices.set(key, device);
      else missing.push(key);
    }
    this.#hits += devices.size;
    this.#misses += missing.length;
    if (missing.length === 0) return devices;
    const values = await this.#states.load(owner.claim.partition, missing);
    missing.forEach((key, index) => {
      const value = values[index];
      const device: OwnedDevice = { key, owner, state: value && decodeDeviceState(value), changed: false };
      this.#cached.set(key, device);
      devices.set(key, device);
    });
    return devices;
  }
}
