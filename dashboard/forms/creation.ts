/** Creates geofences and beacons. */
import { callIn, Failure, type Input, isRepetition, type Scope } from '../client/call';
import { pairOf } from './draft';

/** Creates the record, unless its pair exists: that would replace it in silence. */
export async function createRecord<Resource extends 'geofences' | 'beacons'>(
  scope: Scope,
  resource: Resource,
  body: Record<string, unknown>,
) {
  const operation = `POST /v1/${resource}` as const;
  const input = { body } as Input<typeof operation>;
  const pair = pairOf(body);
  // After a creation without an answer, the pair is that of the record which this one may have become.
  if (pair && !isRepetition(scope, operation, input)) {
    const found = await callIn(scope, `GET /v1/${resource as 'geofences' | 'beacons'}`, {
      query: { ...pair, limit: 1 },
    });
    if (('geofences' in found ? found.geofences : found.beacons).length > 0) {
      const message = `The tag ${pair.tag} has a record with this external id.`;
      throw new Failure(409, { type: 'conflict', param: 'externalId', message });
    }
  }
  return callIn(scope, operation, input);
}
