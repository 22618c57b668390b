/** What a drawing process is told and what it answers. */
import type { Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import type { ArchiveHints } from '../sources/open.js';
import type { Unsupported } from '../style/unsupported.js';
import type { DrawnMap, MapRequest, Sprites, Uploads } from '../types.js';

/** The first message to a process. */
export interface ProcessStart {
  /** As {@link MapRendererOptions} has it. */
  readonly archive: string | null;
  readonly archiveHints?: ArchiveHints;
  /** Of one request for an archive by URL, or for a tile; 8 seconds unless given. */
  readonly archiveTimeoutMs?: number;
  readonly cacheFolder: string;
  /** Of requests for an archive by URL. */
  readonly userAgent: string;
}

/** What a process can be asked for, and what comes of it. Files of strangers are looked into here and nowhere else. */
export interface Works {
  readonly draw: {
    readonly ask: {
      readonly request: MapRequest;
      readonly style: Uploads['style'];
      readonly sprites: Sprites;
      readonly icons: ReadonlyMap<string, RasterIcon>;
    };
    readonly result: DrawnMap;
  };
  readonly checkStyle: { readonly ask: { readonly style: Uint8Array }; readonly result: Validated<Unsupported[]> };
  readonly checkSprites: {
    readonly ask: { readonly style: Uint8Array; readonly sprites: Sprites };
    readonly result: Unsupported[];
  };
  /** Of a process for icons; the others are of those that draw. */
  readonly rasterizeIcon: {
    readonly ask: { readonly file: Uint8Array; readonly scale: number };
    readonly result: Validated<RasterIcon>;
  };
}
export type WorkKind = keyof Works;
export type Work = { [Kind in WorkKind]: { readonly kind: Kind } & Works[Kind]['ask'] }[WorkKind];
export type Result = Works[WorkKind]['result'];

/** Every later message. */
export type Task = Work & { readonly id: number };

export type Answer =
  | { readonly kind: 'ready' }
  /** The process can draw nothing, and ends. */
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'done'; readonly id: number; readonly result: Result; readonly processorMs: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };
