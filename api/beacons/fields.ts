/** The fields of a beacon: the one table and the validator that combines them. Pure. */
import Type from 'typebox';
import { FieldReader, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readPosition } from '../../http/fields/structures.js';
import {
  booleanField,
  type Field,
  field,
  ignoredField,
  readTable,
  required,
  textField,
  withDefault,
} from '../../http/fields/table.js';
import { normalizeRangedBeacon } from '../../pipeline/evaluation/beacons.js';
import { type BeaconRecord, BeaconType } from '../../schemas/json/beacon.js';
import { Position } from '../../schemas/json/common.js';
import { jsonText, metadataField, type Pair } from '../paired/fields.js';

/** What an owner says about a beacon. The record adds identity and times. */
export type BeaconInput = Omit<BeaconRecord, '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt'>;

/** Well-formed identifiers, to check one at a time against. */
const wellFormed = { uuid: '0'.repeat(32), major: '0', minor: '0', uid: '0'.repeat(20), instance: '0'.repeat(12) };

/** An identifier that beacons of one type must have. Beacons of the other type ignore it. */
const identifier = (of: BeaconType, rule: string, description: string): Field<string | null> =>
  field(
    (reader, name, { type }) => {
      if (type !== of) return null;
      const text = reader.requiredText(name);
      const isWellFormed = normalizeRangedBeacon({ ...wellFormed, type, [name]: text }) !== undefined;
      return isWellFormed ? text : reader.refuse(name, rule);
    },
    Type.String(),
    { description },
  );

/** The fields of a beacon in requests. Identifiers that its type does not have are refused. */
export const beaconFields = {
  description: required(textField({ maxLength: maxTextLength })),
  type: required(
    field((reader, name) => reader.choice(name, ['ibeacon', 'eddystone'] satisfies BeaconType[]), BeaconType),
  ),
  tag: textField(),
  externalId: textField(),
  uuid: identifier(
    'ibeacon',
    'must be a UUID of 32 hex digits',
    'Of an ibeacon: 32 hex digits, with or without dashes',
  ),
  major: identifier('ibeacon', 'must be a whole number from 0 to 65535', 'Of an ibeacon: 0 to 65535'),
  minor: identifier('ibeacon', 'must be a whole number from 0 to 65535', 'Of an ibeacon: 0 to 65535'),
  uid: identifier('eddystone', 'must be 20 hex digits', 'Of an eddystone: 20 hex digits'),
  instance: identifier('eddystone', 'must be 12 hex digits', 'Of an eddystone: 12 hex digits'),
  coordinates: required(field(readCoordinates, Type.Union([Position, jsonText]))),
  enabled: withDefault(booleanField(), true),
  metadata: metadataField,
  address: ignoredField,
  placeId: ignoredField,
  tripApproachingThreshold: ignoredField,
};

/**
 * Reads a beacon.
 * @param path the pair that the path names; it replaces that of the fields, where both parts are optional.
 */
export function readBeacon(fields: RawFields, path?: Pair): Outcome<BeaconInput> {
  const reader = new FieldReader({ ...fields, ...path });
  const { description, type, tag, externalId, coordinates, enabled, metadata, ...identifiers } = readTable(
    reader,
    beaconFields,
  );
  return reader.outcome(() => {
    const normal = normalizeRangedBeacon({ ...identifiers, type });
    if (normal === undefined) throw new Error('well-formed identifiers make no beacon');
    const { group, major, minor } = normal;
    return { tag, externalId, description, type, group, major, minor, coordinates, enabled, metadata };
  });
}

function readCoordinates(reader: FieldReader, name: string): Position | null {
  const coordinates = reader.structure(name);
  return coordinates === undefined ? null : reader.take(readPosition(name, coordinates));
}
