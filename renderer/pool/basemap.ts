/**
 * The default basemap of a node: baked beside it, in a process of its own at a low priority, before the first map asks
 * for it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { ApiError } from '../../schemas/errors.js';
import { findDefaultBasemap } from '../basemap/bake.js';
import { withoutSecrets } from './child.js';

export interface BasemapOptions {
  /** The compiled file that the process runs. */
  readonly module: URL;
  readonly folder: string;
  /** How long a map waits for it. */
  readonly timeoutMs: number;
  /** Told why it could not be baked. */
  readonly onProblem: (reason: string) => void;
}

export interface Basemap {
  /** Begins to bake unless it is there. */
  prepare(): void;
  /**
   * Resolves when it is there. Rejects with ApiError `unavailable` when it can't be baked or takes too long; another
   * try begins with the next call.
   */
  ready(): Promise<void>;
  /** Resolves when nothing is being baked any more. What is unfinished is given up. */
  close(): Promise<void>;
}

const retryAfterS = 5;

export function createBasemap({ module, folder, timeoutMs, onProblem }: BasemapOptions): Basemap {
  let isThere = false;
  let isClosed = false;
  let baking: Promise<void> | undefined;
  let child: ChildProcess | undefined;

  async function bake(): Promise<void> {
    if ((await findDefaultBasemap(folder)) !== undefined) return;
    if (isClosed) throw new ApiError('unavailable', 'the node stops');
    child = fork(module, [folder], { env: withoutSecrets(process.env), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const how = await new Promise<string>((resolve) => {
      child?.once('exit', (code, signal) => resolve(code === 0 ? '' : (signal ?? `status ${code}`)));
      child?.once('error', ({ message }) => resolve(message));
    });
    child = undefined;
    if (how === '') return;
    if (!isClosed) onProblem(`the basemap could not be baked: its process ended (${how})`);
    throw new ApiError('unavailable', 'the basemap could not be baked; the log says why', { retryAfterS });
  }

  function begin(): Promise<void> {
    baking ??= bake()
      .then(() => {
        isThere = true;
      })
      .finally(() => {
        baking = undefined;
      });
    return baking;
  }

  return {
    prepare() {
      begin().catch(() => {});
    },
    async ready() {
      if (isThere) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        const message = 'the basemap is being baked, which takes some seconds once; ask again';
        timer = setTimeout(() => reject(new ApiError('unavailable', message, { retryAfterS })), timeoutMs);
      });
      await Promise.race([begin(), late]).finally(() => clearTimeout(timer));
    },
    async close() {
      isClosed = true;
      child?.kill('SIGKILL');
      await baking?.catch(() => {});
    },
  };
}
