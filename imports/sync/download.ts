/**
 * Reads one file over HTTP into a file on disk: bounded, guarded, and only if it has changed.
 *
 * Redirects are followed, each to an address that is checked like the first. Compressed bodies are decompressed, and
 * the limit counts the decompressed bytes. The outcome is a value; an exception is a fault of this machine, such as its
 * disk.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PassThrough, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { reasonPhrase } from '../../http/reason-phrase.js';
import { mediaTypeOf } from '../../http/requests/uploads.js';
import type { BodyReceiver, OutboundClient, OutboundResult } from '../../outbound/client.js';
import type { SyncSeenFile } from '../../schemas/json/sync.js';
import { limitText, shownText } from '../../schemas/wording.js';
import { errorCodeOf } from './object-storage.js';

/** A file to read. */
export interface RemoteFile {
  /** As in the configuration: URL or key. */
  readonly name: string;
  readonly url: string;
  /** Of object storage; absent for HTTP, whose redirects are followed. */
  readonly signing?: {
    /** The region of the signature. */
    readonly region: string;
    /** Makes the headers that sign the request. */
    readonly headers: () => Promise<Record<string, string>>;
  };
}

/** What became of a file of a sync. Only a staged one is imported. `isTemporary`: another attempt may succeed. */
export type Download =
  | {
      readonly kind: 'staged';
      readonly path: string;
      readonly bytes: number;
      /** In lower case, without parameters. Empty: the server named none. */
      readonly mediaType: string;
      readonly seen: SyncSeenFile;
    }
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly isTemporary: boolean;
      /** Value of the Retry-After header, if any. */
      readonly retryAfter?: string;
    };

/** What a download works with. */
export interface DownloadParts {
  readonly client: Pick<OutboundClient, 'send'>;
  /** Throws while the disk is nearly full. */
  readonly admitWrite?: (() => void) | undefined;
  /** Ends the download when it aborts. */
  readonly signal?: AbortSignal;
}

const maxShownCharacters = 60;
const maxRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];
const temporary: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

const failed = (message: string, isTemporary = false): Download => ({ kind: 'failed', message, isTemporary });

/** The file grew beyond the limit. */
class TooLarge extends Error {}

/** Writes a body to disk, decompressed, and computes its hash. */
class FileReceiver implements BodyReceiver {
  readonly #entry: PassThrough | ReturnType<typeof createGunzip>;
  readonly #written: Promise<void>;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #failure: Error | undefined;

