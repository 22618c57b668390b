/** Geofences and beacons as what they share sees them. */
import type { TObject } from 'typebox';
import type { Outcome, RawFields } from '../../http/fields/reader.js';
import type { FieldTable } from '../../http/fields/table.js';
import type { ListQuery, Page, Scope, SearchPart, SearchQuery } from '../../pipeline/catalog/types.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { ExportedFields } from '../stored-fields.js';
import type { Pair } from './fields.js';

/**
 * What differs between geofences and beacons. `Given` is what an owner says about a resource, in normal form, and
 * `Input` the same after lookups.
 */
export interface PairedResource<Given, Input, Stored extends GeofenceRecord | BeaconRecord> {
  readonly name: 'geofence' | 'beacon';
  readonly orderBy: ListQuery['orderBy'];
  readonly fields: FieldTable;
  /** The schema of the resource in answers. */
  readonly answer: TObject;
  /** The fields of a stored record. */
  readonly stored: ExportedFields<Stored>;
  find(scope: Scope, id: string): Stored | undefined;
  /** Returns the record that an edit by pair replaces, also one that `find` does not show any more. Default: `find`. */
  replaced?(scope: Scope, id: string, given: Given | Input): Stored | undefined;
  list(query: ListQuery): Page<Stored>;
  search(query: SearchQuery): SearchPart<Stored>;
  /** Returns the id that follows from the pair; undefined when a part is missing. */
  idOf(scope: Scope, pair: { readonly [Part in keyof Pair]: string | null }): string | undefined;
  read(fields: RawFields, path?: Pick<Stored, keyof Pair>): Outcome<Given & Pick<Stored, keyof Pair>>;
  /** Looks up what the owner left to be found. @param current reads the current record, after all earlier edits. */
  complete(
    scope: Scope,
    given: Given & Pick<Stored, keyof Pair>,
    current: () => Promise<Stored | undefined>,
  ): Promise<Outcome<Input & Pick<Stored, keyof Pair>>>;
  /** Returns the queues of the edits of other records that the write depends on. Default: none. */
  queues?(scope: Scope, input: Input, existing: Stored | undefined): readonly string[];
  /** Throws if edits of other records, made since the lookup, forbid the write. Default: none do. */
  confirm?(scope: Scope, input: Input, existing: Stored | undefined): void;
  record(scope: Scope, input: Input & Pick<Stored, keyof Pair>, existing: Stored | undefined, nowMs: number): Stored;
  json(record: Stored, nowMs: number): object;
  /** Throws if the project may not create or enable records. Default: it may. */
  admit?(scope: Scope): void;
}
