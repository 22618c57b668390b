/** Indexes the beacons of one project and environment by identifiers, by id and by location. */
import type { BeaconRecord, BeaconType } from '../../../schemas/json/beacon.js';
import type { RangedBeacon } from '../../../schemas/records.js';
import { beaconKey } from '../../evaluation/beacons.js';
import type { Beacons, MonitoredBeacon } from '../../evaluation/types.js';
import { distance, latitudeReach, longitudeReach } from '../../geometry/scale.js';
import { BoxIndex } from './box-index.js';
import type { TreeBuilder } from './tree-builder.js';

const noBeacons: readonly MonitoredBeacon[] = [];

/** A beacon of the index. `type` is what a search may want. */
export interface PlacedBeacon extends MonitoredBeacon {
  readonly key: string;
  readonly type: BeaconType;
  readonly longitude: number;
  readonly latitude: number;
  readonly row: number;
}

/** The beacons of one project and environment that the evaluating thread knows. */
export class MonitoredBeacons implements Beacons {
  readonly #byId = new Map<string, PlacedBeacon>();
  /** By identifiers, then by id: several records may have the same identifiers. */
  readonly #byKey = new Map<string, Map<string, PlacedBeacon>>();
  readonly #index: BoxIndex;
  /** By row; undefined for a row that is free. */
  readonly #ids: (string | undefined)[] = [];
  readonly #freeRows: number[] = [];
  readonly #box = new Float64Array(4);

  constructor(builder: TreeBuilder) {
    this.#index = new BoxIndex(builder);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Adds or replaces a beacon. */
  set(record: BeaconRecord): void {
    this.delete(record._id);
    this.#index.add(this.#addRow(record), this.#box);
  }

  /** Adds a beacon with a new id that no search finds until {@link indexAll}. For loading. */
  setUnindexed(record: BeaconRecord): void {
    this.#index.addUnpacked(this.#addRow(record), this.#box);
  }

  indexAll(): void {
    this.#index.packAll();
  }

  /** Deletes a beacon, if it exists. */
  delete(id: string): void {
    const beacon = this.#byId.get(id);
    if (beacon === undefined) return;
    this.#byId.delete(id);
    const alike = this.#byKey.get(beacon.key)!;
    alike.delete(id);
    if (alike.size === 0) this.#byKey.delete(beacon.key);
    this.#index.remove(beacon.row);
    this.#ids[beacon.row] = undefined;
    this.#freeRows.push(beacon.row);
  }

  matching(ranged: RangedBeacon): Iterable<MonitoredBeacon> {
    return this.#byKey.get(beaconKey(ranged))?.values() ?? noBeacons;
  }

  byId(id: string): PlacedBeacon | undefined {
    return this.#byId.get(id);
  }

  /** Returns ids of the beacons within reach, and of some that are a little farther away. */
  idsWithin(longitude: number, latitude: number, reachM: number): string[] {
    this.#index.search(longitude, latitude, longitudeReach(latitude, reachM), latitudeReach(reachM));
    const { rows, count } = this.#index.found;
    const ids: string[] = [];
    for (let index = 0; index < count; index++) ids.push(this.#ids[rows[index]!]!);
    return ids;
  }

  /** Returns metres from a point to a beacon; undefined if there is no such beacon. */
  distanceTo(id: string, longitude: number, latitude: number): number | undefined {
    const beacon = this.#byId.get(id);
    return beacon && distance(longitude, latitude, beacon.longitude, beacon.latitude);
  }

  /** Returns the new row and writes its box, which is a point, to `#box`. */
  #addRow(record: BeaconRecord): number {
    const [longitude, latitude] = record.coordinates;
    const row = this.#freeRows.pop() ?? this.#ids.length;
    const beacon: PlacedBeacon = {
      id: record._id,
      enabled: record.enabled,
      generation: record.createdAt,
      key: beaconKey(record),
      type: record.type,
      longitude,
      latitude,
      row,
    };
    this.#ids[row] = beacon.id;
    this.#byId.set(beacon.id, beacon);
    const alike = this.#byKey.get(beacon.key) ?? new Map<string, PlacedBeacon>();
    this.#byKey.set(beacon.key, alike.set(beacon.id, beacon));
    this.#box.set([longitude, latitude, longitude, latitude]);
    return row;
  }
}
