/**
 * From the fields of a request, a form or a row to a beacon in normal form. Pure; see geofences/input.ts for the
 * manner.
 */

import { FieldReader, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readPosition } from '../../http/fields/structures.js';
import { normalizeRangedBeacon } from '../../pipeline/evaluation/beacons.js';
import type { BeaconRecord, BeaconType } from '../../schemas/json/beacon.js';
import type { Position } from '../../schemas/json/common.js';
import { readMetadata } from '../metadata.js';
import type { Pair } from '../pairs.js';

/** What an owner says of a beacon; the record adds identity and times. */
export type BeaconInput = Omit<BeaconRecord, '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt'>;

/** The identifiers of each type and what they must look like, in the order in which they are checked. */
const identifierRules = {
  ibeacon: [
    ['uuid', 'must be a UUID of 32 hex digits'],
    ['major', 'must be a whole number from 0 to 65535'],
    ['minor', 'must be a whole number from 0 to 65535'],
  ],
  eddystone: [
    ['uid', 'must be 20 hex digits'],
    ['instance', 'must be 12 hex digits'],
  ],
} as const;

/** Well-formed identifiers, to check one field at a time against. */
const wellFormed = { uuid: '0'.repeat(32), major: '0', minor: '0', uid: '0'.repeat(20), instance: '0'.repeat(12) };

/** @param path the pair that the path names; it wins over that of the fields, where both parts are optional. */
export function normalizeBeacon(fields: RawFields, path?: Pair): Outcome<BeaconInput> {
  const reader = new FieldReader({ ...fields, ...path });
  const description = reader.requiredText('description', maxTextLength);
  const type = reader.requiredChoice('type', ['ibeacon', 'eddystone']);
  const pair = { tag: reader.text('tag'), externalId: reader.text('externalId') };
  const identifiers = type && readIdentifiers(reader, type);
  const coordinates = readCoordinates(reader);
  const rest = { enabled: reader.boolean('enabled') ?? true, metadata: readMetadata(reader) };
  // What is missing has been noted, so here nothing is.
  return reader.outcome(() => ({
    ...pair,
    description,
    ...(identifiers as NonNullable<typeof identifiers>),
    coordinates: coordinates as Position,
    ...rest,
  }));
}

function readIdentifiers(
  reader: FieldReader,
  type: BeaconType,
): Pick<BeaconRecord, 'type' | 'group' | 'major' | 'minor'> | null {
  const given: Record<string, string> = {};
  for (const [name, rule] of identifierRules[type]) {
    given[name] = reader.requiredText(name);
    if (normalizeRangedBeacon({ ...wellFormed, type, [name]: given[name] }) === undefined)
      return reader.refuse(name, rule);
  }
  const normal = normalizeRangedBeacon({ ...given, type });
  return normal ? { type, group: normal.group, major: normal.major, minor: normal.minor } : null;
}

function readCoordinates(reader: FieldReader): Position | null {
  const coordinates = reader.structure('coordinates');
  return coordinates === undefined
    ? reader.refuse('coordinates', 'is required')
    : reader.take(readPosition('coordinates', coordinates));
}
