import { expect, it } from 'vitest';
import { createSpace, newSharedSpace, refuseWhenFull, refuseWhenOut, whenWritable } from './space.js';

it('the end of writing waits for the writes of all threads, and lets no other start', async () => {
  const shared = newSharedSpace();
  const ending = createSpace(shared);
  const writing = createSpace(shared);
  const order: string[] = [];
  let finish = (): void => {};
  const write = new Promise<void>((resolve) => (finish = resolve)).then(() => void order.push('written'));
  const written = whenWritable(writing, '/', () => write);
  await Promise.resolve();

  const ended = ending.endWrites().then(() => void order.push('ended'));
  void writing.counted(async () => void order.push('written too late'));
  // The disk has space again, which does not matter any more.
  writing.level = 'enough';
  expect([ending.level, writing.level]).toEqual(['out', 'out']);
  finish();
  await Promise.all([written, ended]);
  expect(order).toEqual(['written', 'ended']);
});

it('a disk that is nearly full refuses new data, and only a full one stops what follows', () => {
  const space = createSpace();
  expect(() => refuseWhenFull(space)).not.toThrow();
  space.level = 'low';
  expect(() => refuseWhenFull(space)).toThrow('nearly full');
  expect(() => refuseWhenOut(space)).not.toThrow();
  space.level = 'out';
  expect(() => refuseWhenOut(space)).toThrow('nearly full');
});
