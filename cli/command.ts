/** What every command of the command line is. */

export interface Command {
  /** Words and options, as in `project create NAME`. */
  readonly usage: string;
  readonly summary: string;
  run(args: string[]): Promise<void>;
}

/** A failure that is nobody's mistake in the program, as a port in use: told in one line, exit status 1. */
export class CommandFailure extends Error {}

/** The words of the call, or the configuration, are off: told in one line, exit status 2. */
export class UsageError extends Error {}
