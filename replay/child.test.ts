/** The processes of replays, with modules that end as badly as the process of a replay may. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runInProcess } from './child.js';
import { defaultJobBounds, type JobMessage, type ReplayJob } from './job.js';

let work: string;
/** Where the processes make their folders. */
let temporary: string;

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'fenceline-child-'));
  temporary = join(work, 'temporary');
  mkdirSync(temporary);
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(work, { recursive: true, force: true });
});

/** Runs a process that fills its folder, tells so, and then does what `next` says. */
function run(next: string, hear: (message: JobMessage) => void, signal: AbortSignal): Promise<void> {
  const file = join(work, 'process.mjs');
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs';
    process.once('message', ({ folder }) => {
      writeFileSync(folder + '/data', 'data');
      process.send({ kind: 'progress', records: 0, total: 1 }, () => { ${next} });
    });`,
  );
  const job = {} as ReplayJob;
  return runInProcess(pathToFileURL(file), { kind: 'folder', path: work })(job, defaultJobBounds, hear, signal);
}

const progress = { kind: 'progress', records: 0, total: 1 };

// A process that was killed for its memory left a copy of the configuration in the folder for temporary files.
test('a killed process leaves no folder', async () => {
  const heard: JobMessage[] = [];
  await run(`process.kill(process.pid, 'SIGKILL')`, (message) => heard.push(message), new AbortController().signal);
  expect(heard).toEqual([
    progress,
    { kind: 'failed', reason: 'the process of the replay ended: SIGKILL, perhaps because memory ran out' },
  ]);
  expect(readdirSync(temporary)).toEqual([]);
});

// A cancelled replay copied the configuration of a large project to its end first.
test('a process ends at once when it is cancelled, whatever it does', async () => {
  const cancel = new AbortController();
  const heard: JobMessage[] = [];
  const hear = (message: JobMessage) => {
    heard.push(message);
    cancel.abort();
  };
  await run('for (;;);', hear, cancel.signal);
  expect(heard).toEqual([progress]);
  expect(readdirSync(temporary)).toEqual([]);
});

test('a process ends that was cancelled before it started', async () => {
  await run('for (;;);', () => undefined, AbortSignal.abort());
  expect(readdirSync(temporary)).toEqual([]);
});
