/**
 * A server that answers GET of objects like S3, and verifies Signature Version 4 by its own computation: every header
 * that AWS requires must be signed, the date must be near, and the signature must match. For tests only.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface S3Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

interface SignedRequest {
  readonly method: string;
  /** As sent, with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text, 'utf8').digest();
const authorization = new RegExp(
  '^AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/s3/aws4_request, ' +
    '?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$',
);
const dateTime = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;
const maxSkewMs = 15 * 60_000;

/** AWS's own encoding of a path: the UTF-8 bytes of all but unreserved characters, in upper case. */
function encodedPath(path: string): string {
  let encoded = '';
  for (const byte of Buffer.from(decodeURIComponent(path))) {
    const character = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9\-._~/]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** Returns the code of the error that S3 answers; undefined when the signature is right. */
export function signatureFault(
  { method, target, headers }: SignedRequest,
  { accessKeyId, secretAccessKey, region }: S3Account,
  nowMs: number,
): string | undefined {
  const [, id, day, givenRegion, names = '', signature] = authorization.exec(headers.authorization ?? '') ?? [];
  const date = headers['x-amz-date'] ?? '';
  const parts = dateTime.exec(date);
  if (id === undefined || parts === null) return 'AccessDenied';
  if (id !== accessKeyId) return 'InvalidAccessKeyId';
  if (givenRegion !== region || day !== date.slice(0, 8)) return 'AuthorizationHeaderMalformed';
  const [year, month, dayOfMonth, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (Math.abs(Date.UTC(year, month - 1, dayOfMonth, hour, minute, second) - nowMs) > maxSkewMs)
    return 'RequestTimeTooSkewed';
  const signed = names.split(';');
  const amazonHeaders = Object.keys(headers).filter((name) => name.startsWith('x-amz-'));
  if (!['host', ...amazonHeaders].every((name) => signed.includes(name))) return 'AccessDenied';
  if (signed.join() !== [...signed].sort().join()) return 'SignatureDoesNotMatch';

  const [path = '', query = ''] = target.split('?');
  const canonical = [
    method,
    encodedPath(path),
    query,
    ...signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names,
    headers['x-amz-content-sha256'] ?? '',
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [day ?? '', region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  );
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

interface S3Object {
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A running server whose objects a test sets. */
export interface TestS3Server {
  readonly url: string;
  /** Objects by `bucket/key`. */
  readonly objects: Map<string, S3Object>;
  /** Status and target of each answer. */
  readonly answers: string[];
  close(): Promise<void>;
}

const statusOf: Readonly<Record<string, number>> = { NoSuchKey: 404, AuthorizationHeaderMalformed: 400 };

/** Starts a server on loopback for one account. `clock` decides which signatures are too old. */
export async function startS3Server(account: S3Account, clock: () => number): Promise<TestS3Server> {
  const objects = new Map<string, S3Object>();
  const answers: string[] = [];

  function answer(request: IncomingMessage, response: ServerResponse): number {
    const target = request.url ?? '';
    const headers = request.headers as Record<string, string>;
    const refuse = (code: string): number => {
      const status = statusOf[code] ?? 403;
      response
        .writeHead(status, { 'content-type': 'application/xml', 'x-amz-bucket-region': account.region })
        .end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No</Message></Error>`);
      return status;
    };
    const fault = signatureFault({ method: request.method ?? '', target, headers }, account, clock());
    if (fault !== undefined) return refuse(fault);
    const object = objects.get(decodeURIComponent(target.slice(1)));
    if (object === undefined) return refuse('NoSuchKey');
    const etag = `"${createHash('md5').update(object.body).digest('hex')}"`;
    if (headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return 304;
    }
    response.writeHead(200, { etag, 'content-type': 'text/csv', ...object.headers }).end(object.body);
    return 200;
  }

  const server = createServer((request, response) => {
    answers.push(`${answer(request, response)} ${request.url}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((end) => server.close(end));
    },
  };
}
