/**
 * Icons by URL, of strangers' servers: each fetched once for all maps that wait for it, and remembered, good or bad.
 *
 * Flows in: the URLs of a request. Flows out: the files that could be had. Whether a file is an image is seen where it is decoded. Imports
 * `outbound` and `schemas`.
 */
import { LRUCache } from 'lru-cache';
import type { OutboundClient, OutboundOptions } from '../../outbound/client.js';

/** Of the client that fetches icons: a file larger than this is none. */
export const maxIconBytes = 262_144;
/** For each request; one that is redirected asks again. */
export const iconTimeoutMs = 3_000;
export const iconBounds = {
  timeoutMs: iconTimeoutMs,
  bodyTimeoutMs: iconTimeoutMs,
  maxBodyBytes: maxIconBytes,
  maxConnectionsPerOrigin: 4,
} satisfies Partial<OutboundOptions>;

/** Icons on their way at once; one more is not to be had for now. */
export const maxPendingIcons = 100;
const maxRedirects = 2;
const redirects = [301, 302, 303, 307, 308];
const maxKeptBytes = 16 * 2 ** 20;
/** What an entry takes beside its file. */
const entryBytes = 500;
const keptForMs = 60 * 60_000;
/** A server that was down for a moment is asked again soon. */
const failureKeptForMs = 30_000;

interface Kept {
  readonly file: Uint8Array | undefined;
}

export class IconFiles {
  private readonly client: Pick<OutboundClient, 'send'>;
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ file }, url) => entryBytes + url.length + (file?.length ?? 0),
  });
  private readonly pending = new Map<string, Promise<Uint8Array | undefined>>();

  constructor(client: Pick<OutboundClient, 'send'>) {
    this.client = client;
  }

  /** The files by their URLs, without those that can't be had. */
  async get(urls: readonly string[]): Promise<Map<string, Uint8Array>> {
    const files = await Promise.all(urls.map(async (url) => [url, await this.one(url)] as const));
    return new Map(files.filter((entry): entry is readonly [string, Uint8Array] => entry[1] !== undefined));
  }

  private one(url: string): Promise<Uint8Array | undefined> {
    const known = this.kept.get(url);
    if (known) return Promise.resolve(known.file);
    let pending = this.pending.get(url);
    if (!pending) {
      if (this.pending.size >= maxPendingIcons) return Promise.resolve(undefined);
      pending = this.fetchAndKeep(url).finally(() => this.pending.delete(url));
      this.pending.set(url, pending);
    }
    return pending;
  }

  private async fetchAndKeep(url: string): Promise<Uint8Array | undefined> {
    const file = await this.fetch(url, maxRedirects);
    this.kept.set(url, { file }, { ttl: file ? keptForMs : failureKeptForMs });
    return file;
  }

  /** Each redirect is a request of its own, judged as the first one was. */
  private async fetch(url: string, redirectsLeft: number): Promise<Uint8Array | undefined> {
    const answer = await this.client.send({ method: 'GET', url, headers: { accept: 'image/png, image/svg+xml' } });
    if (answer.kind === 'failed') return undefined;
    if (answer.status === 200) return answer.truncated || answer.body.length === 0 ? undefined : answer.body;
    const next = redirects.includes(answer.status) ? resolved(answer.headers.location, url) : undefined;
    return next !== undefined && redirectsLeft > 0 ? this.fetch(next, redirectsLeft - 1) : undefined;
  }
}

/** A Location header as a URL; undefined when it isn't one. */
function resolved(location: string | undefined, base: string): string | undefined {
  if (location === undefined) return undefined;
  try {
    return new URL(location, base).href;
  } catch {
    return undefined;
  }
}
