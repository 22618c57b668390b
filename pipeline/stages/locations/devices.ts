/**
 * Device states of the partitions that this process owns, decoded. An owner is alone with its partition, so what it
 * remembers is the truth until it is fenced; then it becomes a new owner, to whom everything remembered by the old one
 * is unknown.
 */
import { LRUCache } from 'lru-cache';
import type { DeviceState } from '../../../schemas/records.js';
import type { Claim, StateStore } from '../../ports.js';
import { decodeDeviceState } from '../../records/device-state.js';
import type { Breaker } from '../breaker.js';

/** The right to one partition and all that hangs on it; replaced as a whole when the partition is claimed again. */
export class Ownership {
  readonly claim: Claim;
  /** Whether the log still counts the partition as this process's. */
  readonly isOurs: () => boolean;
  readonly breaker: Breaker;
  /** Offset of the next record to apply. */
  nextOffset: number;
  /** The log is not the one that was read: nothing is applied until the position is repaired. */
  isDiverged = false;

  constructor(claim: Claim, isOurs: () => boolean, breaker: Breaker) {
    this.claim = claim;
    this.isOurs = isOurs;
    this.breaker = breaker;
    this.nextOffset = claim.nextOffset;
  }
}

/** One device as a batch works on it. `state` is undefined until a first location was applied. */
export interface Device {
  readonly key: string;
  state: DeviceState | undefined;
  /** True while `state` differs from what was last given to the store. */
  changed: boolean;
}

interface OwnedDevice extends Device {
  readonly owner: Ownership;
}

/** Bounded by `maxDevices` over all partitions; the longest unused are forgotten first. */
export class DeviceCache {
  readonly #states: StateStore;
  readonly #cached: LRUCache<string, OwnedDevice>;

  constructor(states: StateStore, maxDevices: number) {
    this.#states = states;
    this.#cached = new LRUCache({ max: maxDevices });
  }

  /** The devices of these keys; those that `owner` does not remember come from the store. */
  async load(owner: Ownership, keys: ReadonlySet<string>): Promise<ReadonlyMap<string, Device>> {
    const devices = new Map<string, Device>();
    const missing: string[] = [];
    for (const key of keys) {
      const device = this.#cached.get(key);
      if (device?.owner === owner) devices.set(key, device);
      else missing.push(key);
    }
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
