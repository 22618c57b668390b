/**
 * Fetches files from untrusted servers: once for all maps that wait, with a cache of results and failures. Owners share
 * the downloads.
 *
 * Input: URLs chosen by whoever requests a map or uploads a style, and the owner that they count for. Output: the files
 * that were fetched. The client decides which addresses are allowed, and how many bytes and seconds a file may take.
 * Imports `outbound`.
 */
import { LRUCache } from 'lru-cache';
import type { OutboundClient } from '../../outbound/client.js';
import { createOpenCounts } from '../../schemas/open-counts.js';

interface RemoteFileBounds {
  /** Value of the `accept` header. */
  readonly accept: string;
  /**
   * Maximum concurrent downloads of all owners. An owner alone has half of them, two have a third each, and so on.
   * Further files count as missing.
   */
  readonly maxPending: number;
  /** Maximum bytes of cached files. */
  readonly maxKeptBytes: number;
}

const maxRedirects = 2;
const redirects = [301, 302, 303, 307, 308];
/** Bytes of an entry beside its file. */
const entryBytes = 500;
const keptForMs = 60 * 60_000;
/** Time until a failed download is tried again. */
const failureKeptForMs = 30_000;

interface Kept {
  readonly file: Uint8Array | undefined;
}

/** Fetches and caches files of one kind, such as icons. */
export class RemoteFiles {
  private readonly client: Pick<OutboundClient, 'send'>;
  private readonly bounds: RemoteFileBounds;
  private readonly kept: LRUCache<string, Kept>;
  private readonly pending = new Map<string, Promise<Uint8Array | undefined>>();
  /** Pending downloads, by the owner that began them. */
  private readonly counts = createOpenCounts();

  constructor(client: Pick<OutboundClient, 'send'>, bounds: RemoteFileBounds) {
    this.client = client;
    this.bounds = bounds;
    this.kept = new LRUCache({
      maxSize: bounds.maxKeptBytes,
      sizeCalculation: ({ file }, url) => entryBytes + url.length + (file?.length ?? 0),
    });
  }

  /** Returns the files by their URLs, without those that could not be fetched or exceed the owner's share. */
  async get(owner: string, urls: readonly string[]): Promise<Map<string, Uint8Array>> {
    const files = await Promise.all(urls.map(async (url) => [url, await this.one(owner, url)] as const));
    return new Map(files.filter((entry): entry is readonly [string, Uint8Array] => entry[1] !== undefined));
  }

  private one(owner: string, url: string): Promise<Uint8Array | undefined> {
    const known = this.kept.get(url);
    if (known) return Promise.resolve(known.file);
    const pending = this.pending.get(url);
    if (pending !== undefined) return pending;
    return this.hasShare(owner) ? this.begin(owner, url) : Promise.resolve(undefined);
  }

  /** An owner never has more downloads than are free, so the next owner finds some. */
  private hasShare(owner: string): boolean {
    return this.counts.of(owner) < this.bounds.maxPending - this.counts.total;
  }

  private begin(owner: string, url: string): Promise<Uint8Array | undefined> {
    const takeOff = this.counts.add(owner);
    const download = this.fetchAndKeep(url).finally(() => {
      this.pending.delete(url);
      takeOff();
    });
    this.pending.set(url, download);
    return download;
  }

  private async fetchAndKeep(url: string): Promise<Uint8Array | undefined> {
    const file = await this.fetch(url, maxRedirects);
    this.kept.set(url, { file }, { ttl: file ? keptForMs : failureKeptForMs });
    return file;
  }

  /** Each redirect is a separate request, checked like the first one. */
  private async fetch(url: string, redirectsLeft: number): Promise<Uint8Array | undefined> {
    const answer = await this.client.send({ method: 'GET', url, headers: { accept: this.bounds.accept } });
    if (answer.kind === 'failed') return undefined;
    if (answer.status === 200) return answer.truncated || answer.body.length === 0 ? undefined : answer.body;
    const next = redirects.includes(answer.status) ? resolved(answer.headers.location, url) : undefined;
    return next !== undefined && redirectsLeft > 0 ? this.fetch(next, redirectsLeft - 1) : undefined;
  }
}

/** Resolves a Location header. Returns undefined when it is not a URL. */
function resolved(location: string | undefined, base: string): string | undefined {
  if (location === undefined) return undefined;
  try {
    return new URL(location, base).href;
  } catch {
    return undefined;
  }
}
