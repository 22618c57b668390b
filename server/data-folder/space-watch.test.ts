/** Tests when writes are refused and accepted again, with a probe that reports the free space. */
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import {
  createSpace,
  refuseWhenFull,
  refuseWhenOut,
  type SpaceLevel,
  whenWritable,
} from '../../backends/embedded/space.js';
import { levelAfter, minFreeBytesOf, watchSpace } from './space-watch.js';

const storage = { minFreeBytes: 100, minFreePercent: 1 };

it('has two limits, of which the larger applies', () => {
  expect(minFreeBytesOf(storage, 5_000)).toBe(100);
  expect(minFreeBytesOf(storage, 50_000)).toBe(500);
});

it.each<[SpaceLevel, number, SpaceLevel]>([
  ['enough', 100, 'enough'],
  ['enough', 99, 'low'],
  ['low', 109, 'low'],
  ['low', 111, 'enough'],
  ['low', 50, 'low'],
  ['low', 49, 'out'],
  ['enough', 0, 'out'],
  ['out', 54, 'out'],
  ['out', 56, 'low'],
  ['out', 109, 'low'],
  ['out', 111, 'enough'],
])('from %s with %d of 100 bytes it is %s', (before, freeBytes, after) => {
  expect(levelAfter(before, freeBytes, 100)).toBe(after);
});

it('logs each change once, refuses requests while space is low, and delays writers on a full disk', async () => {
  const lines: string[] = [];
  const log = (_: unknown, message: string): void => void lines.push(message);
  const space = createSpace();
  let freeBytes = 1_000;
  const watch = await watchSpace({
    configuration: { data: '/data', storage },
    space,
    logger: { error: log, info: log } as never,
    registry: new Registry(),
    probe: async () => ({ freeBytes, totalBytes: 1_000 }),
    intervalMs: 3_600_000,
  });
  onTestFinished(() => watch.stop());
  expect(() => refuseWhenFull(space)).not.toThrow();

  freeBytes = 80;
  await watch.check();
  await watch.check();
  expect(() => refuseWhenFull(space)).toThrow(expect.objectContaining({ code: 'storage_full', retryAfterS: 30 }));
  // Accepted records are still processed.
  expect(await whenWritable(space, '/', async () => 'written')).toBe('written');

  freeBytes = 10;
  await watch.check();
  let isWritten = false;
  const written = whenWritable(space, '/', async () => {
    isWritten = true;
  });
  await watch.check();
  expect(isWritten).toBe(false);
  freeBytes = 1_000;
  const levelNow = async (): Promise<SpaceLevel> => {
    await watch.check();
    return space.level;
  };
  await expect.poll(levelNow).toBe('enough');
  await written;
  expect(isWritten).toBe(true);
  expect(lines).toEqual([
    'the disk is nearly full: writes are refused',
    'the disk is full: writes are refused, and evaluation, analytics and webhooks wait',
    'the disk has free space again: writes are accepted',
  ]);
});

// A folder that was deleted was logged four times a second.
it('logs once that free space is unknown, and once that it is known again', async () => {
  const lines: string[] = [];
  const log = (_: unknown, message: string): void => void lines.push(message);
  let probes = 0;
  const watch = await watchSpace({
    configuration: { data: '/data', storage },
    space: createSpace(),
    logger: { error: log, info: log } as never,
    registry: new Registry(),
    probe: async () => {
      probes += 1;
      if (probes > 1 && probes < 10) throw new Error('it does not answer');
      return { freeBytes: 1_000, totalBytes: 1_000 };
    },
    intervalMs: 1,
  });
  onTestFinished(() => watch.stop());
  await expect.poll(() => probes).toBeGreaterThan(20);
  expect(lines).toEqual(['free space is unknown', 'free space is known again']);
});

it('repeats a write that failed because the disk was full, and rethrows other errors', async () => {
  const space = createSpace();
  const failures = [Object.assign(new Error('No space left on device'), { code: 28 })];
  const writing = whenWritable(space, '/', async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return 'written';
  });
  await expect.poll(() => space.level).toBe('out');
  space.level = 'enough';
  expect(await writing).toBe('written');
  await expect(whenWritable(space, '/', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

// A node whose files were damaged logged that the disk was full, with 76 GB of free space in the same line. One that
// ended because Kafka was down raised WritesRefused, and answered that the disk was nearly full.
it('says nothing of the disk when writes have ended for another reason', async () => {
  const lines: string[] = [];
  const log = (_: unknown, message: string): void => void lines.push(message);
  const space = createSpace();
  const registry = new Registry();
  const watch = await watchSpace({
    configuration: { data: '/data', storage },
    space,
    logger: { error: log, info: log } as never,
    registry,
    probe: async () => ({ freeBytes: 1_000, totalBytes: 1_000 }),
    intervalMs: 3_600_000,
  });
  onTestFinished(() => watch.stop());
  await space.endWrites();
  await watch.check();
  expect(lines).toEqual([]);
  expect(await registry.metrics()).toMatch(/^fenceline_storage_writes_refused 0$/m);
  const ending = expect.objectContaining({ code: 'unavailable', message: expect.stringContaining('ending') });
  expect(() => refuseWhenFull(space)).toThrow(ending);
  expect(() => refuseWhenOut(space)).toThrow(ending);
});
