/** The palette of each built-in style. */
import type { BuiltInStyle } from '../names.js';
import type { Palette } from '../palette.js';
import { darkPalette } from './dark.js';
import { defaultPalette } from './default.js';
import { lightPalette } from './light.js';

/** The colours of each style. */
export const palettes: Readonly<Record<BuiltInStyle, Palette>> = {
  'svc-default-v1': defaultPalette,
  'svc-light-v1': lightPalette,
  'svc-dark-v1': darkPalette,
};
