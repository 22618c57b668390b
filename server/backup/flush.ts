/** Writes files to disk, so that a power cut after success undoes nothing. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a file, or the names in a folder, to disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes everything in a folder to disk. */
export async function flushAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile() || entry.isDirectory()) await flush(join(entry.parentPath, entry.name));
  }
  await flush(folder);
}
