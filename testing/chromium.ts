/**
 * The headless Chromium of the system.
 *
 * Its shell without a window takes half the processor time of the whole browser, which also starts what its window
 * would need.
 */
import { existsSync } from 'node:fs';

const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** The program, which `CHROMIUM_PATH` can name. */
export const chromiumPath = process.env.CHROMIUM_PATH ?? installed.find(existsSync) ?? installed[0]!;

/** The reason why no browser can run here, or undefined. */
export const missingBrowser: string | undefined = existsSync(chromiumPath)
  ? undefined
  : `no browser at ${chromiumPath}: run "apt-get install chromium-headless-shell", or set CHROMIUM_PATH`;

/** Flags with which pages have WebGL, drawn by the processor as on servers. */
export const softwareGraphics = [
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
];
