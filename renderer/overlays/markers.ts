/** Draws markers: pins and icons at their positions. Returns the boxes that labels must not overlap. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { MarkerGroup, PixelBox, Viewport } from '../types.js';
import type { Margins } from '../view/fit.js';
import { imagePixel, type Pixel } from '../view/projection.js';
import type { Icon } from './icons.js';
import { drawPin, pinSizePx, shareOf } from './pin.js';

/** Decoded icons by the names that the request uses. A group without its icon gets the pin. */
export type Icons = ReadonlyMap<string, Icon>;

/** Icons stand on their position like pins. */
function sizeOf(group: MarkerGroup, icons: Icons): { width: number; height: number } {
  const { width, height } = icons.get(group.icon ?? '') ?? pinSizePx;
  const share = shareOf(group);
  return { width: width * share, height: height * share };
}

/** Returns how far a marker reaches beyond its position. */
export function markerMargins(group: MarkerGroup, icons: Icons): Margins {
  const { width, height } = sizeOf(group, icons);
  return { left: width / 2, right: width / 2, top: height, bottom: 0 };
}

interface PlacedMarker {
  readonly group: MarkerGroup;
  readonly place: Pixel;
}

/** Sorts from north to south, so that nearer pins cover farther ones. */
const placed = (view: Viewport, groups: readonly MarkerGroup[]): PlacedMarker[] =>
  groups
    .flatMap((group) => group.locations.map((location) => ({ group, place: imagePixel(view, location) })))
    .sort((a, b) => a.place[1] - b.place[1]);

export function markerBoxes(view: Viewport, groups: readonly MarkerGroup[], icons: Icons): PixelBox[] {
  return placed(view, groups).map(({ group, place: [x, y] }) => {
    const { width, height } = sizeOf(group, icons);
    return { minX: x - width / 2, minY: y - height, maxX: x + width / 2, maxY: y };
  });
}

/** Draws the markers. The context's unit is the CSS pixel. */
export function drawMarkers(
  context: SKRSContext2D,
  view: Viewport,
  groups: readonly MarkerGroup[],
  icons: Icons,
): void {
  for (const { group, place } of placed(view, groups)) {
    const icon = icons.get(group.icon ?? '');
    const [x, y] = place;
    if (icon === undefined) {
      drawPin(context, x, y, group.color, shareOf(group));
      continue;
    }
    const { width, height } = sizeOf(group, icons);
    context.drawImage(icon.image, x - width / 2, y - height, width, height);
  }
}
