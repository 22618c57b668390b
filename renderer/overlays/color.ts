import type { Color } from '../types.js';

/** As CSS writes it. */
export const cssColor = ([red, green, blue, alpha]: Color): string => `rgba(${red}, ${green}, ${blue}, ${alpha})`;
