import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createValhallaProcess } from './child.js';

/** Starts a process that answers nothing, as native code does in a long computation. */
function openSilent() {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-router-'));
  const module = join(folder, 'silent.mjs');
  writeFileSync(module, "process.on('message', () => {});");
  const router = createValhallaProcess(pathToFileURL(module), () => {});
  onTestFinished(async () => {
    await router.close();
    rmSync(folder, { recursive: true });
  });
  return router;
}

const unavailable = { ok: false, error: { code: 'unavailable' } };

test('a request ends when its signal aborts', async () => {
  const abort = new AbortController();
  const answer = openSilent().ask('tiles', 'isochrone', '{}', abort.signal);
  abort.abort();
  expect(await answer).toMatchObject(unavailable);
});

// The time limit passed while the folder was looked up. The listener of an aborted signal is not called, so the request
// ran without a limit.
test('regression: a request whose signal has aborted before does not begin', async () => {
  expect(await openSilent().ask('tiles', 'isochrone', '{}', AbortSignal.abort())).toMatchObject(unavailable);
});
