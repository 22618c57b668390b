/** An LRU cache of drawn images. Concurrent equal requests are drawn once. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MapImage, MapRequest, Uploads } from '../../renderer/types.js';
import type { TimedMap } from '../dependencies.js';

export interface FinishedImage extends Pick<MapImage, 'bytes' | 'contentType'> {
  /** Strong (RFC 9110, 8.8.3): a hash of the bytes. */
  readonly etag: string;
  /** Time that the image may be used without revalidation. */
  readonly maxAgeS: number;
}

/** Maximum age of a complete image. */
const maxAgeS = 86_400;
/** Maximum age of an image with missing tiles or icons, which may become available. */
const incompleteMaxAgeS = 60;
/** Bytes of an entry beside the image. */
const entryBytes = 500;

type Render = (project: string, request: MapRequest, uploads: Uploads) => Promise<TimedMap>;

/** The caller that an image is drawn for. */
export interface Drawing {
  readonly project: string;
  /** Called immediately when the image is not cached. If it throws, nothing is drawn. */
  readonly uploads: () => Uploads;
  /** Called with the measured processor time. */
  readonly onDrawn: (processorMs: number) => void;
}

export class Images {
  private readonly render: Render;
  private readonly finished: LRUCache<string, FinishedImage>;
  private readonly pending = new Map<string, Promise<FinishedImage>>();

  /** Creates a cache of this many bytes; 0 caches nothing. */
  constructor(render: Render, maxBytes: number) {
    this.render = render;
    this.finished = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: ({ bytes }) => entryBytes + bytes.length,
    });
  }

  async get(request: MapRequest, drawing: Drawing): Promise<FinishedImage> {
    const key = keyOf(request);
    const known = this.finished.get(key);
    if (known) return known;
    let pending = this.pending.get(key);
    if (!pending) {
      pending = this.draw(key, request, drawing).finally(() => this.pending.delete(key));
      this.pending.set(key, pending);
    }
    return pending;
  }

  private async draw(key: string, request: MapRequest, { project, uploads, onDrawn }: Drawing): Promise<FinishedImage> {
    const map = await this.render(project, request, uploads());
    const { bytes, contentType, missingTiles, missingIcons } = map;
    onDrawn(map.processorMs);
    const image = {
      bytes,
      contentType,
      etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 32)}"`,
      maxAgeS: missingTiles + missingIcons > 0 ? incompleteMaxAgeS : maxAgeS,
    };
    this.finished.set(key, image, { ttl: image.maxAgeS * 1_000 });
    return image;
  }
}

/** Returns a request in its normal form: equal requests have equal texts. */
const keyOf = (request: MapRequest): string => createHash('sha256').update(JSON.stringify(request)).digest('base64');

/** Returns whether an If-None-Match header (RFC 9110, 13.1.2) matches this image. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
