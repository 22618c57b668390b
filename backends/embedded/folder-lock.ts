/**
 * Locks a data folder for one process, because chDB and the read model allow only one writer, and lets other processes
 * open its LMDB files in turn.
 *
 * The lock is a Unix socket in the folder. Its holder listens on it. When the process ends, even when it is killed,
 * nobody answers on the file that remains.
 *
 * A process that opens an LMDB file writes to the memory that all processes share with it: the number of the latest
 * transaction, as it was when it looked. A commit in between would be lost (docs/decisions/172). So it asks the holder
 * on the socket first, and writers wait until it has opened the file to read it. Only the holder writes. It also takes
 * calls of others, such as moves of positions.
 *
 * Each request is a line of JSON, `{"call", "argument"}`, and so is each answer: `{"result"}` or `{"error"}`.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, Socket } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PortError } from '../../pipeline/errors.js';
import { createDeferred } from '../../schemas/deferred.js';

/** The socket of the process that uses the folder. */
export const lockFileName = 'in-use.socket';
/** Sockets of processes that are about to take the lock. */
const candidatePrefix = 'lock-';
const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** Longer paths of sockets are cut off or refused. */
const maxSocketPathBytes = process.platform === 'darwin' ? 103 : 107;
/** What the system says of a path on which nobody listens, or no longer. */
const nobodyListens: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ECONNRESET']);

/** Asks for a turn, which lasts as long as the connection. */
const openRequest = { call: 'open' };
const openLine = JSON.stringify(openRequest);
/** Comparing all positions may take half a minute. */
const callPatienceMs = 120_000;

/** Processes that only open files have the lock for some milliseconds. */
const lockPatienceMs = 2_000;
/** A node that starts lets others open files once it has opened its own. */
const turnPatienceMs = 10_000;
const retryAfterMs = 20;

/** Returns whether a process that took the lock, or was about to, left the file. */
export const isOfLock = (name: string): boolean => name === lockFileName || name.startsWith(candidatePrefix);

/** Lets nobody write. Resolves, when that is so, to a function that ends it. */
export type HoldWrites = () => Promise<() => void>;

/** What the holder of a lock does for other processes. */
export interface HolderServices {
  readonly holdWrites: HoldWrites;
  /** By name. Arguments and results are JSON. */
  readonly calls: Readonly<Record<string, (argument: never) => Promise<unknown>>>;
}

/** The lock of a folder. It ends with the process at the latest. */
export interface FolderLock {
  /** Serves the processes that have asked, one after another, from now on. */
  serve(services: HolderServices): void;
  /** Serves nobody from now on. Those who ask wait until the lock ends. */
  stopServing(): void;
  /** Ends the lock, and removes its file. */
  release(): void;
}

/** Folders that this process has locked. Nobody else opens their files meanwhile. */
const own = new Set<string>();

/** Returns the shorter of the absolute and the relative path. */
function socketPath(folder: string, name = lockFileName): string {
  const path = join(folder, name);
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}

/** Throws ENAMETOOLONG when the path of the folder is too long for the socket that locks it. */
export function refuseLongPath(folder: string): void {
  if (Buffer.byteLength(socketPath(folder)) <= maxSocketPathBytes) return;
  throw Object.assign(new Error('the path is too long for a socket'), { code: 'ENAMETOOLONG', path: folder });
}

/**
 * Resolves to undefined when nobody listens, and to `busy` when somebody does who accepts no more connections, such as
 * a process that was stopped. Rejects when the system refuses for another reason.
 */
const connected = (path: string): Promise<Socket | 'busy' | undefined> =>
  new Promise((settle, reject) => {
    const socket = connect(path);
    socket
      .once('connect', () => settle(socket))
      .once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EAGAIN') settle('busy');
        else if (nobodyListens.has(error.code)) settle(undefined);
        else reject(error);
      });
    socket.unref();
  });

async function isAnswering(path: string): Promise<boolean> {
  const socket = await connected(path);
  if (socket instanceof Socket) socket.destroy();
  return socket !== undefined;
}

function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((settle, reject) => {
    const server = createServer(onConnection);
    server.unref();
    server.once('error', reject).listen(path, () => settle(server));
  });
}

