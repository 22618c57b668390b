/**
 * An LRU cache of drawn images and files of interactive maps. Concurrent equal requests of a project are worked on
 * once. Projects share finished files only, so that no project gets the failure of another one.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CacheUse } from '../../pipeline/cache-use.js';
import { FailedJob } from '../../renderer/pool/failed-job.js';
import { SharedWork } from '../../renderer/pool/shared-work.js';
import type { MapRequest, Uploads } from '../../renderer/types.js';
import { ApiError } from '../../schemas/errors.js';
import type { TimedMap } from '../dependencies.js';

/** A file that is ready to be sent, and may be cached under its ETag. */
export interface FinishedFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Strong (RFC 9110, 8.8.3): a hash of the bytes. */
  readonly etag: string;
  /** Time that the image may be used without revalidation. */
  readonly maxAgeS: number;
  /** Packages of fonts that an image lacks. */
  readonly missingFonts?: readonly string[];
  /** A part is missing, perhaps because the project has used up its share of something. */
  readonly isIncomplete?: boolean;
}

/** Makes a file that is not kept. The signal aborts when all have left that wait for it. */
export type Make = (abandonment: AbortSignal) => Promise<Omit<FinishedFile, 'etag'>>;

/** Maximum age of a complete image, and of a file. */
export const maxAgeS = 86_400;
/** Maximum age of an image with missing tiles or icons, which may become available. */
const incompleteMaxAgeS = 60;
/** Bytes of an entry beside the image. */
const entryBytes = 500;

type Render = (project: string, request: MapRequest, uploads: Uploads, abandonment: AbortSignal) => Promise<TimedMap>;

/** The caller that an image is drawn for. */
export interface Drawing {
  readonly project: string;
  /** Aborts when the caller has left. */
  readonly leaving?: AbortSignal;
  /** Called immediately when the image is not cached. If it throws, nothing is drawn. */
  readonly uploads: () => Uploads;
  /** Called with the measured processor time. */
  readonly onDrawn: (processorMs: number) => void;
  /** Called in place of `onDrawn` if drawing never began. */
  readonly onNeverBegun: () => void;
}

/** Keeps files up to this many bytes, which may be a fraction; 0 keeps nothing. */
export class FinishedFiles {
  private readonly finished: LRUCache<string, FinishedFile>;
  private readonly pending = new SharedWork<FinishedFile>();
  private hits = 0;
  private misses = 0;

  constructor(maxBytes: number, observe: (read: () => CacheUse) => void = () => {}) {
    this.finished = new LRUCache({
      maxSize: Math.max(1, Math.floor(maxBytes)),
      sizeCalculation: ({ bytes }) => entryBytes + bytes.length,
    });
    observe(() => {
      const { hits, misses, finished } = this;
      return { hits, misses, entries: finished.size, bytes: finished.calculatedSize };
    });
  }

  /**
   * Returns the file of this key, which `make` makes unless it is kept. An incomplete one is kept for its project.
   * Rejects with the reason of `leaving` when it aborts.
   */
  async get(project: string, key: string, make: Make, leaving?: AbortSignal): Promise<FinishedFile> {
    const ownKey = JSON.stringify([project, key]);
    const known = this.finished.get(key) ?? this.finished.get(ownKey);
    if (known) {
      this.hits += 1;
      return known;
    }
    this.misses += 1;
    return this.pending.join(ownKey, (abandonment) => this.keep(key, ownKey, () => make(abandonment)), leaving);
  }

  private async keep(key: string, ownKey: string, make: () => ReturnType<Make>): Promise<FinishedFile> {
    const made = await make();
    const file = { ...made, etag: `"${createHash('sha256').update(made.bytes).digest('base64url').slice(0, 32)}"` };
    this.finished.set(file.isIncomplete ? ownKey : key, file, { ttl: file.maxAgeS * 1_000 });
    return file;
  }
}

/** Draws images that are not kept. */
export class Images {
  constructor(
    private readonly render: Render,
    private readonly files: FinishedFiles,
  ) {}

  /**
   * Returns the image of a request, drawn or from the cache. Requests for the same image share one drawing, which ends
   * when all of them have left. `onDrawn` gets the processor time in ms, also of a drawing that failed.
   */
  get(request: MapRequest, { project, leaving, uploads, onDrawn, onNeverBegun }: Drawing): Promise<FinishedFile> {
    const make: Make = async (abandonment) => {
      const map = await this.render(project, request, uploads(), abandonment).catch((error: unknown) => {
        if (neverBegan(error, abandonment)) onNeverBegun();
        else if (error instanceof FailedJob && error.processorMs > 0) onDrawn(error.processorMs);
        throw error;
      });
      onDrawn(map.processorMs);
      const { bytes, contentType, missingTiles, missingIcons, missingFonts } = map;
      const isIncomplete = missingTiles + missingIcons > 0;
      return { bytes, contentType, maxAgeS: isIncomplete ? incompleteMaxAgeS : maxAgeS, missingFonts, isIncomplete };
    };
    return this.files.get(project, keyOf(request), make, leaving);
  }
}

/** Returns whether work failed while it waited: too much was in progress, or all that asked for it had left. */
export const neverBegan = (error: unknown, abandonment: AbortSignal): boolean =>
  (abandonment.aborted && error === abandonment.reason) || (error instanceof ApiError && error.code === 'overloaded');

/** Returns a request in its normal form: equal requests have equal texts. */
const keyOf = (request: MapRequest): string => createHash('sha256').update(JSON.stringify(request)).digest('base64');
