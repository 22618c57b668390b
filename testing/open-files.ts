/** Which files a process has open. On Linux only. */
import { readdirSync, readlinkSync } from 'node:fs';

/** Returns the paths of the files that a process has open, by default this one. Removed ones end with ` (deleted)`. */
export function openFiles(process: number | 'self' = 'self'): string[] {
  const folder = `/proc/${process}/fd`;
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return [readlinkSync(`${folder}/${descriptor}`)];
    } catch {
      // Closed meanwhile, as that of the listing itself.
      return [];
    }
  });
}