/** Returns whether a running process uses the folder. */
export async function isLocked(folder: string): Promise<boolean> {
  refuseLongPath(folder);
  return isAnswering(socketPath(folder));
}

/** Returns whether another process has the lock or is about to take it. Removes the files of those that ended. */
async function isHeld(folder: string, candidate: string): Promise<boolean> {
  const others = readdirSync(folder).filter((name) => name.startsWith(candidatePrefix) && name !== candidate);
  for (const name of [...others, lockFileName]) {
    if (await isAnswering(socketPath(folder, name))) return true;
    // One that is only about to listen on it finds this one, or misses its file.
    if (name !== lockFileName) rmSync(join(folder, name), { force: true });
  }
  return false;
}

/**
 * Takes the lock, which the process then holds until it releases it or ends. Resolves to undefined if another process
 * holds it. Rejects if the folder can't be written.
 *
 * Each process listens under a name of its own before it looks for others. So of two that start at the same moment, at
 * least one finds the other: beside it, or already under the name of the lock.
 */
async function tryLock(folder: string): Promise<FolderLock | undefined> {
  refuseLongPath(folder);
  const candidate = `${candidatePrefix}${randomBytes(3).toString('hex')}`;
  const requests = new Requests();
  const server = await listen(socketPath(folder, candidate), (socket) => requests.add(socket));
  const close = (): void => {
    server.close();
    requests.end();
  };
  let isFree = false;
  try {
    isFree = !(await isHeld(folder, candidate)) && existsSync(join(folder, candidate));
  } finally {
    if (!isFree) close();
  }
  if (!isFree) return undefined;
  renameSync(join(folder, candidate), join(folder, lockFileName));
  own.add(resolve(folder));
  const release = (): void => {
    own.delete(resolve(folder));
    // While it answers, it is nobody else's.
    rmSync(join(folder, lockFileName), { force: true });
    close();
  };
  return { serve: (services) => requests.serve(services), stopServing: () => requests.stopServing(), release };
}

/**
 * Takes the lock of a folder. Waits for processes that only open its files. Resolves to undefined if another process
 * uses the folder for longer, and rejects if it can't be written.
 */
export async function takeLock(folder: string, patienceMs = lockPatienceMs): Promise<FolderLock | undefined> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const lock = await tryLock(folder);
    if (lock !== undefined || performance.now() > deadlineMs) return lock;
    await delay(retryAfterMs * (1 + Math.random()));
  }
}

/** The requests of other processes. */
class Requests {
  #services = createDeferred<HolderServices>();
  readonly #sockets = new Set<Socket>();
  /** Resolves when the turns so far have ended. */
  #lastTurn: Promise<void> = Promise.resolve();

  serve(services: HolderServices): void {
    this.#services.resolve(services);
  }

  stopServing(): void {
    this.#services = createDeferred();
  }

