import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Creates the folder and those above it. Node's own `recursive` never ends where mkdir answers ENOENT, as in /proc. */
export function createFolder(folder: string): void {
  const path = resolve(folder);
  if (existsSync(path)) {
    // Refuses a file.
    mkdirSync(path, { recursive: true });
    return;
  }
  createFolder(dirname(path));
  mkdirSync(path);
}
