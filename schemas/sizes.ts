/** Sizes in words. */

const units = ['GiB', 'MiB', 'KiB'] as const;

/** Returns a limit exactly, in the largest binary unit that needs no fraction: `2 GiB`, `256 KiB`, `900000 bytes`. */
export function limitText(bytes: number): string {
  for (const [index, unit] of units.entries()) {
    const size = bytes / 1_024 ** (units.length - index);
    if (size >= 1 && Number.isInteger(size)) return `${size} ${unit}`;
  }
  return `${bytes} bytes`;
}