  /** Adds a connection. A process that asks for nothing only wants to know whether the folder is locked. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.unref();
    const ended = createDeferred();
    socket
      // The process has ended. Its connection is closed next.
      .on('error', () => {})
      .once('close', () => {
        this.#sockets.delete(socket);
        ended.resolve();
      });
    void this.#serve(socket, ended.promise);
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(socket: Socket, ended: Promise<void>): Promise<void> {
    const line = await firstLine(socket);
    if (line === undefined) return;
    if (line === openLine) {
      this.#lastTurn = this.#lastTurn.then(async () => giveTurn(await this.#services.promise, socket, ended));
      return;
    }
    socket.end(lineOf(await answerOf(await this.#services.promise, line)));
  }
}

async function giveTurn({ holdWrites }: HolderServices, socket: Socket, ended: Promise<void>): Promise<void> {
  if (socket.destroyed) return;
  let goOn: () => void;
  try {
    goOn = await holdWrites();
  } catch (error) {
    socket.end(lineOf({ error: (error as Error).message }));
    return;
  }
  socket.write(lineOf({ result: null }));
  // Without a limit: if writers went on before the file is open, commits could be lost. A process that is killed ends
  // its connection.
  await ended;
  goOn();
}

type Answer = { readonly result: unknown } | { readonly error: string };

async function answerOf({ calls }: HolderServices, line: string): Promise<Answer> {
  try {
    const { call, argument } = JSON.parse(line) as { call: string; argument: never };
    if (!Object.hasOwn(calls, call)) throw new Error(`the process that uses the folder has no call ${call}`);
    return { result: await calls[call]!(argument) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** Resolves to undefined when the connection is closed before. */
function firstLine(socket: Socket): Promise<string | undefined> {
  let text = '';
  socket.setEncoding('utf8');
  return new Promise((settle) => {
    socket
      .on('data', (chunk) => {
        text += chunk;
        const end = text.indexOf('\n');
        if (end >= 0) settle(text.slice(0, end));
      })
      .once('close', () => settle(undefined));
  });
}

const inUse = (folder: string): PortError =>
  new PortError(
    'unavailable',
    `another process uses the data folder ${folder} and lets no other open it; ` +
      'if that is a node of another release, use the command of that release',
  );

/**
 * Opens files of the folder while no other process writes to them or opens any. Waits for the holder of the lock, or
 * takes the lock meanwhile. Rejects with PortError `unavailable` when the holder does not make way, for example because
 * it is of an older release.
 */
export async function openInTurn<T>(
  folder: string,
  open: () => T | Promise<T>,
  patienceMs = turnPatienceMs,
): Promise<T> {
  if (own.has(resolve(folder))) return open();
  const turn = await takeTurn(folder, patienceMs);
  try {
    return await open();
  } finally {
    turn?.release();
  }
}

type Turn = Pick<FolderLock, 'release'>;

/** Resolves to undefined where this process can't write. It then can't write to the memory of LMDB either. */
async function takeTurn(folder: string, patienceMs: number): Promise<Turn | undefined> {
  const deadlineMs = performance.now() + patienceMs;
  while (performance.now() < deadlineMs) {
    const turn = await takeTurnNow(folder, patienceMs).catch(refuseUnlessReadOnly);
    if (turn !== undefined) return turn === 'read-only' ? undefined : turn;
    await delay(retryAfterMs * (1 + Math.random()));
  }
  throw inUse(folder);
}

const takeTurnNow = async (folder: string, patienceMs: number): Promise<Turn | undefined> =>
  (await askForTurn(folder, patienceMs)) ?? (await tryLock(folder));

function refuseUnlessReadOnly(error: NodeJS.ErrnoException): 'read-only' {
  if (['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '')) return 'read-only';
  throw error;
}

/**
 * Asks the holder of the lock. Resolves to undefined if there is none, or it ends the connection or takes too long.
 * Rejects with PortError `unavailable` if it can't keep its writers waiting.
 */
async function askForTurn(folder: string, patienceMs: number): Promise<Turn | undefined> {
  const asked = await ask(folder, openRequest, patienceMs);
  if (asked !== undefined && 'error' in asked.answer)
    throw new PortError(
      'unavailable',
      `the process that uses the data folder ${folder} can't let others open it: ${asked.answer.error}`,
    );
  return asked && { release: () => void asked.socket.destroy() };
}

/**
 * Lets the holder of the folder's lock do something, and returns its result. Rejects with its error, and with
 * PortError `unavailable` when it does not answer.
 */
export async function callHolder(folder: string, call: string, argument: object): Promise<unknown> {
  const asked = await ask(folder, { call, argument }, callPatienceMs);
  if (asked === undefined)
    throw new PortError(
      'unavailable',
      `the process that uses the data folder ${folder} did not answer, or ended before: run the command again; ` +
        'if that is a node of another release, use the command of that release',
    );
  asked.socket.destroy();
  if ('error' in asked.answer) throw new Error(asked.answer.error);
  return asked.answer.result;
}

async function ask(
  folder: string,
  request: { readonly call: string; readonly argument?: object },
  patienceMs: number,
): Promise<{ readonly answer: Answer; readonly socket: Socket } | undefined> {
  refuseLongPath(folder);
  const socket = await connected(socketPath(folder));
  if (!(socket instanceof Socket)) return undefined;
  socket
    .ref()
    .setTimeout(patienceMs, () => socket.destroy())
    .on('error', () => {})
    .write(lineOf(request));
  const line = await firstLine(socket);
  // A turn lasts as long as its connection.
  socket.setTimeout(0);
  return line === undefined ? undefined : { answer: JSON.parse(line) as Answer, socket };
}
