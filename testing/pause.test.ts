/**
 * Regression: a test paused its registry on a busy machine and asked it something. The registry answered, because
 * SIGSTOP had been sent, but not every thread had stopped.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { pauseProcess } from './pause.js';

const busyThreads = 4;
const program = `
  const { Worker } = require('node:worker_threads');
  let online = 0;
  for (let thread = 0; thread < ${busyThreads}; thread++)
    new Worker('for (;;);', { eval: true }).once('online', () => ++online === ${busyThreads} && console.log('busy'));`;

it('resolves when no thread of a busy process runs', async () => {
  const busy = spawn(process.execPath, ['--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void busy.kill('SIGKILL'));
  await once(busy.stdout, 'data');
  for (let pauses = 0; pauses < 5; pauses++) {
    await pauseProcess(busy.pid!);
    expect(threadStates(busy.pid!)).toEqual(new Set(['T (stopped)']));
    busy.kill('SIGCONT');
  }
});

const threadStates = (pid: number): Set<string | undefined> =>
  new Set(
    readdirSync(`/proc/${pid}/task`).map(
      (thread) => /^State:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))?.[1],
    ),
  );
