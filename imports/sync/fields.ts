/** The fields of a sync, and a change of them. Pure. */
import Type from 'typebox';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import {
  booleanField,
  choiceField,
  type Field,
  field,
  nullable,
  readChange,
  refuseUnknown,
  required,
  withDefault,
} from '../../http/fields/table.js';
import { textOf } from '../../http/fields/values.js';
import type { Networks } from '../../outbound/addresses.js';
import { checkMailAddress } from '../../outbound/mail/address.js';
import { checkUrl, maxUrlLength } from '../../outbound/url.js';
import type { Validated } from '../../schemas/errors.js';
import { maxSyncFiles, Sync, type SyncProtocol } from '../../schemas/json/sync.js';
import { checkObjectKey } from './object-storage.js';

/** What an owner says about the sync. */
export interface SyncInput {
  readonly enabled: boolean;
  readonly notificationEmail: string | null;
  readonly protocol: SyncProtocol;
  readonly urls: string[] | null;
  readonly region: string | null;
  readonly bucket: string | null;
  readonly keys: string[] | null;
  readonly endpoint: string | null;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
}

const patternField = (pattern: RegExp, rule: string, description: string): Field<string | null> =>
  nullable(
    field(
      (reader, name) => {
        const text = reader.text(name);
        return text === null || pattern.test(text) ? text : reader.refuse(name, rule);
      },
      Type.String(),
      { description },
    ),
  );

/** A list of 1 to {@link maxSyncFiles} texts, each of which is checked. */
const filesField = (
  check: (param: string, text: string) => Validated<string>,
  description: string,
): Field<string[] | null> =>
  nullable(
    field(
      (reader, name) => {
        const texts = reader.list(name)?.map((value) => textOf(value) ?? '');
        if (texts === undefined) return null;
        if (texts.length === 0 || texts.length > maxSyncFiles)
          return reader.refuse(name, `must name 1 to ${maxSyncFiles} files`);
        return [...new Set(texts.map((text) => reader.take(check(name, text)) ?? ''))];
      },
      Type.Array(Type.String(), { minItems: 1, maxItems: maxSyncFiles }),
      { description },
    ),
  );

/** Printable ASCII without spaces, which may stand in a header. */
const credential = /^[!-~]{1,256}$/;

/**
 * Returns the fields of a sync.
 * @param allowedNetworks networks that may be asked although they are reserved.
 */
export const syncFields = (allowedNetworks: Networks) => ({
  enabled: nullable(withDefault(booleanField('false: files are not read, and the configuration stays'), true)),
  notificationEmail: nullable(
    field(
      (reader, name) => {
        const text = reader.text(name);
        return text === null ? null : reader.take(checkMailAddress(name, text));
      },
      Type.String(),
      { description: 'Gets a mail about each run, successful or not' },
    ),
  ),
  protocol: required(choiceField(['http', 's3'], 'http: URLs. s3: objects of a bucket')),
  urls: filesField((param, text) => {
    const checked = checkUrl(param, text, allowedNetworks, 'sync.allowedNetworks');
    return checked.ok ? { ok: true, value: checked.value.href } : checked;
  }, `Of http: URLs of files of geofences, at most ${maxSyncFiles} of ${maxUrlLength} characters`),
  region: patternField(/^[a-z0-9-]{1,63}$/i, 'must be a region, such as eu-central-1', 'Of s3, such as eu-central-1'),
  bucket: patternField(
    /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
    'must be the name of a bucket: 3 to 63 letters, digits, dots and dashes',
    'Of s3: the name of the bucket',
  ),
  keys: filesField(checkObjectKey, `Of s3: keys of the objects, at most ${maxSyncFiles}`),
  endpoint: nullable(
    field((reader, name) => readEndpoint(reader, name, allowedNetworks), Type.String(), {
      description: 'Of s3: URL of a compatible service, without a path. Null: Amazon S3',
    }),
  ),
  accessKeyId: patternField(credential, 'must be an access key id', 'Of s3. It is stored encrypted and never returned'),
  secretAccessKey: patternField(
    credential,
    'must be a secret access key',
    'Of s3. It is stored encrypted and never returned',
  ),
});

/**
 * Reads a new sync, or a change of one. In a change a field that is not named stays; null puts it back to its default.
 * The URLs of a sync that keeps them are not checked again: the connection decides.
 */
export function readSync(
  current: SyncInput | undefined,
  fields: RawFields,
  allowedNetworks: Networks,
): Outcome<SyncInput> {
  const reader = new FieldReader(fields);
  const table = syncFields(allowedNetworks);
  refuseUnknown(reader, table, fields, Object.keys(Sync.properties));
  const input: SyncInput = readChange(reader, table, fields, current);
  const needs = (name: keyof SyncInput): void => {
    if (input[name] === null) reader.refuse(name, `is required for ${input.protocol}`);
  };
  if (input.protocol === 'http') needs('urls');
  else for (const name of ['region', 'bucket', 'keys'] as const) needs(name);
  // Credentials that can't be decrypted any more don't keep a sync from being switched off.
  if (input.protocol === 's3' && input.enabled)
    for (const name of ['accessKeyId', 'secretAccessKey'] as const) needs(name);
  const isOtherKey = current?.accessKeyId != null && input.accessKeyId !== current.accessKeyId;
  if (isOtherKey && input.accessKeyId !== null && !Object.hasOwn(fields, 'secretAccessKey'))
    reader.refuse('secretAccessKey', 'is required together with another accessKeyId');
  return reader.outcome(() => input);
}

/** Returns the origin of the endpoint. */
function readEndpoint(reader: FieldReader, name: string, allowedNetworks: Networks): string | null {
  const text = reader.text(name, maxUrlLength);
  if (text === null) return null;
  const url = reader.take(checkUrl(name, text, allowedNetworks, 'sync.allowedNetworks'));
  if (url === null) return null;
  const isOrigin = url.pathname === '/' && url.search === '' && url.hash === '';
  return isOrigin ? url.origin : reader.refuse(name, 'must be a URL without a path, such as https://s3.example.com');
}
