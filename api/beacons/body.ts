/** What a beacon's owner may send, for the API's description; beacons/input.ts decides. */
import Type from 'typebox';
import { maxNameLength } from '../../http/fields/reader.js';
import { BeaconType } from '../../schemas/json/beacon.js';
import { Metadata, Position } from '../../schemas/json/common.js';

const jsonText = Type.String({ description: 'The same as JSON text' });
const identifier = (description: string) => Type.Optional(Type.String({ description }));

/** The fields of an update whose path names the beacon. */
export const BeaconFields = Type.Object({
  description: Type.String({ minLength: 1 }),
  type: BeaconType,
  uuid: identifier('Of an ibeacon: 32 hex digits, with or without dashes'),
  major: identifier('Of an ibeacon: 0 to 65535'),
  minor: identifier('Of an ibeacon: 0 to 65535'),
  uid: identifier('Of an eddystone: 20 hex digits'),
  instance: identifier('Of an eddystone: 12 hex digits'),
  coordinates: Type.Union([Position, jsonText]),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  metadata: Type.Optional(
    Type.Union([Metadata, jsonText], { description: 'At most 16 keys; or by key, as metadata.key or metadata[key]' }),
  ),
});

const name = Type.Optional(Type.String({ minLength: 1, maxLength: maxNameLength }));

/** The fields of a creation. */
export const NewBeaconFields = Type.Object({ tag: name, externalId: name, ...BeaconFields.properties });
