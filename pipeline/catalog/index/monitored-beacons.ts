/** Indexes the beacons of one project and environment by identifiers, by id and by location. */
import { around } from 'geokdbush';
import KDBush from 'kdbush';
import type { BeaconRecord, BeaconType } from '../../../schemas/json/beacon.js';
import type { RangedBeacon } from '../../../schemas/records.js';
import { beaconKey } from '../../evaluation/beacons.js';
import type { Beacons, MonitoredBeacon } from '../../evaluation/types.js';
import { distance } from '../../geometry/scale.js';

/** The index is rebuilt when more beacons than this number, and more than this share, have changed. */
const minChangesToIndex = 256;
const shareToIndex = 0.05;

/** The distances of the index (on a sphere) and of Fenceline (on an ellipsoid) differ by less than this factor. */
const sphereMargin = 1.01;

const noBeacons: readonly MonitoredBeacon[] = [];

interface Placed extends MonitoredBeacon {
  readonly key: string;
  readonly type: BeaconType;
  readonly longitude: number;
  readonly latitude: number;
}

interface BeaconAtDistance {
  readonly id: string;
  readonly distanceM: number;
}

interface NearestBeacons {
  readonly radiusM: number;
  readonly limit: number;
  /** Undefined: of all types. */
  readonly type?: BeaconType | undefined;
}

/** The beacons of one project and environment that the evaluating thread knows. */
export class MonitoredBeacons implements Beacons {
  readonly #byId = new Map<string, Placed>();
  /** By identifiers, then by id: several records may have the same identifiers. */
  readonly #byKey = new Map<string, Map<string, Placed>>();
  #indexed: Placed[] = [];
  #index: KDBush | undefined;
  /** Beacons that changed since the index was built. */
  readonly #recent = new Map<string, Placed>();
  #outdated = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** Adds or replaces a beacon. */
  set(record: BeaconRecord): void {
    this.delete(record._id);
    const [longitude, latitude] = record.coordinates;
    const beacon: Placed = {
      id: record._id,
      enabled: record.enabled,
      generation: record.createdAt,
      key: beaconKey(record),
      type: record.type,
      longitude,
      latitude,
    };
    this.#byId.set(beacon.id, beacon);
    const alike = this.#byKey.get(beacon.key) ?? new Map<string, Placed>();
    this.#byKey.set(beacon.key, alike.set(beacon.id, beacon));
    this.#recent.set(beacon.id, beacon);
  }

  /** Deletes a beacon, if it exists. */
  delete(id: string): void {
    const beacon = this.#byId.get(id);
    if (beacon === undefined) return;
    this.#byId.delete(id);
    const alike = this.#byKey.get(beacon.key)!;
    alike.delete(id);
    if (alike.size === 0) this.#byKey.delete(beacon.key);
    if (!this.#recent.delete(id)) this.#outdated++;
  }

  matching(ranged: RangedBeacon): Iterable<MonitoredBeacon> {
    return this.#byKey.get(beaconKey(ranged))?.values() ?? noBeacons;
  }

  byId(id: string): MonitoredBeacon | undefined {
    return this.#byId.get(id);
  }

  /** Returns enabled beacons within `radiusM` by distance, then by id. */
  nearest(longitude: number, latitude: number, { radiusM, limit, type }: NearestBeacons): BeaconAtDistance[] {
    this.#indexIfDue();
    const found: BeaconAtDistance[] = [];
    const consider = (beacon: Placed): void => {
      if (!beacon.enabled || (type !== undefined && beacon.type !== type)) return;
      const distanceM = distance(longitude, latitude, beacon.longitude, beacon.latitude);
      if (distanceM <= radiusM) found.push({ id: beacon.id, distanceM });
    };
    for (const beacon of this.#indexedAround(longitude, latitude, radiusM)) consider(beacon);
    for (const beacon of this.#recent.values()) consider(beacon);
    return found.sort((a, b) => a.distanceM - b.distanceM || (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  #indexedAround(longitude: number, latitude: number, radiusM: number): Placed[] {
    if (this.#index === undefined) return [];
    const radiusKm = (radiusM * sphereMargin) / 1_000;
    return around(this.#index, longitude, latitude, Infinity, radiusKm)
      .map((at) => this.#indexed[at]!)
      .filter((beacon) => this.#byId.get(beacon.id) === beacon);
  }

  #indexIfDue(): void {
    const changes = this.#recent.size + this.#outdated;
    if (changes <= Math.max(minChangesToIndex, shareToIndex * this.#indexed.length)) return;
    this.#indexed = [...this.#byId.values()];
    this.#index = new KDBush(this.#indexed.length);
    for (const { longitude, latitude } of this.#indexed) this.#index.add(longitude, latitude);
    this.#index.finish();
    this.#recent.clear();
    this.#outdated = 0;
  }
}
