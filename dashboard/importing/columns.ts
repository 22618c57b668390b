/** The columns that files may have, and a file to begin with. */
import type { Beacon, Geofence, Import, Operations } from '../../client/types';

export type Resource = Import['resource'];

type GeofenceRow = Operations['POST /v1/geofences/batch']['body']['geofences'][number];
type BeaconRow = Operations['POST /v1/beacons/batch']['body']['beacons'][number];

/** required: a file without it is refused. keys: also as one column per key, such as `metadata.city`. */
type Kind = 'required' | 'optional' | 'keys';

// The types are those of the API, so a new field cannot be forgotten here.
const geofences: Record<keyof GeofenceRow, Kind> = {
  description: 'required',
  type: 'required',
  tag: 'required',
  externalId: 'required',
  coordinates: 'optional',
  radius: 'optional',
  placeId: 'optional',
  address: 'optional',
  mode: 'optional',
  enabled: 'optional',
  metadata: 'keys',
  operatingHours: 'keys',
  stopDetection: 'optional',
  dwellThreshold: 'optional',
  disableAfter: 'optional',
  deleteAfter: 'optional',
  userIds: 'optional',
  userId: 'optional',
  ip: 'optional',
};

const beacons: Record<keyof BeaconRow, Kind> = {
  description: 'required',
  type: 'required',
  coordinates: 'required',
  tag: 'optional',
  externalId: 'optional',
  uuid: 'optional',
  major: 'optional',
  minor: 'optional',
  uid: 'optional',
  instance: 'optional',
  enabled: 'optional',
  metadata: 'keys',
};

const columns: Record<Resource, Readonly<Record<string, Kind>>> = { geofences, beacons };

/** What files of bad rows have in addition, and fields that other services have. An import ignores them. */
const ignored = ['rejected.line', 'rejected.column', 'rejected.rule', 'tripApproachingThreshold'];
const ignoredOf: Record<Resource, readonly string[]> = {
  geofences: ignored,
  beacons: [...ignored, 'address', 'placeId'],
};

/** A record whose metadata is left out is no whole record, so an import refuses it. */
type Answered = Exclude<keyof Geofence | keyof Beacon, keyof GeofenceRow | keyof BeaconRow | 'metadataOmitted'>;
/** Of records that were read from the API. Files of JSON may have them. */
const answered: Record<Answered, true> = {
  _id: true,
  createdAt: true,
  updatedAt: true,
  live: true,
  geometry: true,
  geometryCenter: true,
  geometryRadius: true,
  geometrySource: true,
};

/** `ignored` columns are those of exports that an import does not take. */
export type ColumnState = 'known' | 'ignored' | 'unknown';

/**
 * Returns what an import does with a column.
 * @param isJson whether the fields are those of JSON objects, not the columns of CSV.
 */
export function stateOf(resource: Resource, name: string, isJson = false): ColumnState {
  if (ignoredOf[resource].includes(name) || (isJson && Object.hasOwn(answered, name))) return 'ignored';
  if (Object.hasOwn(columns[resource], name)) return 'known';
  const [base = ''] = name.split(/[.[]/, 1);
  return Object.hasOwn(columns[resource], base) && columns[resource][base] === 'keys' ? 'known' : 'unknown';
}

/** Returns the required columns that a file lacks. */
export const missingColumns = (resource: Resource, names: readonly string[]): readonly string[] =>
  Object.entries(columns[resource]).flatMap(([name, kind]) =>
    kind === 'required' && !names.includes(name) ? [name] : [],
  );

/** Returns all columns, as the guide shows them. */
export const columnsOf = (resource: Resource): readonly { readonly name: string; readonly isRequired: boolean }[] =>
  Object.entries(columns[resource]).map(([name, kind]) => ({
    name: kind === 'keys' ? `${name}.…` : name,
    isRequired: kind === 'required',
  }));

/** A file that imports as it is. */
export const samples: Record<Resource, string> = {
  geofences: `description,type,tag,externalId,coordinates,radius,metadata.city,operatingHours.mon
Duomo,circle,store,duomo,"[11.2558,43.7731]",100,Firenze,"[[""9:00 AM"",""5:30 PM""]]"
Colosseo,circle,store,colosseo,"[12.4922,41.8902]",150,Roma,
Piazza Navona,polygon,square,navona,"[[12.4727,41.8978],[12.4737,41.8978],[12.4737,41.9003],[12.4727,41.9003],[12.4727,41.8978]]",,Roma,
`,
  beacons: `description,type,tag,externalId,uuid,major,minor,uid,instance,coordinates,metadata.floor
North door,ibeacon,door,north,f7826da6-4fa2-4e98-8024-bc5b71e0893e,1,1,,,"[11.2558,43.7731]",0
South door,ibeacon,door,south,f7826da6-4fa2-4e98-8024-bc5b71e0893e,1,2,,,"[11.2560,43.7728]",0
Gallery,eddystone,shelf,gallery,,,,00112233445566778899,aabbccddeeff,"[11.2559,43.7730]",1
`,
};
