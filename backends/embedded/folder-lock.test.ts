/** One process uses a folder, and others open its files in turn. Sockets of one process stand for several here. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { PortError } from '../../pipeline/errors.js';
import { until } from '../../testing/until.js';
import { callHolder, type FolderLock, isLocked, lockFileName, openInTurn, takeLock } from './folder-lock.js';

const shortMs = 100;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Another path of the folder. By it this process doesn't know that it has the lock, like another one. */
function otherPath(): string {
  const path = `${folder}-of-another`;
  symlinkSync(folder, path);
  onTestFinished(() => rmSync(path));
  return path;
}

async function lock(): Promise<FolderLock> {
  const taken = await takeLock(folder, 0);
  if (taken === undefined) throw new Error('another process has the lock');
  onTestFinished(() => taken.release());
  return taken;
}

// Both found that nobody answered, removed the file, and listened: two nodes wrote to one folder.
test('of processes that start at the same moment at most one gets the lock', async () => {
  const taken = await Promise.all(Array.from({ length: 5 }, () => takeLock(folder, 0)));
  const held = taken.filter((each) => each !== undefined);
  onTestFinished(() => {
    for (const each of held) each.release();
  });
  expect(held.length).toBeLessThanOrEqual(1);
});

test('files of processes that ended are replaced, and a held lock is refused', async () => {
  for (const name of [lockFileName, 'lock-abcdef']) writeFileSync(join(folder, name), '');
  expect(await isLocked(folder)).toBe(false);
  await lock();
  expect(await isLocked(folder)).toBe(true);
  expect(await takeLock(folder, 0)).toBeUndefined();
  expect(readdirSync(folder)).toEqual([lockFileName]);
});

// Processes that asked a stopped holder filled its queue. The system then refused others, which took its lock.
test('the holder keeps the lock however many ask at the same moment', async () => {
  const busy = createServer().listen({ path: join(folder, lockFileName), backlog: 1 });
  onTestFinished(() => void busy.close());
  const answers = await Promise.all(Array.from({ length: 20 }, () => isLocked(folder)));
  expect(answers).toEqual(answers.map(() => true));
});

// The system cut the path off. A start ended with a stack, and beside a node the folder was "not in use".
test('a folder is refused whose path is too long for a socket', async () => {
  const long = join(folder, 'x'.repeat(120));
  mkdirSync(long);
  const tooLong = { code: 'ENAMETOOLONG', path: long };
  await expect(takeLock(long, 0)).rejects.toMatchObject(tooLong);
  await expect(isLocked(long)).rejects.toMatchObject(tooLong);
  await expect(openInTurn(long, () => 'opened')).rejects.toMatchObject(tooLong);
});

/** Notes what happens, in order. `hold` is that of a node whose writers wait. */
function noted() {
  const notes: string[] = [];
  const hold = async () => {
    notes.push('hold');
    return () => void notes.push('go on');
  };
  return { notes, hold };
}

test('files are opened one after another, each while nobody writes', async () => {
  const path = otherPath();
  const { notes, hold } = noted();
  const { serve } = await lock();
  const opened = ['one', 'two', 'three'].map((name) =>
    openInTurn(path, async () => {
      notes.push('open');
      await setImmediate();
      notes.push('opened');
      return name;
    }),
  );
  serve({ holdWrites: hold, calls: {} });
  expect(await Promise.all(opened)).toEqual(['one', 'two', 'three']);
  await until(() => notes.length === 12);
  expect(notes).toEqual([1, 2, 3].flatMap(() => ['hold', 'open', 'opened', 'go on']));
});

test('files are opened after their holder has opened its own, or at once where nobody uses the folder', async () => {
  const path = otherPath();
  const lookers: boolean[] = [];
  await openInTurn(path, async () => lookers.push(await isLocked(folder)));
  expect(lookers).toEqual([true]);
  expect(readdirSync(folder)).toEqual([]);
  expect(await isLocked(folder)).toBe(false);

  const holder = await lock();
  let isAdmitted = false;
  const opened = openInTurn(path, () => isAdmitted);
  await until(() => isLocked(folder));
  isAdmitted = true;
  holder.serve({ holdWrites: noted().hold, calls: {} });
  expect(await opened).toBe(true);
});

