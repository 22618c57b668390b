/** Continues the map beyond the poles. */
import { worldPixel, worldSizePx } from '../view/projection.js';
import type { Frame } from './frame.js';

/** Rows at the edge of the world that lines and outlines may blur, in device pixels. */
const blurredRows = 2;

/**
 * Repeats the map's first row above the world's edge, and its last row below. Web Mercator ends at latitude ±85.05°,
 * where Antarctica would end in a straight edge. Does nothing while the view is inside the world.
 */
export function continueBeyondPoles({ surface, view }: Frame): void {
  const [, centerY] = worldPixel(view.center, view.zoom);
  const top = Math.round((view.height / 2 - centerY) * view.scale);
  const bottom = Math.round((view.height / 2 - centerY + worldSizePx(view.zoom)) * view.scale);
  const repeatRow = (row: number, from: number, to: number): void => {
    if (to <= from || row < 0 || row >= surface.height) return;
    const { pixels, width } = surface;
    const end = Math.min(to, surface.height);
    for (let y = Math.max(0, from); y < end; y++) pixels.copyWithin(y * width, row * width, (row + 1) * width);
  };
  repeatRow(top + blurredRows, 0, top + blurredRows);
  repeatRow(bottom - blurredRows - 1, bottom - blurredRows, surface.height);
}