  constructor(
    readonly path: string,
    isCompressed: boolean,
    maxBytes: number,
    admitWrite: (() => void) | undefined,
  ) {
    this.#entry = isCompressed ? createGunzip() : new PassThrough();
    // Writing on after a failure is an error of its own, which says nothing new.
    this.#entry.on('error', () => undefined);
    const counter = new Transform({
      transform: (piece: Buffer, _, done) => {
        this.#bytes += piece.length;
        if (this.#bytes > maxBytes) return done(new TooLarge());
        this.#hash.update(piece);
        try {
          admitWrite?.();
          done(null, piece);
        } catch (error) {
          done(error as Error);
        }
      },
    });
    this.#written = pipeline(this.#entry, counter, createWriteStream(path)).catch((error: Error) => {
      this.#failure = error;
    });
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  async write(piece: Buffer): Promise<boolean> {
    if (this.#failure !== undefined) return false;
    if (!this.#entry.write(piece))
      await Promise.race([once(this.#entry, 'drain').catch(() => undefined), this.#written]);
    return this.#failure === undefined;
  }

  /** Returns size and hash once everything is on disk. */
  async end(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    this.#entry.end();
    await this.#written;
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  async abandon(): Promise<void> {
    this.#entry.destroy();
    await this.#written;
  }
}

/**
 * Downloads a file, unless it is the one that was imported last.
 * @param seen the file as it was imported last.
 */
export async function download(
  { client, admitWrite, signal }: DownloadParts,
  file: RemoteFile,
  seen: SyncSeenFile | undefined,
  { path, maxBytes }: { readonly path: string; readonly maxBytes: number },
): Promise<Download> {
  let url = file.url;
  for (let redirected = 0; ; redirected++) {
    let receiver: FileReceiver | undefined;
    const result = await client.send({
      method: 'GET',
      url,
      ...(signal && { signal }),
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        ...conditions(seen),
        ...(await file.signing?.headers()),
      },
      receiver(status, headers) {
        const encoding = encodingOf(headers);
        if (status !== 200 || encoding === 'unknown') return undefined;
        receiver = new FileReceiver(path, encoding === 'gzip', maxBytes, admitWrite);
        return receiver;
      },
    });
    const target = file.signing === undefined ? redirectOf(result, url) : undefined;
    if (target === undefined) return outcomeOf(result, receiver, file, seen, { path, maxBytes });
    if (redirected === maxRedirects) return failed(`more than ${maxRedirects} redirects`);
    if (url.startsWith('https:') && !target.startsWith('https:'))
      return failed('a redirect leads from https to http, which anyone on the way can change');
    url = target;
  }
}

/** As a condition, the ETag `*` of a broken server means any file, which would always count as unchanged. */
function conditions(seen: SyncSeenFile | undefined): Record<string, string> {
  return {
    ...(seen?.etag != null && seen.etag !== '*' && { 'if-none-match': seen.etag }),
    ...(seen?.lastModified != null && { 'if-modified-since': seen.lastModified }),
  };
}

/** Returns whether a request asks if the file has changed. */
const isConditional = (seen: SyncSeenFile | undefined): boolean => Object.keys(conditions(seen)).length > 0;

function encodingOf(headers: Readonly<Record<string, string>>): 'none' | 'gzip' | 'unknown' {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return 'none';
  return encoding === 'gzip' || encoding === 'x-gzip' ? 'gzip' : 'unknown';
}

function redirectOf(result: OutboundResult, url: string): string | undefined {
  if (result.kind !== 'answered' || !redirects.includes(result.status)) return undefined;
  const { location } = result.headers;
  return location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : undefined;
}

async function outcomeOf(
  result: OutboundResult,
  receiver: FileReceiver | undefined,
  file: RemoteFile,
  seen: SyncSeenFile | undefined,
  { path, maxBytes }: { readonly path: string; readonly maxBytes: number },
): Promise<Download> {
  if (result.kind === 'failed') {
    await receiver?.abandon();
    const isTemporary = ['name_not_found', 'connection_failed', 'timed_out'].includes(result.failure);
    return failed(result.message, isTemporary);
  }
  const { status, headers, truncated } = result;
  if (status === 304 && isConditional(seen)) return { kind: 'unchanged' };
  if (receiver === undefined) {
    const retryAfter = headers['retry-after'];
    return { ...failed(...refusalOf(result, file)), ...(retryAfter !== undefined && { retryAfter }) };
  }
  if (truncated && receiver.failure === undefined) {
    await receiver.abandon();
    return failed('the file ended early: the connection broke, or the time limit passed', true);
  }
  const { bytes, sha256 } = await receiver.end();
  if (receiver.failure !== undefined) return failureOf(receiver.failure, maxBytes);
  const { etag = null, 'last-modified': lastModified = null } = headers;
  if (seen?.sha256 === sha256) return { kind: 'unchanged' };
  const bounded = (text: string | null) => (text !== null && text.length <= 1_024 ? text : null);
  return {
    kind: 'staged',
    path,
    bytes,
    mediaType: mediaTypeOf({ headers }),
    seen: { name: file.name, etag: bounded(etag), lastModified: bounded(lastModified), sha256 },
  };
}

function failureOf(failure: Error & { readonly code?: string }, maxBytes: number): Download {
  if (failure instanceof TooLarge)
    return failed(
      `the file is larger than the ${limitText(maxBytes)} that are left of the limit of a run (sync.maxBytes)`,
    );
  if (failure.code?.startsWith('Z_')) return failed('the compressed file is broken');
  throw failure;
}

/** Returns why there is no file, and whether a repetition may help. */
function refusalOf(
  { status, headers, body }: OutboundResult & { readonly kind: 'answered' },
  { signing }: RemoteFile,
): [message: string, isTemporary: boolean] {
  if (status === 200) {
    const encoding = shownText(headers['content-encoding'] ?? '', maxShownCharacters);
    return [`the content-encoding ${encoding} is not supported; use gzip or none`, false];
  }
  const name = reasonPhrase(status) ?? 'unknown';
  const code = signing && errorCodeOf(body.toString('latin1'));
  const region = signing && /^[a-z0-9-]{1,63}$/.exec(headers['x-amz-bucket-region'] ?? '')?.[0];
  const reason = code === undefined ? '' : `: ${code}`;
  const hint = region === undefined || region === signing?.region ? '' : `; the bucket is in region ${region}`;
  return [`the server answered ${status} ${name}${reason}${hint}`, temporary.includes(status)];
}
