/** The end of a command by a signal. */
import { constants } from 'node:os';

/** A signal ended the command. The exit status is 128 and its number, as a shell has it. */
export class Interruption extends Error {
  readonly status: number;

  constructor(name: NodeJS.Signals, consequence: string) {
    super(`interrupted; ${consequence}`);
    this.status = 128 + constants.signals[name];
  }
}
