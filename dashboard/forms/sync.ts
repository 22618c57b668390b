/** The form of the sync as a value, and the body that it makes. */
import type { Sync } from '../../client/types';
import { patchOf, textOf } from './draft';
import { itemsOf, linesOf } from './lines';

/** A sync as its form has it. */
export interface SyncDraft {
  readonly enabled: boolean;
  readonly notificationEmail: string;
  readonly protocol: Sync['protocol'];
  /** One per line. */
  readonly urls: string;
  readonly keys: string;
  readonly region: string;
  readonly bucket: string;
  readonly endpoint: string;
  /** Both undefined: the stored ones stay. */
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
}

/** The form of a sync that is not set up yet. */
export const newSync: SyncDraft = {
  enabled: true,
  notificationEmail: '',
  protocol: 'http',
  urls: '',
  keys: '',
  region: '',
  bucket: '',
  endpoint: '',
  accessKeyId: '',
  secretAccessKey: '',
};

/** The fields that show problems of their own. */
export const syncFields = [
  'notificationEmail',
  'urls',
  'keys',
  'region',
  'bucket',
  'endpoint',
  'accessKeyId',
  'secretAccessKey',
];

/** Returns the form of a stored sync. The API never answers its credentials. */
export const draftOf = (sync: Sync): SyncDraft => ({
  enabled: sync.enabled,
  notificationEmail: sync.notificationEmail ?? '',
  protocol: sync.protocol,
  urls: linesOf(sync.urls ?? []),
  keys: linesOf(sync.keys ?? []),
  region: sync.region ?? '',
  bucket: sync.bucket ?? '',
  endpoint: sync.endpoint ?? '',
  accessKeyId: sync.hasCredentials ? undefined : '',
  secretAccessKey: sync.hasCredentials ? undefined : '',
});

/** Returns the configuration that the draft means. Fields of the other protocol are kept as they are. */
const bodyOf = (draft: SyncDraft) => ({
  enabled: draft.enabled,
  notificationEmail: textOf(draft.notificationEmail),
  protocol: draft.protocol,
  urls: itemsOf(draft.urls),
  keys: itemsOf(draft.keys),
  region: textOf(draft.region),
  bucket: textOf(draft.bucket),
  endpoint: textOf(draft.endpoint),
  accessKeyId: draft.accessKeyId === undefined ? undefined : textOf(draft.accessKeyId),
  secretAccessKey: draft.secretAccessKey === undefined ? undefined : textOf(draft.secretAccessKey),
});

/** Returns the change to save. Credentials that are not replaced are not in it. */
export const changeOf = (initial: SyncDraft | undefined, draft: SyncDraft) => ({
  ...patchOf(initial ? bodyOf(initial) : {}, bodyOf(draft)),
  protocol: draft.protocol,
});
