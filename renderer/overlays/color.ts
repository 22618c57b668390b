import type { Color } from '../types.js';

/** Returns a CSS colour. */
export const cssColor = ([red, green, blue, alpha]: Color): string => `rgba(${red}, ${green}, ${blue}, ${alpha})`;
