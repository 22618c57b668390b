/** Marker images, as they are drawn. */
import { type Image, loadImage } from '@napi-rs/canvas';
import type { RasterIcon } from '../icons/rasterize.js';
import type { MarkerGroup } from '../types.js';

export interface Icon {
  readonly image: Image;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

export interface LoadedIcons {
  /** By what the request calls them. */
  readonly icons: ReadonlyMap<string, Icon>;
  /** How many that the markers ask for are not there. */
  readonly missing: number;
}

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
