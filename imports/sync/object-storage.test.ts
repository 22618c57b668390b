import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../testing/any-character.js';
import { checkObjectKey, objectUrl, signedHeaders } from './object-storage.js';
import { signatureFault } from './testing/s3-server.js';

const account = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'eu-central-1',
};
const nowMs = Date.UTC(2026, 4, 17, 2, 0, 0);
const bucket = { region: account.region, bucket: 'fences', endpoint: null };

async function request(url: string, credentials = account, region = account.region) {
  const { host, pathname } = new URL(url);
  const headers = await signedHeaders(url, region, credentials, nowMs);
  return { method: 'GET', target: pathname, headers: { ...headers, host } };
}

test('the verifier of the tests accepts the example of the documentation of S3', () => {
  const example = {
    method: 'GET',
    target: '/test.txt',
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
  };
  const owner = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const atMs = Date.UTC(2013, 4, 24);
  expect(signatureFault(example, owner, atMs)).toBeUndefined();
  expect(signatureFault({ ...example, target: '/test.text' }, owner, atMs)).toBe('SignatureDoesNotMatch');
});

describe('a signed request', () => {
  const key = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 60 })
    .filter((text) => checkObjectKey('keys', text).ok);

  test('is accepted for every key of an object', async () => {
    const endpoints = fc.constantFrom(null, 'http://127.0.0.1:9000', 'https://s3.example.com');
    await fc.assert(
      fc.asyncProperty(key, endpoints, async (name, endpoint) => {
        const url = objectUrl({ ...bucket, endpoint }, name);
        const signed = await request(url);
        expect(signatureFault(signed, account, nowMs)).toBeUndefined();
        expect(decodeURIComponent(signed.target)).toBe(endpoint === null ? `/${name}` : `/fences/${name}`);
      }),
    );
  });

  test.each([
    ['another secret', { ...account, secretAccessKey: 'other' }, account.region, nowMs, 'SignatureDoesNotMatch'],
    ['another id', { ...account, accessKeyId: 'other' }, account.region, nowMs, 'InvalidAccessKeyId'],
    ['another region', account, 'us-east-1', nowMs, 'AuthorizationHeaderMalformed'],
    ['another time', account, account.region, nowMs + 16 * 60_000, 'RequestTimeTooSkewed'],
  ])('is refused with %s', async (_, credentials, region, atMs, fault) => {
    const signed = await request(objectUrl(bucket, 'a.csv'), credentials, region);
    expect(signatureFault(signed, account, atMs)).toBe(fault);
  });
});

test.each([
  [bucket, 'shops/über uns+1.csv', 'https://fences.s3.eu-central-1.amazonaws.com/shops/%C3%BCber%20uns%2B1.csv'],
  [{ ...bucket, bucket: 'a.b' }, 'x.csv', 'https://s3.eu-central-1.amazonaws.com/a.b/x.csv'],
  [{ ...bucket, region: 'cn-north-1' }, 'x.csv', 'https://fences.s3.cn-north-1.amazonaws.com.cn/x.csv'],
  [{ ...bucket, endpoint: 'https://s3.example.com' }, "it's.csv", 'https://s3.example.com/fences/it%27s.csv'],
])('the URL of an object of %j, %s', (place, key, url) => expect(objectUrl(place, key)).toBe(url));

test.each(['', '..', 'a/../b', './a', 'a/.', '\ud800', 'x'.repeat(1_025)])('the key %j is refused', (key) =>
  expect(checkObjectKey('keys', key).ok).toBe(false),
);
