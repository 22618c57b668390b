/**
 * Runs programs as processes of this machine, each in a temporary folder and a process group of its own.
 *
 * Nothing is left behind: a guard, a shell that waits for its standard input to end, kills the group and removes the
 * folder as soon as the process that started the server ends, in whatever way (SIGKILL too).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pauseProcess } from '../pause.js';
import { loopback } from './ports.js';
import { answering, logTailLines, type Program, type Server } from './server.js';

const logFile = 'output.log';
/** After that a server that was asked to end is killed. */
const endTimeoutMs = 30_000;

/** Starts a program in a temporary folder, and resolves when it answers. The caller stops it. */
export async function startProcess(program: Program): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), `fenceline-${program.software.name}-`));
  const server = new ProcessServer(program, folder);
  try {
    for (const [name, content] of Object.entries(program.files))
      await writeFile(join(folder, name), content, { mode: 0o600 });
    await server.restart();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

class ProcessServer implements Server {
  readonly #program: Program;
  readonly folder: string;
  readonly #guard: ChildProcess;
  #running: { readonly pid: number; readonly ended: Promise<unknown> } | undefined;

  constructor(program: Program, folder: string) {
    this.#program = program;
    this.folder = folder;
    this.#guard = startGuard(folder);
  }

  get pid(): number | undefined {
    return this.#running?.pid;
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.#guard.exitCode !== null) return;
    this.#guard.stdin!.end();
    await once(this.#guard, 'exit');
  }

  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.#running?.ended;
  }

  async pause(): Promise<void> {
    if (this.#running) await pauseProcess(this.#running.pid, -this.#running.pid);
  }

  async resume(): Promise<void> {
    this.#signal('SIGCONT');
  }

  async restart(): Promise<void> {
    await this.#end();
    this.#launch();
    try {
      await answering(this.#program, () => this.#running === undefined);
    } catch (error) {
      throw new Error(await this.logTail(), { cause: error });
    }
  }

  async logTail(): Promise<string> {
    const log = await readFile(join(this.folder, logFile), 'utf8');
    return log.trimEnd().split('\n').slice(-logTailLines).join('\n');
  }

  #launch(): void {
    const log = openSync(join(this.folder, logFile), 'a');
    const child = spawn('sh', ['-c', this.#program.script], {
      cwd: this.folder,
      env: { ...process.env, BIND: loopback },
      stdio: ['ignore', log, log],
      // A separate process group: signals reach all its processes, and Ctrl-C in the terminal reaches none.
      detached: true,
    });
    closeSync(log);
    const ended = once(child, 'exit').then(() => {
      this.#running = undefined;
      this.#guard.stdin!.write('\n');
    });
    this.#running = { pid: child.pid!, ended };
    this.#guard.stdin!.write(`${child.pid}\n`);
  }

  async #end(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    this.#signal('SIGCONT');
    this.#signal('SIGTERM');
    await Promise.race([running.ended, delay(endTimeoutMs, undefined, { ref: false })]);
    await this.kill();
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#running) process.kill(-this.#running.pid, signal);
  }
}

/**
 * Reads the group to kill by line, an empty one for none. When no more lines can come it kills that group and removes
 * the folder.
 */
function startGuard(folder: string): ChildProcess {
  const script = 'while read -r line; do group=$line; done; [ -z "$group" ] || kill -s KILL -- "-$group"; rm -rf "$0"';
  return spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
}
