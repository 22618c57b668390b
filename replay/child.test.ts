/** The processes of replays, with modules that end as badly as the process of a replay may. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runInProcess } from './child.js';
import { defaultJobBounds, type JobMessage, type ReplayJob } from './job.js';

let work: string;

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'fenceline-child-'));
});
afterEach(() => {
  rmSync(work, { recursive: true, force: true });
});

/** Runs a process that tells its progress, and then does what `next` says. */
function run(next: string, hear: (message: JobMessage) => void, signal: AbortSignal): Promise<void> {
  const file = join(work, 'process.mjs');
  writeFileSync(
    file,
    `process.once('message', () => {
      process.send({ kind: 'progress', records: 0, total: 1 }, () => { ${next} });
    });`,
  );
  const job = {} as ReplayJob;
  return runInProcess(pathToFileURL(file), { kind: 'folder', path: work })(job, defaultJobBounds, hear, signal);
}

const progress = { kind: 'progress', records: 0, total: 1 };

test('a killed process has failed', async () => {
  const heard: JobMessage[] = [];
  await run(`process.kill(process.pid, 'SIGKILL')`, (message) => heard.push(message), new AbortController().signal);
  expect(heard).toEqual([
    progress,
    { kind: 'failed', reason: 'the process of the replay ended: SIGKILL, perhaps because memory ran out' },
  ]);
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
});

test('a process ends that was cancelled before it started', async () => {
  await run('for (;;);', () => undefined, AbortSignal.abort());
});
