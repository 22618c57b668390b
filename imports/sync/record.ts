/** Makes the stored record of a sync, and shows it. */
import type { Scope } from '../../pipeline/catalog/types.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { syncId } from '../../schemas/ids.js';
import type { Sync, SyncRecord, SyncRun, SyncRunRecord } from '../../schemas/json/sync.js';
import { isoTime, withoutUnset } from '../../schemas/wire/common.js';
import type { SyncInput } from './fields.js';
import type { Credentials } from './object-storage.js';
import { dueRun, type Schedule } from './schedule.js';

/** Returns the credentials; null when there are none, or they were encrypted with another key. */
export function credentialsOf(
  { _id, sealedCredentials }: Pick<SyncRecord, '_id' | 'sealedCredentials'>,
  cipher: SecretCipher,
): Credentials | null {
  if (sealedCredentials === null) return null;
  const credentials = cipher.decrypt(sealedCredentials, _id);
  return credentials === undefined ? null : (JSON.parse(credentials) as Credentials);
}

/** Returns what the owner said before. */
export function inputOf(record: SyncRecord, cipher: SecretCipher): SyncInput {
  const { enabled, notificationEmail, protocol, urls, region, bucket, keys, endpoint } = record;
  const credentials = credentialsOf(record, cipher);
  return {
    enabled,
    notificationEmail,
    protocol,
    urls: urls.length > 0 ? urls : null,
    region,
    bucket,
    keys: keys.length > 0 ? keys : null,
    endpoint,
    accessKeyId: credentials?.accessKeyId ?? null,
    secretAccessKey: credentials?.secretAccessKey ?? null,
  };
}

/** Returns the record of a sync that is saved, which requests a run. */
export function savedSync(
  scope: Scope,
  input: SyncInput,
  existing: SyncRecord | undefined,
  cipher: SecretCipher,
  nowMs: number,
): SyncRecord {
  const _id = syncId(scope);
  const { accessKeyId, secretAccessKey, urls, keys, ...rest } = input;
  const isKnown = accessKeyId !== null && secretAccessKey !== null;
  // Credentials that can't be decrypted stay: the operator may bring their key back.
  const unread = existing && credentialsOf(existing, cipher) === null ? existing.sealedCredentials : null;
  return {
    _id,
    project: scope.project,
    environment: scope.environment,
    createdAt: existing?.createdAt ?? nowMs,
    updatedAt: nowMs,
    ...rest,
    urls: urls ?? [],
    keys: keys ?? [],
    sealedCredentials: isKnown ? cipher.encrypt(JSON.stringify({ accessKeyId, secretAccessKey }), _id) : unread,
    requested: { reason: 'saved', at: nowMs },
    lastRun: existing?.lastRun ?? null,
    ...(existing?.mailsDue && { mailsDue: existing.mailsDue }),
    // Another bucket may have other files of the same names.
    seen: existing !== undefined && isSameSource(existing, input) ? existing.seen : [],
  };
}

const isSameSource = (existing: SyncRecord, input: SyncInput): boolean =>
  existing.protocol === input.protocol && existing.bucket === input.bucket && existing.endpoint === input.endpoint;

/** Returns the record with its owner's request for a run. */
export const requestedSync = (record: SyncRecord, nowMs: number): SyncRecord => ({
  ...record,
  requested: { reason: 'requested', at: nowMs },
});

/** Returns the record with these mails due. Without any it has no such field, which earlier releases do not know. */
export function withMailsDue(record: SyncRecord, mailsDue: SyncRunRecord[]): SyncRecord {
  const { mailsDue: _, ...others } = record;
  return mailsDue.length === 0 ? others : { ...others, mailsDue };
}

/** Returns the files of a sync, by the names that its runs use. */
export const filesOf = ({ protocol, urls, keys }: SyncRecord): readonly string[] => (protocol === 'http' ? urls : keys);

function statusOf(record: SyncRecord, isDue: boolean): Sync['status'] {
  if (record.lastRun?.result === 'running') return 'running';
  if (!record.enabled) return 'off';
  return isDue ? 'due' : 'waiting';
}

const runJson = (run: SyncRunRecord): SyncRun => ({
  _id: run._id,
  reason: run.reason,
  startedAt: isoTime(run.startedAt),
  result: run.result,
  files: run.files.map(({ name, result, ...rest }) => ({ name, result, ...withoutUnset(rest) })),
  ...withoutUnset({
    finishedAt: run.finishedAt === null ? null : isoTime(run.finishedAt),
    message: run.message,
    mailProblem: run.mailProblem,
  }),
});

/** Returns a sync as the API shows it. Credentials are only said to exist. */
export function syncJson(record: SyncRecord, schedule: Schedule, nowMs: number): Sync {
  const { protocol, enabled, lastRun } = record;
  const isDue = dueRun(record, schedule, nowMs) !== undefined;
  return {
    live: record.environment === 'live',
    createdAt: isoTime(record.createdAt),
    updatedAt: isoTime(record.updatedAt),
    enabled,
    protocol,
    hasCredentials: record.sealedCredentials !== null,
    status: statusOf(record, isDue),
    ...withoutUnset({
      notificationEmail: record.notificationEmail,
      urls: record.urls.length > 0 ? record.urls : null,
      region: record.region,
      bucket: record.bucket,
      keys: record.keys.length > 0 ? record.keys : null,
      endpoint: record.endpoint,
      lastRun: lastRun && runJson(lastRun),
      nextRunAt: enabled ? isoTime(isDue ? nowMs : schedule.next(nowMs)) : null,
    }),
  };
}
