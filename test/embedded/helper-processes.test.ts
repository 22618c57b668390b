/** The processes that a node starts for slow or risky work, as its supervisor and terminal treat them. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** Tells the parent that a message has arrived, and holds it until the file exists. */
const holding = `
  import { existsSync } from 'node:fs';
  process.once('message', () => {
    process.send('held');
    while (!existsSync(process.argv[2]));
  });`;

// The server was killed while the process worked. Its answer then printed a stack: "Error: write EPIPE".
test('regression: a process ends without a word when its parent has ended before it answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-helper-'));
  const file = join(folder, 'parent-has-ended');
  const child = fork(new URL('../../dist/renderer/pool/icon-process.js', import.meta.url), [file], {
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(holding)}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  let printed = '';
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const held = new Promise((resolve) => child.once('message', resolve));
  child.send({});
  expect(await held).toBe('held');
  child.disconnect();
  writeFileSync(file, '');
  expect([await ended, printed]).toEqual([0, '']);
});
