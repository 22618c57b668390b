/**
 * Types of a service: software that is available in two ways, a program that both ways can run, and the running server.
 */
import { until } from '../until.js';

/** Runs as a process where it is installed, in a container elsewhere. */
export interface Software {
  readonly name: string;
  /** Needed on the PATH to run here. */
  readonly commands: readonly string[];
  /**
   * Environment variable that names its folder here. Scripts read it too, so containers set it to the image's folder.
   */
  readonly folder?: { readonly variable: string; readonly inImage: string };
  readonly image: string;
}

/** One server to run. */
export interface Program {
  readonly software: Software;
  /** All that it listens on. The same in a container as outside. */
  readonly ports: readonly number[];
  /** Laid into its own empty folder before the first start, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Shell script that runs in that folder at each start. It ends in `exec`; the server binds to $BIND. */
  readonly script: string;
  /** Resolves when the server answers; rejects, within a second or two, while it doesn't. */
  readonly ping: () => Promise<unknown>;
}

/** A server that tests can kill, pause and restart. */
export interface Server {
  /** Of the running process; undefined when it doesn't run, or runs in a container. */
  readonly pid: number | undefined;
  /** Holds its data; undefined in a container. */
  readonly folder: string | undefined;
  /** Kills the server and removes its data. */
  stop(): Promise<void>;
  /** SIGKILL. Its data stay for a restart. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** On the same ports and data, until it answers; a server that runs is asked to end first. */
  restart(): Promise<void>;
  /** Returns the last lines of its output. */
  logTail(): Promise<string>;
}

/** How long a service may take to start, the download of its image included. */
export const startTimeoutMs = 200_000;
/** Lines of a service's log that an error shows. */
export const logTailLines = 60;

/** Resolves when the server answers. Rejects when it has ended before, or takes too long. */
export async function answering(
  { software, ping }: Program,
  hasEnded: () => Promise<boolean> | boolean,
): Promise<void> {
  let reason: unknown;
  const answers = () =>
    ping().then(
      () => true,
      (error) => {
        reason = error;
        return false;
      },
    );
  const describe = () => `${software.name} answers (${reason})`;
  const outcome = await until(async () => ((await hasEnded()) ? 'ended' : await answers()), {
    timeoutMs: startTimeoutMs,
    describe,
  });
  if (outcome === 'ended') throw new Error(`${software.name} ended before it answered`);
}

/** Combines several servers into one. */
export function together(servers: readonly Server[]): Server {
  const all = (action: (server: Server) => Promise<void>) => async () => void (await Promise.all(servers.map(action)));
  return {
    get pid() {
      return servers[0]?.pid;
    },
    get folder() {
      return servers.length === 1 ? servers[0]!.folder : undefined;
    },
    stop: all((server) => server.stop()),
    kill: all((server) => server.kill()),
    pause: all((server) => server.pause()),
    resume: all((server) => server.resume()),
    restart: all((server) => server.restart()),
    logTail: async () => (await Promise.all(servers.map((server) => server.logTail()))).join('\n'),
  };
}
