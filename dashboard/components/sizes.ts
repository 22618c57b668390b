/** Sizes in words. */

const units = ['bytes', 'KiB', 'MiB', 'GiB'];

/** Returns a size with three digits at most, in the binary units of limits and settings, such as "3.4 MiB". */
export function sizeText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = bytes / 1_024 ** power;
  const decimals = size < 10 ? 2 : size < 100 ? 1 : 0;
  return `${size.toLocaleString('en', { maximumFractionDigits: decimals })} ${units[power]}`;
}
