/** The form of a beacon as a value, and the body that it makes. */
import type { Beacon } from '../../client/types';
import { compact, degreesOf, type MetadataRow, metadataOf, rowsOf, textOf } from './draft';

/** A beacon as its form has it. */
export interface BeaconDraft {
  readonly description: string;
  readonly tag: string;
  readonly externalId: string;
  readonly type: Beacon['type'];
  readonly uuid: string;
  readonly major: string;
  readonly minor: string;
  readonly uid: string;
  readonly instance: string;
  readonly latitude: string;
  readonly longitude: string;
  readonly enabled: boolean;
  readonly metadata: readonly MetadataRow[];
}

/** The form of a beacon that does not exist yet. */
export const newBeacon: BeaconDraft = {
  description: '',
  tag: '',
  externalId: '',
  type: 'ibeacon',
  uuid: '',
  major: '',
  minor: '',
  uid: '',
  instance: '',
  latitude: '',
  longitude: '',
  enabled: true,
  metadata: [],
};

/** Returns the form of a stored beacon. What it does not have is empty. */
export function draftOf(beacon: Beacon): BeaconDraft {
  const [longitude, latitude] = beacon.geometry?.coordinates ?? [];
  return {
    description: beacon.description,
    tag: beacon.tag ?? '',
    externalId: beacon.externalId ?? '',
    type: beacon.type,
    uuid: beacon.uuid ?? '',
    major: beacon.major ?? '',
    minor: beacon.minor ?? '',
    uid: beacon.uid ?? '',
    instance: beacon.instance ?? '',
    latitude: latitude === undefined ? '' : String(latitude),
    longitude: longitude === undefined ? '' : String(longitude),
    enabled: beacon.enabled ?? true,
    metadata: rowsOf(beacon.metadata),
  };
}

/** Returns the body of the API. Fields that are not set are absent. */
export function bodyOf(draft: BeaconDraft): Record<string, unknown> {
  const [longitude, latitude] = [degreesOf(draft.longitude), degreesOf(draft.latitude)];
  const isIbeacon = draft.type === 'ibeacon';
  return compact({
    description: textOf(draft.description),
    tag: textOf(draft.tag),
    externalId: textOf(draft.externalId),
    type: draft.type,
    uuid: isIbeacon ? textOf(draft.uuid) : undefined,
    major: isIbeacon ? textOf(draft.major) : undefined,
    minor: isIbeacon ? textOf(draft.minor) : undefined,
    uid: isIbeacon ? undefined : textOf(draft.uid),
    instance: isIbeacon ? undefined : textOf(draft.instance),
    coordinates: longitude === undefined && latitude === undefined ? undefined : [longitude ?? null, latitude ?? null],
    enabled: draft.enabled,
    metadata: metadataOf(draft.metadata),
  });
}
