/**
 * Finished images, the least recently used forgotten first: the same request is drawn once, however many wait for it.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MapImage, MapRequest, Uploads } from '../../renderer/types.js';
import type { TimedMap } from '../dependencies.js';

export interface FinishedImage extends Pick<MapImage, 'bytes' | 'contentType'> {
  /** Strong (RFC 9110, 8.8.3): a hash of the bytes. */
  readonly etag: string;
  /** How long it may be shown without asking again. */
  readonly maxAgeS: number;
}

/** Of an image with everything in it. */
const maxAgeS = 86_400;
/** Of one with tiles or icons missing, which may be there soon. */
const incompleteMaxAgeS = 60;
/** What an entry takes beside its bytes. */
const entryBytes = 500;

type Render = (project: string, request: MapRequest, uploads: Uploads) => Promise<TimedMap>;

/** For whom an image is drawn, if it must be. */
export interface Drawing {
  readonly project: string;
  /** Called at once when the image isn't there yet. May throw, and then nothing is drawn. */
  readonly uploads: () => Uploads;
  /** What drawing it took of a processor. */
  readonly onDrawn: (processorMs: number) => void;
}

export class Images {
  private readonly render: Render;
  private readonly finished: LRUCache<string, FinishedImage>;
  private readonly pending = new Map<string, Promise<FinishedImage>>();

  /** Holds images up to this many bytes; 0 holds none. */
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

/** Requests in their normal form: equal ones are written alike. */
const keyOf = (request: MapRequest): string => createHash('sha256').update(JSON.stringify(request)).digest('base64');

/** Whether an If-None-Match header (RFC 9110, 13.1.2) says that this image is known. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
