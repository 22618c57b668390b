/** What every command of the command line is. */

export interface Command {
  /** Words and options, as in `project create NAME`. */
  readonly usage: string;
  readonly summary: string;
  run(args: string[]): Promise<void>;
}

/** The words of the call are off: told with the usage, exit status 2. */
export class UsageError extends Error {}
