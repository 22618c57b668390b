/** Bakes the default basemap of a node in a separate process with low priority, before the first map needs it. */
import { type ChildProcess, fork } from 'node:child_process';
import { ApiError } from '../../schemas/errors.js';
import { endOfProcess, withoutSettings } from '../../schemas/helper-process.js';
import { findDefaultBasemap } from '../basemap/recipe.js';

interface BasemapOptions {
  /** The compiled file that the process runs. */
  readonly module: URL;
  readonly folder: string;
  /** Time that a map waits for the basemap. */
  readonly timeoutMs: number;
  /** Receives the reason when baking fails. */
  readonly onProblem: (reason: string) => void;
}

interface Basemap {
  /** Starts baking if the basemap is missing. */
  prepare(): void;
  /**
   * Resolves when the basemap exists. Rejects with ApiError `unavailable` when baking fails or takes too long. The next
   * call tries again.
   */
  ready(): Promise<void>;
  /** Stops baking, and resolves when it has stopped. */
  close(): Promise<void>;
}

const retryAfterS = 5;
/** With young generations of V8's usual size, baking takes 300 MB more. */
const nodeOptions = ['--max-semi-space-size=8'];

/** Creates the baking of a node. The caller closes it, which ends the process that bakes. */
export function createBasemap({ module, folder, timeoutMs, onProblem }: BasemapOptions): Basemap {
  let isBaked = false;
  let isClosed = false;
  let baking: Promise<void> | undefined;
  let child: ChildProcess | undefined;

  async function bake(): Promise<void> {
    if ((await findDefaultBasemap(folder)) !== undefined) return;
    if (isClosed) throw new ApiError('unavailable', 'the node is stopping');
    child = fork(module, [folder], {
      execArgv: nodeOptions,
      env: withoutSettings(process.env),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const problem = await new Promise<string>((resolve) => {
      child?.once('message', (reason) => resolve(`${reason}`));
      child?.once('exit', (code, signal) =>
        resolve(code === 0 ? '' : `its process ended (${endOfProcess(code, signal)})`),
      );
      child?.once('error', ({ message }) => resolve(message));
    });
    child = undefined;
    if (problem === '') return;
    if (!isClosed) onProblem(`the basemap could not be baked into ${folder}: ${problem}`);
    throw new ApiError('unavailable', 'the basemap could not be baked; see the log', { retryAfterS });
  }

  function begin(): Promise<void> {
    baking ??= bake()
      .then(() => {
        isBaked = true;
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
      if (isBaked) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        const message = 'the basemap is being baked; retry in a few seconds';
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
