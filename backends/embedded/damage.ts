/** Errors of content that LMDB stores but that cannot be read. */

/** The code of an error of a stored block that can't be read. Errors keep their code across threads. */
export const damagedBlock = 'DAMAGED_BLOCK';

/** Reads stored content of a folder. LMDB has no checksums, so an error means that the disk has changed it. */
export function readNamed<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw Object.assign(new Error(`${path}: a stored block is damaged (${message})`, { cause: error }), {
      code: damagedBlock,
      path,
    });
  }
}
