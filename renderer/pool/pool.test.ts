import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../schemas/errors.js';
import { until } from '../../testing/until.js';
import type { RasterIcon } from '../icons/rasterize.js';
import { exampleRequest } from '../testing/requests.js';
import { createDrawingPool, type DrawingPool } from './drawing-pool.js';
import type { PoolOptions } from './pool.js';

const problems: string[] = [];
let pool: DrawingPool;
/** Processes leave a file here for each map that they begin and never answer. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-pool-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await pool.close();
  problems.length = 0;
  rmSync(folder, { recursive: true });
});

const startWith = (archive: string | null) => ({ archive, cacheFolder: folder, userAgent: '' });

function open(options: Partial<PoolOptions> = {}): void {
  pool = createDrawingPool({
    module: new URL('../testing/drawing-process.mjs', import.meta.url),
    start: startWith(null),
    timeoutMs: 30_000,
    answerTimeoutMs: 60_000,
    startTimeoutMs: 30_000,
    maxProcesses: 1,
    maxPixelsInFlight: 100_000_000,
    onProblem: (reason) => problems.push(reason),
    ...options,
  });
}

const deadlineMs = 1_000;

/**
 * Opens a pool for which no time passes, except in {@link passDeadlines}. So however long a busy machine takes for a
 * map, only maps without an answer exceed their deadline.
 */
function openWithoutTime(options: Partial<PoolOptions> = {}): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  open({ timeoutMs: deadlineMs, answerTimeoutMs: 2 ** 30, ...options });
}

/** Lets the time of a map pass whenever a process has begun one that it never answers, until the promise settles. */
async function passDeadlines<T>(settling: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = settling.finally(() => {
    isSettled = true;
  });
  let passed = 0;
  await until(() => {
    const begun = readdirSync(folder).length;
    if (begun > passed) vi.advanceTimersByTime(deadlineMs);
    passed = begun;
    return isSettled;
  });
  return settled;
}

/** `style` is what the process does. */
const requestOf = (style: string, size = 100) => exampleRequest({ style, width: size, height: size });

interface Known {
  readonly pid: number;
  readonly icons: readonly string[];
  readonly environment: readonly string[];
}

async function draw(style = 'draw', icons = new Map<string, RasterIcon>()): Promise<Known> {
  const { result } = await pool.draw('a', requestOf(style), icons);
  return JSON.parse(new TextDecoder().decode(result.bytes));
}

const killed = new Set<number>();

/** Throws when there is none that hasn't been killed. */
function nextProcess(): number {
  const pid = childProcesses().find((each) => !killed.has(each));
  if (pid === undefined) throw new Error('no process yet');
  return pid;
}

