/** The processes that a node starts for slow or risky work, as its supervisor and terminal treat them. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const modules = [
  'providers/valhalla/process.js',
  'renderer/basemap/baking-process.js',
  'renderer/pool/drawing-process.js',
  'renderer/pool/icon-process.js',
  'replay/process.js',
];

/** Tells the parent each signal for which the process gets a listener. */
const reporting = `process.on('newListener', (name) => /^SIG/.test(name) && process.send({ listenedTo: name }));`;

// A signal to the group ended replays and the baking of the basemap first, and the node reported faults of theirs.
test.each(modules)('regression: signals to the group of processes do not end %s', async (module) => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-helper-'));
  const child = fork(new URL(`../../dist/${module}`, import.meta.url), [folder], {
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(reporting)}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const listenedTo = new Set<string>();
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      listenedTo.add((message as { listenedTo: string }).listenedTo);
      if (listenedTo.size === 2) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended with listeners for ${[...listenedTo]} only`)));
  });
  expect([...listenedTo].sort()).toEqual(['SIGINT', 'SIGTERM']);
});
