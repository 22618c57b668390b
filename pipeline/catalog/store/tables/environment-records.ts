/** Names the records of an environment, which are deleted with its project. */
import { importPartId, syncId } from '../../../../schemas/ids.js';
import type { ImportRecord } from '../../../../schemas/json/import.js';
import type { WebhookRecord } from '../../../../schemas/json/webhook.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import type { Scope } from '../../types.js';
import type { Databases } from './databases.js';
import { idKey, type ListedKind } from './keys.js';
import { idsOfScope } from './list-reader.js';

/** Names a record. */
export interface RecordName {
  readonly kind: ChangeKind;
  readonly id: string;
}

const namesOf = (kind: ChangeKind, records: readonly { readonly _id: string }[]): RecordName[] =>
  records.map(({ _id }) => ({ kind, id: _id }));

/** Names the parts of the files of an import, which only its record knows. */
export const partsOfImport = ({ _id, files }: ImportRecord): RecordName[] =>
  (['rejected', 'planned'] as const).flatMap((file) =>
    Array.from({ length: files[file].parts }, (_, index) => ({
      kind: 'import-part' as const,
      id: importPartId(_id, file, index),
    })),
  );

const namesOfImport = (record: ImportRecord): RecordName[] => [
  ...partsOfImport(record),
  { kind: 'import', id: record._id },
];

/** Names at most `limit` records. Those that make work come first. */
export function environmentRecords(
  { lists, syncs, imports, places, mapStyles, mapMarkers }: Databases,
  webhooks: (scope: Scope) => readonly WebhookRecord[],
  scope: Scope,
  limit: number,
): RecordName[] {
  const sync = syncs.get(idKey(syncId(scope)));
  const importsOf = (resource: ImportRecord['resource']) =>
    imports.list({ ...scope, resource, limit }).items.flatMap(namesOfImport);
  const listed = (kind: ListedKind) => idsOfScope(lists, kind, scope, limit).map((id) => ({ kind, id }));
  return [
    ...namesOf('sync', sync === undefined ? [] : [sync]),
    ...namesOf('webhook', webhooks(scope)),
    ...importsOf('geofences'),
    ...importsOf('beacons'),
    ...listed('geofence'),
    ...listed('beacon'),
    ...namesOf('place', places.list({ ...scope, limit }).items),
    ...namesOf('map-style', mapStyles.list(scope)),
    ...namesOf('map-marker', mapMarkers.list(scope)),
  ].slice(0, limit);
}
