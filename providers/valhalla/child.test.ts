import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TimeLimit } from '../time-limit.js';
import { createValhallaProcess } from './child.js';

/**
 * Starts a router whose processes do what a request says: `answer`, `silent` (as native code in a long computation),
 * `crash`, or `late`: silent in the first process that gets it, an answer in the second. `begun` lists what they got.
 */
function openRouter() {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-router-'));
  const module = join(folder, 'router.mjs');
  const log = join(folder, 'log');
  writeFileSync(log, '');
  writeFileSync(
    module,
    `import { appendFileSync, readFileSync } from 'node:fs';
    const log = ${JSON.stringify(log)};
    process.on('disconnect', () => process.exit(0));
    process.on('message', ({ id, request }) => {
      const isRepeated = readFileSync(log, 'utf8').includes(request);
      appendFileSync(log, request + '\\n');
      if (request.startsWith('crash')) process.exit(1);
      if (request.startsWith('answer') || (request.startsWith('late') && isRepeated))
        process.send({ id, result: { kind: 'answer', text: request } });
    });`,
  );
  const router = createValhallaProcess(pathToFileURL(module), () => {});
  onTestFinished(async () => {
    await router.close();
    rmSync(folder, { recursive: true });
  });
  const begun = () => readFileSync(log, 'utf8').trim().split('\n');
  return {
    router,
    begun,
    ask: (request: string, limit = unlimited()) => router.ask('tiles', 'isochrone', request, limit),
    hasBegun: (...requests: string[]) => expect.poll(begun).toEqual(expect.arrayContaining(requests)),
  };
}

/** A time limit that only `abort` ends. */
function unlimited() {
  const controller = new AbortController();
  const limit: TimeLimit = { signal: controller.signal, hasTime: () => !controller.signal.aborted };
  return { ...limit, abort: () => controller.abort() };
}

const unavailable = { ok: false, error: { code: 'unavailable' } };
const answered = (text: string) => ({ ok: true, value: { kind: 'answer', text } });

test('a request ends when its signal aborts', async () => {
  const { ask, hasBegun } = openRouter();
  const limit = unlimited();
  const answer = ask('silent', limit);
  await hasBegun('silent');
  limit.abort();
  expect(await answer).toMatchObject(unavailable);
  expect(await ask('answer')).toEqual(answered('answer'));
});

// The time limit passed while the folder was looked up. The listener of an aborted signal is not called, so the request
// ran without a limit.
test('regression: a request whose signal has aborted before does not begin', async () => {
  const { ask, begun } = openRouter();
  const limit = unlimited();
  limit.abort();
  expect(await ask('answer', limit)).toMatchObject(unavailable);
  expect(begun()).toEqual(['']);
});

test('a request with too little time left does not begin', async () => {
  const { ask, begun } = openRouter();
  const limit = { ...unlimited(), hasTime: () => false };
  expect(await ask('answer', limit)).toMatchObject(unavailable);
  expect(begun()).toEqual(['']);
});

describe('when a request of another project ends the process', () => {
  test('regression: one whose time is over, other requests run again and are answered', async () => {
    const { ask, hasBegun } = openRouter();
    const limit = unlimited();
    const slow = ask('silent', limit);
    const others = [ask('late 1'), ask('late 2')];
    await hasBegun('silent', 'late 1', 'late 2');
    limit.abort();
    expect(await slow).toMatchObject(unavailable);
    expect(await Promise.all(others)).toEqual([answered('late 1'), answered('late 2')]);
  });

  test('regression: by a crash, other requests run again and are answered', async () => {
    const { ask, hasBegun, begun } = openRouter();
    const other = ask('late');
    await hasBegun('late');
    const crash = ask('crash');
    expect(await other).toEqual(answered('late'));
    expect(await crash).toMatchObject(unavailable);
    expect(begun().filter((request) => request === 'crash')).toHaveLength(2);
  });

  test('a request that runs again is alone: no other one ends it', async () => {
    const { ask, hasBegun, begun } = openRouter();
    const [slow, repeated] = [unlimited(), unlimited()];
    const first = ask('silent 1', slow);
    const innocent = ask('silent 2', repeated);
    await hasBegun('silent 1', 'silent 2');
    slow.abort();
    await expect.poll(() => begun().filter((request) => request === 'silent 2')).toHaveLength(2);
    expect(await ask('crash')).toMatchObject(unavailable);
    repeated.abort();
    expect(await innocent).toMatchObject(unavailable);
    expect(await first).toMatchObject(unavailable);
    expect(begun().filter((request) => request === 'silent 2')).toHaveLength(2);
  });

  test('a request with too little time left is not run again', async () => {
    const { ask, hasBegun, begun } = openRouter();
    const limit = unlimited();
    let isLate = false;
    const slow = ask('silent', limit);
    const late = ask('late', { ...unlimited(), hasTime: () => !isLate });
    await hasBegun('silent', 'late');
    isLate = true;
    limit.abort();
    expect(await late).toMatchObject(unavailable);
    expect(await slow).toMatchObject(unavailable);
    expect(begun()).toHaveLength(2);
  });
});

test('closing ends what runs, and nothing runs again', async () => {
  const { router, ask, hasBegun, begun } = openRouter();
  const answer = ask('late');
  await hasBegun('late');
  await router.close();
  expect(await answer).toMatchObject(unavailable);
  expect(begun()).toEqual(['late']);
});
