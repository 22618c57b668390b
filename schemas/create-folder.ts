import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates the folder and those above it, with this mode where they are missing. Throws for a file, and where the system
 * refuses. Node's own `recursive` never ends where mkdir answers ENOENT, as in /proc.
 */
export function createFolder(folder: string, mode = 0o777): void {
  const path = resolve(folder);
  if (!existsSync(path)) {
    createFolder(dirname(path), mode);
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another process may have created it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  // Refuses a file.
  mkdirSync(path, { recursive: true });
}
