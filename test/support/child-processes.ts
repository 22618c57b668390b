/** Looks for the child processes of a server in /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the ids of a process's children whose command line contains a text. */
export function childProcesses(parent: number | undefined, commandPart: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parentOfPid = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
        return parentOfPid === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(commandPart);
      } catch {
        // The process has ended.
        return false;
      }
    });
}
