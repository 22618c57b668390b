/** Makes the stored record of a beacon. */
import type { Scope } from '../../pipeline/catalog/types.js';
import { freshId, pairId } from '../../schemas/ids.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { Pair } from '../paired/fields.js';
import type { BeaconInput } from './fields.js';

/** Returns the id that follows from the pair; undefined when a part is missing. */
export const beaconId = (
  { project, environment }: Scope,
  { tag, externalId }: { [Part in keyof Pair]: string | null },
) => (tag !== null && externalId !== null ? pairId('beacon', project, environment, tag, externalId) : undefined);

/**
 * Returns the whole record. Fields that the owner left out are cleared; identity and time of creation are kept.
 * @param existing the record that is replaced, if any.
 * @param nowMs a time that no other record of this node has.
 */
export const beaconRecord = (
  scope: Scope,
  input: BeaconInput,
  existing: BeaconRecord | undefined,
  nowMs: number,
): BeaconRecord => ({
  _id: existing?._id ?? beaconId(scope, input) ?? freshId(nowMs),
  project: scope.project,
  environment: scope.environment,
  createdAt: existing?.createdAt ?? nowMs,
  updatedAt: nowMs,
  ...input,
});
