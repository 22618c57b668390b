/** Parses colours of requests: `0xRRGGBB`, `0xRRGGBBAA`, or a CSS name (CSS Color Module Level 4, 6.1). */
import names from 'color-name';
import type { Color } from '../types.js';

/** Returns the rule of {@link parseColor}, for the option of this name. */
export const colorRule = (option: string): string =>
  `option ${option} must be 0xRRGGBB, 0xRRGGBBAA or the name of a CSS color`;

const hexadecimal = /^0x([0-9a-f]{6})([0-9a-f]{2})?$/i;

/** Returns undefined for other texts. */
export function parseColor(text: string): Color | undefined {
  const [, color, alpha] = hexadecimal.exec(text) ?? [];
  if (color !== undefined) {
    const value = Number.parseInt(color, 16);
    return [value >> 16, (value >> 8) & 255, value & 255, alpha === undefined ? 1 : Number.parseInt(alpha, 16) / 255];
  }
  const name = text.toLowerCase();
  if (name === 'transparent') return [0, 0, 0, 0];
  if (!Object.hasOwn(names, name)) return undefined;
  const [red, green, blue] = names[name as keyof typeof names];
  return [red, green, blue, 1];
}
