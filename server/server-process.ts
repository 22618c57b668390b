/** Runs a Fenceline server as a child process. Its address and keys are read from its output. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Environment } from '../schemas/json/common.js';
import type { KeyKind } from '../schemas/json/project.js';
import { tidyOnExit } from '../schemas/tidy-on-exit.js';

/** The four keys of a project in plain text, such as `test_publishable`. */
export type Keys = Readonly<Record<`${Environment}_${KeyKind}`, string>>;

/** What a server prints when it is ready. */
export interface Greeting {
  /** For example http://127.0.0.1:8080. */
  readonly address: string;
  /** Printed on the first start of a data folder only. */
  readonly keys: Keys | undefined;
}

/** How a process ended: by itself with a code, or by a signal. The other one is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server that was started. Its owner stops it. */
export interface ServerProcess {
  readonly pid: number;
  /** Rejects with the end of the log when the process ends before it is ready. */
  readonly ready: Promise<Greeting>;
  readonly exited: Promise<Exit>;
  /** Returns the last lines of the log, oldest first. */
  log(): readonly string[];
  /** Stops the server gracefully with SIGTERM. Resolves when it has ended. */
  stop(): Promise<Exit>;
  /** Kills the server with SIGKILL. */
  kill(): Promise<Exit>;
}

interface LaunchOptions {
  /** The compiled `cli/main.js`. */
  readonly program: string;
  readonly dataFolder: string;
  /** Default: a free port. */
  readonly port?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

const maxLogLines = 200;
const keyPattern = /prj_(test|live)_(pk|sk)_[A-Za-z0-9]+/;
const addressPattern = /listening on (http:\/\/[\d.]+:\d+)/;

/** The message to a server that it stops when the process that launched it has ended. */
export const stopWithLauncher = 'stop when the launcher has ended';

/**
 * Starts a server and returns at once. The server is killed when this process exits. If this process is killed, the
 * server sees its IPC channel close, and stops gracefully.
 */
export function launchServer({ program, dataFolder, port = 0, environment = {} }: LaunchOptions): ServerProcess {
  const child = spawn(process.execPath, [program, 'serve', '--port', String(port), '--data', dataFolder], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...environment },
    // A separate process group: Ctrl-C in the terminal reaches only this process, which then stops the server
    // gracefully.
    detached: true,
  });
  const release = tidyOnExit(() => child.kill('SIGKILL'));
  // A server that could not start, or has ended, takes no message.
  child.send(stopWithLauncher, () => {});
  child.channel?.unref();

  const logLines: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => {
    logLines.push(line);
    if (logLines.length > maxLogLines) logLines.shift();
  });

  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      release();
      resolve({ code, signal });
    });
  });
  const ready = readGreeting(child, () => logLines);
  // A caller that kills a starting server does not await it.
  ready.catch(() => undefined);

  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid ?? 0,
    ready,
    exited,
    log: () => logLines,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function readGreeting(child: ChildProcess, log: () => readonly string[]): Promise<Greeting> {
  const keys: Partial<Record<keyof Keys, string>> = {};
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      reject(new Error(`the server ended before it was ready (${signal ?? `code ${code}`})\n${log().join('\n')}`));
    });
    if (!child.stdout) throw new Error('the server has no standard output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [key, keyEnvironment, kind] = keyPattern.exec(line) ?? [];
      if (key) keys[`${keyEnvironment as Environment}_${kind === 'sk' ? 'secret' : 'publishable'}`] = key;
      const address = addressPattern.exec(line)?.[1];
      if (address) greet(address);
    });
    function greet(address: string): void {
      // Lines that arrived with the address may contain keys: read them first.
      setImmediate(() => resolve({ address, keys: complete(keys) }));
    }
  });
}

function complete({ test_publishable, test_secret, live_publishable, live_secret }: Partial<Keys>): Keys | undefined {
  if (!test_publishable || !test_secret || !live_publishable || !live_secret) return undefined;
  return { test_publishable, test_secret, live_publishable, live_secret };
}
