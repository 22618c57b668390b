/** Prepares marker images for drawing. */
import { type Image, loadImage } from '@napi-rs/canvas';
import type { RasterIcon } from '../icons/rasterize.js';
import type { MarkerGroup } from '../types.js';

/** A marker image that is ready to be drawn. */
export interface Icon {
  readonly image: Image;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

interface LoadedIcons {
  /** Images by the names that the request uses. */
  readonly icons: ReadonlyMap<string, Icon>;
  /** Number of icons that markers name but that are missing. */
  readonly missing: number;
}

/** Loads the given icons of the markers. Counts those that are not given, which are drawn as pins. */
export async function loadIcons(
  markers: readonly MarkerGroup[],
  given: ReadonlyMap<string, RasterIcon>,
): Promise<LoadedIcons> {
  const names = [...new Set(markers.map(({ icon }) => icon))].filter((name) => name !== null);
  const icons = new Map<string, Icon>();
  for (const name of names) {
    const icon = given.get(name);
    if (icon) icons.set(name, { image: await loadImage(icon.png), width: icon.width, height: icon.height });
  }
  return { icons, missing: names.length - icons.size };
}
