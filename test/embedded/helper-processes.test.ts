/** The processes that a node starts for slow or risky work, as its supervisor and terminal treat them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { endSignals } from '../../schemas/end-signals.js';
import { until } from '../../testing/until.js';

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
      if (listenedTo.size === endSignals.length) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended with listeners for ${[...listenedTo]} only`)));
  });
  expect([...listenedTo].sort()).toEqual([...endSignals].sort());
});

// The basemap was baked beside a server with 512 MB. Linux ended the larger of the two, which was the server.
test.runIf(process.platform === 'linux').each(modules)(
  'regression: the system ended the server instead of %s when memory ran out',
  async (module) => {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-helper-'));
    const child = fork(new URL(`../../dist/${module}`, import.meta.url), [folder], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    onTestFinished(async () => {
      if (child.kill('SIGKILL')) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    });
    await until(() => readFileSync(`/proc/${child.pid}/oom_score_adj`, 'utf8').trim() === '1000');
  },
);

/** Writes a file when the first message arrives, and holds the message until there is a second file. */
const holding = `
  import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
  const [held, parentHasEnded] = process.argv.slice(2);
  const hold = () => {
    writeFileSync(held, '');
    while (!existsSync(parentHasEnded));
  };
  // Before the program's listener, and not earlier: the program would miss the message.
  process.on('newListener', function add(name) {
    if (name !== 'message') return;
    process.off('newListener', add);
    process.once('message', hold);
  });`;

// The server was killed while the process worked. Its answer then printed a stack: "Error: write EPIPE".
test('regression: a process ends without a word when its parent has ended before it answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-helper-'));
  const files = [join(folder, 'held'), join(folder, 'parent-has-ended')] as const;
  const child = fork(new URL('../../dist/renderer/pool/icon-process.js', import.meta.url), files, {
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(holding)}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const ended = Promise.all([once(child, 'exit'), text(child.stderr!)]);
  child.send({});
  await until(() => existsSync(files[0]));
  child.disconnect();
  writeFileSync(files[1], '');
  expect(await ended).toEqual([[0, null], '']);
});
