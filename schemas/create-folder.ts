import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates the folder and those above it, with this mode where they are missing. Returns those that it created, the
 * innermost first. Throws for a file, and where the system refuses. Node's own `recursive` never ends where mkdir
 * answers ENOENT, as in /proc.
 */
export function createFolder(folder: string, mode = 0o777): string[] {
  const path = resolve(folder);
  const created: string[] = [];
  if (!existsSync(path)) {
    created.push(...createFolder(dirname(path), mode));
    try {
      mkdirSync(path, { mode });
      created.unshift(path);
    } catch (error) {
      // Another process may have created it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  // Refuses a file.
  mkdirSync(path, { recursive: true });
  return created;
}
