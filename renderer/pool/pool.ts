/**
 * Drawing processes and the maps that wait for them.
 *
 * Flows in: requests with their icons, styles and sprites. Flows out: drawn maps. Processes, not threads: drawing is native code that can't be interrupted, and
 * one that hangs or crashes must cost nobody else anything; ending a thread of a process in which chDB works was seen to block it. The
 * first process starts with the first map, others as maps wait. Imports `schemas` and types of this room.
 */
import { ApiError, type Validated } from '../../schemas/errors.js';
import type { IconKind } from '../overlays/icons.js';
import type { Unsupported } from '../style/unsupported.js';
import type { DrawnMap, MapRequest, Sprites, Uploads } from '../types.js';
import { Child, type ChildOptions, type End, type Job } from './child.js';
import type { Work, Works } from './messages.js';
import { createTileReports } from './tile-reports.js';

export interface PoolOptions extends ChildOptions {
  readonly maxProcesses: number;
  /** Of all maps that wait or are being drawn; past it they are refused. One map alone is never too large. */
  readonly maxPixelsInFlight: number;
  /** Told why a process had to be replaced, or none can be had, and now and then why maps lack tiles. */
  readonly onProblem: (reason: string) => void;
}

/** All reject with ApiError `overloaded` past the bound, `unavailable` when it takes too long or drawing isn't possible at all. */
export interface Pool {
  draw(request: MapRequest, icons: Uploads['icons'], style?: Uploads['style'], sprites?: Sprites): Promise<DrawnMap>;
  /** As {@link MapRenderer} does: validating a large style takes a tenth of a second. */
  checkStyle(json: Uint8Array): Promise<Validated<Unsupported[]>>;
  checkSprites(style: Uint8Array, sprites: Sprites): Promise<Unsupported[]>;
  checkIcon(file: Uint8Array): Promise<IconKind | null>;
  /** Maps in hand are given up. */
  close(): Promise<void>;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** What a map costs however small it is, in pixels of a large one. */
const minPixels = 100_000;
const retryAfterS = 2;
/** How long nothing is tried after a process could not get ready. */
const pauseMs = 5_000;

const pixelsOf = ({ width, height, scale }: MapRequest): number => Math.max(minPixels, width * height * scale * scale);

export function createPool(options: PoolOptions): Pool {
  const { maxProcesses, maxPixelsInFlight, timeoutMs, onProblem } = options;
  const children = new Set<Child>();
  const queue: Job[] = [];
  const reportTiles = createTileReports(onProblem);
  let pixelsInFlight = 0;
  let lastId = 0;
  let pausedUntilMs = 0;
  let isClosed = false;

  /** First come, first served: a large map isn't overtaken for ever by small ones. */
  function dispatch(): void {
    for (let job = queue[0]; job; job = queue[0]) {
      const child = childFor(job);
      if (child === undefined) break;
      queue.shift();
      child.draw(job);
    }
    if (children.size === 0) giveUp(queue.splice(0));
  }

  /** Undefined when all are busy, or when there is none and none can be had. One starts at a time: the first may have a basemap to bake. */
  function childFor(job: Job): Child | undefined {
    const all = [...children];
    const idle = all.find((child) => child.isIdle);
    if (idle) return idle;
    const isCrowded = children.size >= maxProcesses || all.some((child) => child.isStarting);
    const mayStart = !isCrowded && Date.now() >= pausedUntilMs && !isClosed;
    return mayStart ? start() : all.find((child) => child.takes(job));
  }

  function start(): Child {
    const child: Child = new Child(options, {
      onRoom: dispatch,
      onEnd(end, jobs) {
        children.delete(child);
        if (end.kind !== 'closed') onProblem(`a process that draws maps had to be replaced: ${reasonOf(end, timeoutMs)}`);
        if (end.kind === 'unusable') pausedUntilMs = Date.now() + pauseMs;
        if (end.kind === 'unusable' || end.kind === 'closed') giveUp(jobs);
        else settle(end, jobs);
        dispatch();
      },
    });
    children.add(child);
    return child;
  }

  /**
   * Which of two maps kept a process past the deadline can't be told, nor whether a process was ended by a map or from outside: each map is drawn
   * once more, alone. A map that was the only one is overdue by its own fault, and one that is alone by any.
   */
  function settle(end: End, jobs: readonly Job[]): void {
    const isBlamed = (job: Job) => job.alone || (end.kind === 'overdue' && jobs.length === 1);
    for (const job of jobs.filter(isBlamed)) job.failed(failureOf(end, timeoutMs));
    queue.unshift(...jobs.filter((job) => !isBlamed(job)).map((job) => ({ ...job, alone: true })));
  }

  function giveUp(jobs: readonly Job[]): void {
    for (const job of jobs) job.failed(unusable());
  }

  function submit<W extends Work>(work: W, pixels: number): Promise<Works[W['kind']]['result']> {
    if (pixelsInFlight > 0 && pixelsInFlight + pixels > maxPixelsInFlight) {
      return Promise.reject(new ApiError('overloaded', 'too many maps are being drawn', { retryAfterS }));
    }
    pixelsInFlight += pixels;
    lastId += 1;
    const task = { ...work, id: lastId };
    return new Promise<Works[W['kind']]['result']>((done, failed) => {
      queue.push({ task, pixels, alone: false, done: done as Job['done'], failed });
      dispatch();
    }).finally(() => {
      pixelsInFlight -= pixels;
    });
  }

  return {
    async draw(request, icons, style = null, sprites = noSprites) {
      const map = await submit({ kind: 'draw', request, icons, style, sprites }, pixelsOf(request));
      reportTiles(map);
      return map;
    },
    checkStyle: (style) => submit({ kind: 'checkStyle', style }, minPixels),
    checkSprites: (style, sprites) => submit({ kind: 'checkSprites', style, sprites }, minPixels),
    checkIcon: (icon) => submit({ kind: 'checkIcon', icon }, minPixels),
    async close() {
      isClosed = true;
      giveUp(queue.splice(0));
      await Promise.all([...children].map((child) => child.close()));
    },
  };
}

const unusable = (): ApiError => new ApiError('unavailable', 'maps can not be drawn now; the log says why', { retryAfterS: 5 });

const reasonOf = (end: End, timeoutMs: number): string =>
  end.kind === 'overdue' ? `more than ${timeoutMs} ms` : 'reason' in end ? end.reason : end.kind;

function failureOf(end: End, timeoutMs: number): Error {
  if (end.kind === 'overdue') return new ApiError('unavailable', `drawing took more than ${timeoutMs} ms`, { retryAfterS });
  return new Error(`a map could not be drawn: ${reasonOf(end, timeoutMs)}`);
}
