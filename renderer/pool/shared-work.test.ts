import { describe, expect, test } from 'vitest';
import { SharedWork } from './shared-work.js';

/** Work that ends by a call, or with the reason of its signal while it is said to wait. */
function openWork() {
  const shared = new SharedWork<string>();
  const started: { readonly abandonment: AbortSignal; finish(result: string): void; fail(error: Error): void }[] = [];
  const work = (abandonment: AbortSignal): Promise<string> =>
    new Promise((finish, fail) => {
      abandonment.addEventListener('abort', () => fail(abandonment.reason));
      started.push({ abandonment, finish, fail });
    });
  return { started, join: (signal?: AbortSignal) => shared.join('key', work, signal) };
}
const left = new Error('the client has left');

describe('shared work', () => {
  test('is aborted when the last caller leaves', async () => {
    const { started, join } = openWork();
    const [one, other] = [new AbortController(), new AbortController()];
    const answers = [join(one.signal), join(other.signal)];
    one.abort(left);
    await expect(answers[0]).rejects.toBe(left);
    expect(started.map(({ abandonment }) => abandonment.aborted)).toEqual([false]);
    other.abort(left);
    await expect(answers[1]).rejects.toBe(left);
    expect(started.map(({ abandonment }) => abandonment.aborted)).toEqual([true]);
  });

  test('goes on for a caller that has no signal', async () => {
    const { started, join } = openWork();
    const leaving = new AbortController();
    const answers = [join(leaving.signal), join()];
    leaving.abort(left);
    await expect(answers[0]).rejects.toBe(left);
    started[0]!.finish('done');
    expect(await answers[1]).toBe('done');
  });

  test('starts again for a caller that comes after all others have left', async () => {
    const { started, join } = openWork();
    const leaving = new AbortController();
    const abandoned = join(leaving.signal);
    leaving.abort(left);
    const late = join();
    await expect(abandoned).rejects.toBe(left);
    expect(started).toHaveLength(2);
    started[1]!.finish('again');
    expect(await late).toBe('again');
  });

  test('that fails by itself fails for all, and starts again for the next', async () => {
    const { started, join } = openWork();
    const answers = [join(), join()];
    started[0]!.fail(new Error('a mistake'));
    for (const answer of answers) await expect(answer).rejects.toThrow('a mistake');
    const next = join();
    started[1]!.finish('done');
    expect(await next).toBe('done');
  });

  test('does not start for a caller that has left', async () => {
    const { started, join } = openWork();
    await expect(join(AbortSignal.abort(left))).rejects.toBe(left);
    expect(started).toEqual([]);
  });
});
