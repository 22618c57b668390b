/** Messages between the pool and its processes. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { ErrorCode, Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import type { FoundSource } from '../map.js';
import type { ArchiveHints } from '../sources/open.js';
import type { Unsupported } from '../style/unsupported.js';
import type { DrawnMap, MapRequest, Sprites, Uploads } from '../types.js';
import type { WebFileRequest, WebFileResult } from '../web/requests.js';

/** The first message to a process. */
export interface ProcessStart {
  /** Archive of {@link MapRendererOptions}. */
  readonly archive: string | null;
  readonly archiveHints?: ArchiveHints;
  /** Time limit of one request for an archive or a tile by URL. The default is 8 seconds. */
  readonly archiveTimeoutMs?: number;
  readonly cacheFolder: string;
  /** `User-Agent` of requests for an archive by URL. */
  readonly userAgent: string;
}

/** Kinds of work with input and result. Untrusted files are parsed only in these processes. */
export interface Works {
  readonly draw: {
    readonly input: {
      readonly request: MapRequest;
      readonly style: Uploads['style'];
      readonly sprites: Sprites;
      readonly icons: ReadonlyMap<string, RasterIcon>;
    };
    readonly result: DrawnMap;
  };
  readonly checkStyle: { readonly input: { readonly style: Uint8Array }; readonly result: Validated<Unsupported[]> };
  readonly checkSprites: {
    readonly input: { readonly style: Uint8Array; readonly sprites: Sprites };
    readonly result: Unsupported[];
  };
  readonly webStyle: {
    readonly input: { readonly name: string; readonly language: string; readonly style: Uploads['style'] };
    readonly result: StyleSpecification;
  };
  readonly webFile: { readonly input: { readonly request: WebFileRequest }; readonly result: WebFileResult };
  /** Work of icon processes. The other kinds belong to drawing processes. */
  readonly rasterizeIcon: {
    readonly input: { readonly file: Uint8Array; readonly scale: number };
    readonly result: Validated<RasterIcon>;
  };
}
type WorkKind = keyof Works;
/** A job for a process. Everything in it is copied. */
export type Work = { [Kind in WorkKind]: { readonly kind: Kind } & Works[Kind]['input'] }[WorkKind];
/** The result of a job, by its kind. */
export type Result = Works[WorkKind]['result'];

/** Every later message. */
export type Task = Work & { readonly id: number };

/** What a process tells its parent: first `ready` or `unusable`, then one message for each job. */
export type Answer =
  | { readonly kind: 'ready'; readonly found?: FoundSource }
  /** The process cannot work, and ends. */
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'done'; readonly id: number; readonly result: Result; readonly processorMs: number }
  /** `code` is that of an ApiError, whose message the reason is. */
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly reason: string;
      readonly code?: ErrorCode;
      readonly processorMs: number;
    };
