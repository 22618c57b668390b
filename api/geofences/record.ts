/** From what an owner says of a geofence to the record that is kept. */
import type { Scope } from '../../pipeline/catalog/types.js';
import { pairId } from '../../schemas/ids.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { Pair } from '../pairs.js';
import type { GeofenceInput } from './input.js';
import { timeZoneAt } from './time-zone.js';

export const geofenceId = ({ project, environment }: Scope, { tag, externalId }: Pair): string =>
  pairId('geofence', project, environment, tag, externalId);

/**
 * The whole record: fields that the owner left out are cleared, the time of creation is kept.
 * @param existing the record that is replaced, if any.
 * @param nowMs a time that no other record of this node has.
 */
export function geofenceRecord(
  scope: Scope,
  input: GeofenceInput,
  existing: GeofenceRecord | undefined,
  nowMs: number,
): GeofenceRecord {
  const sameCenter = existing?.center[0] === input.center[0] && existing.center[1] === input.center[1];
  return {
    _id: geofenceId(scope, input),
    project: scope.project,
    environment: scope.environment,
    createdAt: existing?.createdAt ?? nowMs,
    updatedAt: nowMs,
    ...input,
    timeZone: sameCenter ? existing.timeZone : timeZoneAt(input.center),
  };
}
