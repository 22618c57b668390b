/**
 * Files of strangers' servers: each fetched once for all maps that wait for it, and remembered, good or bad.
 *
 * Flows in: URLs that whoever asks for a map, or uploads a style, has chosen. Flows out: the files that could be had.
 * Which addresses are allowed, and how many bytes and seconds a file may take, is the client's. Imports `outbound`
 * types only.
 */
import { LRUCache } from 'lru-cache';
import type { OutboundClient } from '../../outbound/client.js';

export interface RemoteFileBounds {
  /** Of the `accept` header. */
  readonly accept: string;
  /** Files on their way at once; one more is not to be had for now. */
  readonly maxPending: number;
  /** Of files that are remembered. */
  readonly maxKeptBytes: number;
}

const maxRedirects = 2;
const redirects = [301, 302, 303, 307, 308];
/** What an entry takes beside its file. */
const entryBytes = 500;
const keptForMs = 60 * 60_000;
/** A server that was down for a moment is asked again soon. */
const failureKeptForMs = 30_000;

interface Kept {
  readonly file: Uint8Array | undefined;
}

export class RemoteFiles {
  private readonly client: Pick<OutboundClient, 'send'>;
  private readonly bounds: RemoteFileBounds;
  private readonly kept: LRUCache<string, Kept>;
  private readonly pending = new Map<string, Promise<Uint8Array | undefined>>();

  constructor(client: Pick<OutboundClient, 'send'>, bounds: RemoteFileBounds) {
    this.client = client;
    this.bounds = bounds;
    this.kept = new LRUCache({
      maxSize: bounds.maxKeptBytes,
      sizeCalculation: ({ file }, url) => entryBytes + url.length + (file?.length ?? 0),
    });
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
      if (this.pending.size >= this.bounds.maxPending) return Promise.resolve(undefined);
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
    const answer = await this.client.send({ method: 'GET', url, headers: { accept: this.bounds.accept } });
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