function childProcesses(): number[] {
  const parentOf = (pid: string): string | undefined => {
    try {
      return /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    } catch {
      return undefined;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === `${process.pid}`)
    .map(Number);
}

/** The code of the error that a map ends with. */
const failureOf = (drawing: Promise<unknown>): Promise<string> =>
  drawing.then(
    () => 'drawn',
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );

describe('a pool of drawing processes', () => {
  test('starts no process before the first map', async () => {
    open({ module: new URL('file:///nowhere.mjs') });
    await pool.close();
    expect(problems).toEqual([]);
  });

  test('passes the request and its icons, but no secrets of the node', async () => {
    process.env.FENCELINE_ADMIN_API_KEY = 'secret';
    open();
    const { icons, environment } = await draw(
      'draw',
      new Map([['https://a.example/pin.png', { kind: 'png', png: new Uint8Array(3), width: 1, height: 1 }]]),
    );
    expect(icons).toEqual(['https://a.example/pin.png']);
    expect(environment.filter((name) => name.startsWith('FENCELINE_'))).toEqual([]);
    delete process.env.FENCELINE_ADMIN_API_KEY;
  });

  test('reports why a map lacks tiles', async () => {
    open();
    await Promise.all(['lack', 'draw', 'lack'].map((style) => draw(style)));
    expect(problems).toEqual(['1 tiles could not be read, the last because of: the source is away']);
  });

  test('keeps its processes, and starts others only when maps wait', async () => {
    open({ maxProcesses: 2 });
    const one = [await draw(), await draw(), await draw()].map(({ pid }) => pid);
    expect(new Set(one).size).toBe(1);
    const many = await Promise.all(Array.from({ length: 20 }, () => draw()));
    expect(new Set(many.map(({ pid }) => pid)).size).toBe(2);
  });

  test('answers a map past its deadline with unavailable, and replaces its process', async () => {
    openWithoutTime();
    const { pid } = await draw();
    expect(await passDeadlines(failureOf(draw('hang')))).toBe('unavailable');
    expect((await draw()).pid).not.toBe(pid);
    expect(problems).toEqual([expect.stringContaining('more than 1000 ms')]);
  });

  test.each(['hang', 'crash'])(
    'maps in the company of one that makes its process %s are drawn all the same',
    async (style) => {
      openWithoutTime();
      const drawings = ['draw', style, 'draw', 'draw'].map((each) => failureOf(draw(each)));
      const [first, bad, ...others] = await passDeadlines(Promise.all(drawings));
      expect([first, ...others]).toEqual(['drawn', 'drawn', 'drawn']);
      expect(bad).toMatch(style === 'hang' ? /^unavailable$/ : /its process ended/);
    },
  );

  test('loses no map when a process is killed from outside', async () => {
    open();
    const { pid } = await draw();
    process.kill(pid, 'SIGKILL');
    expect((await draw()).pid).not.toBe(pid);
  });

  test('fails only the map whose drawing throws', async () => {
    open();
    const { pid } = await draw();
    expect(await failureOf(draw('fail'))).toContain('a mistake');
    expect((await draw()).pid).toBe(pid);
  });

  test('refuses maps beyond its bound of pixels until others are done', async () => {
    openWithoutTime({ maxPixelsInFlight: 2_000_000 });
    const held = failureOf(pool.draw('a', requestOf('hold', 1_400), new Map()));
    const refused = await pool.draw('a', requestOf('draw', 400), new Map()).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'overloaded', retryAfterS: expect.any(Number) });
    expect(await passDeadlines(held)).toBe('unavailable');
    expect(await failureOf(draw())).toBe('drawn');
  });

  // Maps of clients that had left stayed in the queue for up to 45 seconds, and all others were refused.
  describe('regression: a client that leaves', () => {
    const left = new Error('the client has left');
    const drawUntil = (signal: AbortSignal, style = 'hold') =>
      failureOf(pool.draw('a', requestOf(style), new Map(), { signal }));

    test('makes space for others, if its map waits', async () => {
      open({ maxPixelsInFlight: 1_000_000 });
      await draw();
      const running = [failureOf(draw('hold')), failureOf(draw('hold'))];
      for (let client = 0; client < 30; client++) {
        const leaving = new AbortController();
        const waiting = drawUntil(leaving.signal);
        leaving.abort(left);
        expect(await waiting).toBe(`${left}`);
      }
      await pool.close();
      expect(await Promise.all(running)).toEqual(['unavailable', 'unavailable']);
    });

    test('does not end a map that is being drawn', async () => {
      open();
      const { pid } = await draw();
      const leaving = new AbortController();
      const running = drawUntil(leaving.signal, 'draw');
      leaving.abort(left);
      expect(await running).toBe('drawn');
      expect((await draw()).pid).toBe(pid);
    });

    test('is not drawn for, if its process only starts', async () => {
      open();
      const leaving = new AbortController();
      const [starting, waiting] = [drawUntil(leaving.signal), failureOf(draw())];
      leaving.abort(left);
      expect(await Promise.all([starting, waiting])).toEqual([`${left}`, 'drawn']);
    });

    test('is not drawn for again after a crash', async () => {
      open();
      const { pid } = await draw();
      const leaving = new AbortController();
      const running = drawUntil(leaving.signal);
      leaving.abort(left);
      process.kill(pid, 'SIGKILL');
      expect(await running).toBe(`${left}`);
    });

    test('before its map is queued gets none', async () => {
      open();
      expect(await drawUntil(AbortSignal.abort(left), 'draw')).toBe(`${left}`);
      expect(await failureOf(draw())).toBe('drawn');
    });
  });

  test('draws a map beyond the bound when it is alone', async () => {
    open({ maxPixelsInFlight: 100_000 });
    expect(await failureOf(pool.draw('a', requestOf('draw', 2_048), new Map()))).toBe('drawn');
  });

  test('limits the number of small maps too', async () => {
    open({ maxPixelsInFlight: 1_000_000 });
    const drawings = Array.from({ length: 11 }, () => failureOf(draw('hold')));
    expect(await drawings[10]).toBe('overloaded');
    await pool.close();
    expect(await Promise.all(drawings.slice(0, 10))).toEqual(Array(10).fill('unavailable'));
  });

  test('loses no map when processes are killed while they start', async () => {
    open();
    const drawings = [draw(), draw(), draw()];
    for (let kills = 0; kills < 2; kills++) {
      const pid = await vi.waitFor(() => nextProcess(), { timeout: 120_000 });
      killed.add(pid);
      process.kill(pid, 'SIGKILL');
    }
    expect(await Promise.all(drawings.map(failureOf))).toEqual(['drawn', 'drawn', 'drawn']);
  });

  test('answers unavailable when processes repeatedly end before they are ready', async () => {
    open({ module: new URL('file:///nowhere.mjs') });
    expect(await failureOf(draw())).toBe('unavailable');
    expect(problems).toHaveLength(3);
  });

  test('answers a map that waits too long, and continues the map being drawn', async () => {
    openWithoutTime({ timeoutMs: 30_000, answerTimeoutMs: deadlineMs });
    const { pid } = await draw();
    const waiting = [failureOf(draw('hold')), failureOf(draw('hold')), failureOf(draw())];
    expect(await passDeadlines(Promise.all(waiting))).toEqual(Array(3).fill('unavailable'));
    expect((await draw()).pid).not.toBe(pid);
  });

  test('draws maps of another owner next, whatever waits', async () => {
    open();
    await draw();
    const order: string[] = [];
    const drawFor = (owner: string) =>
      pool.draw(owner, requestOf('draw', 400), new Map()).then(() => order.push(owner));
    await Promise.all([...Array.from({ length: 20 }, () => drawFor('abuser')), drawFor('victim')]);
    expect(order.indexOf('victim')).toBeLessThan(6);
  });

  // Only maps that succeeded were charged: a style that took all the time of its maps cost its project nothing, and the
  // maps of another one waited for up to 45 seconds.
  test('charges an owner for maps past their deadline, and keeps a process free of its other maps', async () => {
    openWithoutTime({ maxProcesses: 2 });
    await draw();
    const abuser = Array.from({ length: 40 }, () => failureOf(pool.draw('abuser', requestOf('hang'), new Map())));
    await passDeadlines(Promise.any(abuser));
    // No time passes any more, so a map that waited for those of the abuser would never be drawn.
    for (let map = 0; map < 80; map++) await pool.draw('victim', requestOf('draw'), new Map());
    vi.useRealTimers();
    await pool.close();
    await Promise.all(abuser);
  });

  // A refused map was free of charge, however much it had taken from others.
  test('passes on what a refused map has cost', async () => {
    open();
    const refused = await pool.draw('a', requestOf('exceed'), new Map()).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'map_too_large', processorMs: 4_000 });
  });

  test('keeps one process free of large maps', async () => {
    open({ maxProcesses: 2, timeoutMs: 20_000 });
    const large = Array.from({ length: 4 }, () => failureOf(pool.draw('a', requestOf('hold', 2_048), new Map())));
    for (const owner of ['a', 'b']) await pool.draw(owner, requestOf('draw'), new Map());
    await pool.close();
    expect(await Promise.all(large)).toEqual(Array(4).fill('unavailable'));
  });

  // A retried map kept what its owner was taken for at the crash. Maps of a slow style took all processes after it.
  test('keeps one process free of a retried map whose owner turns out to be slow', async () => {
    open({ maxProcesses: 2 });
    const [retried, crashed] = ['hold', 'crash'].map((style) =>
      failureOf(pool.draw('slow', requestOf(style, 512), new Map())),
    );
    expect(await crashed).toMatch('could not be drawn');
    expect(await failureOf(pool.draw('slow', requestOf('exceed', 512), new Map()))).toBe('map_too_large');
    const another = failureOf(pool.draw('slow', requestOf('hold', 512), new Map()));
    await pool.draw('other', requestOf('draw'), new Map());
    expect(problems).toEqual(Array(2).fill(expect.stringContaining('SIGKILL')));
    await pool.close();
    expect(await Promise.all([retried, another])).toEqual(['unavailable', 'unavailable']);
  });

  test('refuses a waiting map of the owner with the most pixels to admit another owner', async () => {
    open({ maxPixelsInFlight: 1_000_000 });
    const abuser = Array.from({ length: 10 }, () => failureOf(pool.draw('abuser', requestOf('hold'), new Map())));
    const other = failureOf(pool.draw('other', requestOf('hold'), new Map()));
    expect(await abuser[9]).toBe('overloaded');
    await pool.close();
    expect(await other).toBe('unavailable');
    expect((await Promise.all(abuser)).filter((code) => code === 'overloaded')).toHaveLength(1);
  });

  test('answers unavailable at once when no process becomes ready, and reports the reason once', async () => {
    open({ start: startWith('unusable') });
    expect(await Promise.all([failureOf(draw()), failureOf(draw()), failureOf(draw())])).toEqual(
      Array(3).fill('unavailable'),
    );
    expect(await failureOf(draw())).toBe('unavailable');
    expect(problems).toEqual([expect.stringContaining('there is no such archive')]);
  });

  test('tells a source that cannot be read from a process that was not ready in time', async () => {
    const unusable: string[] = [];
    const onUnusable = (reason: string) => unusable.push(reason);
    open({ start: startWith('unusable'), onUnusable });
    expect(await failureOf(draw())).toBe('unavailable');
    expect(unusable).toEqual(['there is no such archive']);
    await pool.close();
    open({ startTimeoutMs: 0, onUnusable });
    expect(await failureOf(draw())).toBe('unavailable');
    expect(unusable).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining('it was not ready in time')]);
  });

  // While the server of an archive was away, they were answered 503, and the log said that all maps fail.
  test('regression: draws the maps of a process that cannot read the source by one that could', async () => {
    const unusable: string[] = [];
    open({ maxProcesses: 2, start: startWith('usable once'), onUnusable: (reason) => unusable.push(reason) });
    const { pid } = await draw();
    const many = await Promise.all(Array.from({ length: 20 }, () => draw()));
    expect(new Set(many.map((known) => known.pid))).toEqual(new Set([pid]));
    expect(problems).toEqual(['a process for maps was replaced: there is no such archive']);
    expect(unusable).toEqual([]);
  });

  describe('regression: a clock that is set', () => {
    afterEach(() => vi.useRealTimers());

    test('forward took all time from the maps that waited, and replaced their process', async () => {
      open();
      const drawing = failureOf(draw());
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
      expect(await drawing).toBe('drawn');
      expect(problems).toEqual([]);
    });

    test('back stopped all maps until it had caught up', async () => {
      open({ start: startWith('unusable') });
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
      await failureOf(draw());
      vi.useRealTimers();
      await until(() => {
        pool.warm();
        return childProcesses().length > 0;
      });
    });
  });

  test('ends its processes and rejects running maps when it is closed', async () => {
    open();
    const { pid } = await draw();
    const held = failureOf(draw('hold'));
    await pool.close();
    expect(await held).toBe('unavailable');
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await failureOf(draw())).toBe('unavailable');
  });
});
