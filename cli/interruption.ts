/** The end of a command by a signal. */
import { constants } from 'node:os';

/** Returns the exit status of a process that the signal ended: 128 and its number, as a shell has it. */
export const statusOf = (name: NodeJS.Signals): number => 128 + constants.signals[name];

/** A signal ended the command. */
export class Interruption extends Error {
  readonly status: number;

  constructor(name: NodeJS.Signals, consequence: string) {
    super(`interrupted; ${consequence}`);
    this.status = statusOf(name);
  }
}
