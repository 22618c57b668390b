/**
 * The types of a command: its description, and its implementation, which is loaded when it is called.
 */

/** An option of a command, as Node's `parseArgs` and help need it. */
export interface OptionDescription {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** Placeholder of the value in the help text, for example FILE. */
  readonly value?: string;
  readonly help: string;
  /** First word of the only form of the command that takes it. Default: all forms. */
  readonly form?: string;
}

/** The options of a command by name, without the dashes. */
export type Options = Readonly<Record<string, OptionDescription>>;

/** What help, error messages and `docs/commands.md` say about a command. */
export interface CommandDescription<Known extends Options = Options> {
  /** One-line sentence for the list of commands. */
  readonly summary: string;
  /** The forms of the command without `fenceline` and without options, for example `project create NAME`. */
  readonly usage: readonly string[];
  readonly options: Known;
  /** Words other than options are allowed. The implementation checks them. */
  readonly takesArguments?: true;
  readonly examples: readonly { readonly line: string; readonly explanation: string }[];
}

/** The given options: `true` for a boolean one, the text of any other. */
export type Values<Known extends Options> = {
  readonly [Name in keyof Known]?: (Known[Name]['type'] extends 'boolean' ? boolean : string) | undefined;
};

/** Exported by each file in `commands/` under the name `run`. */
export type Run<Known extends Options> = (values: Values<Known>, words: readonly string[]) => Promise<void>;

/** The command failed for a reason outside of its words, such as a port in use or a missing file. Exit status 1. */
export class CommandFailure extends Error {}

/** A word, an option or the configuration is invalid, by the rules of the command or of the server. Exit status 2. */
export class UsageError extends Error {}
