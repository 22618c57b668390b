/**
 * Requests for objects of Amazon S3 and of services that are compatible with it, signed with Signature Version 4. Pure
 * but for the computation of the signature.
 */
import { AwsV4Signer } from 'aws4fetch';
import { invalid, type Validated } from '../../schemas/errors.js';

/** The key of an S3-compatible storage, in plain text. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface Bucket {
  readonly region: string;
  readonly bucket: string;
  /** The origin of a compatible service; null: Amazon S3. */
  readonly endpoint: string | null;
}

const maxKeyBytes = 1_024;

/**
 * Checks the key of an object. URLs can't name keys with the steps `.` and `..`: everyone on the way may resolve them.
 */
export function checkObjectKey(param: string, key: string): Validated<string> {
  const isKey = key !== '' && key.isWellFormed() && Buffer.byteLength(key) <= maxKeyBytes;
  if (!isKey) return invalid(param, `must be keys of objects of at most ${maxKeyBytes} bytes`);
  if (key.split('/').some((step) => step === '.' || step === '..'))
    return invalid(param, 'must not have . or .. between slashes');
  return { ok: true, value: key };
}

/** Percent-encodes all but the unreserved characters of RFC 3986, as the signature requires. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** A bucket's name can be a part of the host's name only without dots, because of the certificate. */
const isHostLabel = (bucket: string): boolean => /^[a-z0-9-]{3,63}$/.test(bucket);

/** Returns the URL of an object. */
export function objectUrl({ region, bucket, endpoint }: Bucket, key: string): string {
  const path = key.split('/').map(encoded).join('/');
  if (endpoint !== null) return `${endpoint.replace(/\/$/, '')}/${encoded(bucket)}/${path}`;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return isHostLabel(bucket)
    ? `https://${bucket}.s3.${region}.${domain}/${path}`
    : `https://s3.${region}.${domain}/${encoded(bucket)}/${path}`;
}

/** Returns the headers of a GET of the URL, with the signature. Further headers need no signature. */
export async function signedHeaders(
  url: string,
  region: string,
  credentials: Credentials,
  nowMs: number,
): Promise<Record<string, string>> {
  const datetime = new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const { headers } = await new AwsV4Signer({
    ...credentials,
    url,
    region,
    datetime,
    service: 's3',
    method: 'GET',
  }).sign();
  return Object.fromEntries(headers as unknown as Iterable<[string, string]>);
}

/** Returns the code of an error that S3 answered, such as NoSuchKey. */
export const errorCodeOf = (body: string): string | undefined => /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(body)?.[1];
