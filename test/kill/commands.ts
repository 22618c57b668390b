/** Runs commands that read the folder of a server, again and again, while it works and is killed. */
import { runCommand } from '../support/program.js';
import type { TestServer } from '../support/server.js';

/** Each opens the files of LMDB in another way. `doctor` also warns of what concerns the machine. */
const commands = [
  ['doctor', '--read-data'],
  ['replay', '--environment', 'test', '--format', 'summary'],
  ['repair', 'positions'],
];
/** What no command may say of a folder, however its server ended. */
const damage = /can't be read to its end|damaged|do not match|halted/;

/** Returns how many commands ran. Rejects when one finds damage or ends by a signal. */
export async function runCommands({ dataFolder }: TestServer, isOver: () => boolean): Promise<number> {
  let count = 0;
  for (; !isOver(); count++) {
    const words = [...commands[count % commands.length]!, '--data', dataFolder];
    const { code, signal, output } = await runCommand(words);
    if (signal !== null || damage.test(output.replace('0 do not match', '')))
      throw new Error(`fenceline ${words.join(' ')} ended with ${signal ?? code}:\n${output}`);
  }
  return count;
}
