import { expect, it } from 'vitest';
import { createSpace, newSharedSpace, whenWritable } from './space.js';

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