// The time limit of the answer went on, and ended the turn before the file was open.
test('a turn lasts until the file is open', async () => {
  const { notes, hold } = noted();
  (await lock()).serve({ holdWrites: hold, calls: {} });
  const open = async () => {
    await delay(3 * shortMs);
    notes.push('opened');
  };
  await openInTurn(otherPath(), open, shortMs);
  await until(() => notes.length === 3);
  expect(notes).toEqual(['hold', 'opened', 'go on']);
});

test('an opening that fails ends its turn', async () => {
  const { notes, hold } = noted();
  (await lock()).serve({ holdWrites: hold, calls: {} });
  const failing = openInTurn(otherPath(), () => {
    throw new Error('no such file');
  });
  await expect(failing).rejects.toThrow('no such file');
  await until(() => notes.at(-1) === 'go on');
});

test('the holder of the lock itself does not wait', async () => {
  await lock();
  expect(await openInTurn(folder, () => 'opened')).toBe('opened');
});

test('a turn is given by the next holder when the first one ends', async () => {
  const first = await lock();
  const opened = openInTurn(otherPath(), () => 'opened');
  first.release();
  expect(await opened).toBe('opened');
  (await lock()).serve({ holdWrites: noted().hold, calls: {} });
});

test('a turn that is asked for when the holder serves no longer is given by the next holder', async () => {
  const first = await lock();
  const { notes, hold } = noted();
  first.serve({ holdWrites: hold, calls: {} });
  first.stopServing();
  const opened = openInTurn(otherPath(), () => 'opened');
  await until(() => isLocked(folder));
  first.release();
  expect(await opened).toBe('opened');
  expect(notes).toEqual([]);
});

// The rejection ended the node, when it had no file descriptor left for the thread that holds its writers.
test('a holder that can not keep its writers waiting refuses the turn, and gives the next one', async () => {
  const path = otherPath();
  const { notes, hold } = noted();
  const failures = [new Error('too many open files')];
  const holdWrites = async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return hold();
  };
  (await lock()).serve({ holdWrites, calls: {} });
  const refused = openInTurn(path, () => 'opened');
  await expect(refused).rejects.toThrow(PortError);
  await expect(refused).rejects.toThrow(`${path} can't let others open it: too many open files`);
  expect(await openInTurn(path, () => 'opened')).toBe('opened');
  await until(() => notes.at(-1) === 'go on');
});

// A node of an older release ends each connection at once.
test('a holder that does not make way is named', async () => {
  const older = createServer((socket) => socket.destroy()).listen(join(folder, lockFileName));
  onTestFinished(() => void older.close());
  const refused = openInTurn(folder, () => 'opened', 100);
  await expect(refused).rejects.toThrow(PortError);
  await expect(refused).rejects.toThrow(`another process uses the data folder ${folder}`);
});

test('the holder serves calls of others, also while a file is opened', async () => {
  const path = otherPath();
  const calls = {
    add: async ({ one, other }: { one: number; other: number }) => one + other,
    refuse: async () => {
      throw new Error('not now');
    },
  };
  (await lock()).serve({ holdWrites: noted().hold, calls });
  const sum = await openInTurn(path, () => callHolder(path, 'add', { one: 1, other: 2 }));
  expect(sum).toBe(3);
  await expect(callHolder(path, 'refuse', {})).rejects.toThrow('not now');
  await expect(callHolder(path, 'constructor', {})).rejects.toThrow('has no call constructor');
});

test('a call without a holder is refused, and what is no call ends nothing', async () => {
  await expect(callHolder(folder, 'add', {})).rejects.toThrow(PortError);
  (await lock()).serve({ holdWrites: noted().hold, calls: { add: async () => 3 } });
  const socket = connect(join(folder, lockFileName));
  socket.end('{"call":\n');
  expect(JSON.parse(await text(socket))).toEqual({ error: expect.stringContaining('JSON') });
  expect(await callHolder(folder, 'add', {})).toBe(3);
});

// The kernel's own folder is one that nobody writes to.
test.skipIf(process.platform !== 'linux')('a folder that can only be read is opened without a lock', async () => {
  expect(await openInTurn('/proc/self', () => 'opened')).toBe('opened');
});
