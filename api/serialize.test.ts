/** 40 batches of 7.7 MiB waited for each other in memory: nothing bounded their number. */
import { expect, it } from 'vitest';
import { createSerializer } from './serialize.js';

it('work beyond the limit of its key is refused at once, and other keys and later work are not', async () => {
  const serialize = createSerializer(2);
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const done: string[] = [];
  const work = (name: string) => async () => {
    await released;
    done.push(name);
  };
  const admitted = [serialize('one', work('first')), serialize('one', work('second'))];
  await expect(serialize('one', work('third'))).rejects.toMatchObject({ code: 'overloaded', retryAfterS: 1 });
  admitted.push(serialize('other', work('other')));
  release();
  await Promise.all(admitted);
  await serialize('one', work('later'));
  expect(done.filter((name) => name !== 'other')).toEqual(['first', 'second', 'later']);
  expect(done).toContain('other');
});

it('a failure rejects its own call and frees its place', async () => {
  const serialize = createSerializer(1);
  const failure = serialize('one', async () => {
    throw new Error('broken');
  });
  await expect(failure).rejects.toThrow('broken');
  await expect.poll(() => serialize('one', async () => 'next').catch(() => undefined)).toBe('next');
});
