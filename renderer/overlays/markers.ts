/** Paints markers: pins and icons at their positions. Returns the boxes that labels must not overlap. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import { paintStamp, type Stamp, stampOf } from '../draw/stamp.js';
import type { Surface } from '../draw/surface.js';
import type { MarkerGroup, PixelBox, Viewport } from '../types.js';
import type { Margins } from '../view/fit.js';
import { imagePixel, type Pixel } from '../view/projection.js';
import type { Icon } from './icons.js';
import { paintPin, pinSizePx, shareOf } from './pin.js';

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

/** Returns the box of each marker in CSS pixels of the image. */
export function markerBoxes(view: Viewport, groups: readonly MarkerGroup[], icons: Icons): PixelBox[] {
  return placed(view, groups).map(({ group, place: [x, y] }) => {
    const { width, height } = sizeOf(group, icons);
    return { minX: x - width / 2, minY: y - height, maxX: x + width / 2, maxY: y };
  });
}

/** Paints the markers. Their positions are rounded to whole device pixels, which keeps icons sharp. */
export function paintMarkers(surface: Surface, view: Viewport, groups: readonly MarkerGroup[], icons: Icons): void {
  const { scale } = view;
  const stamps = new Map<MarkerGroup, Stamp>();
  for (const { group, place } of placed(view, groups)) {
    const [x, y] = [place[0] * scale, place[1] * scale];
    const icon = icons.get(group.icon ?? '');
    if (icon === undefined) {
      paintPin(surface, x, y, group.color, scale * shareOf(group));
      continue;
    }
    const size = sizeOf(group, icons);
    const [width, height] = [size.width * scale, size.height * scale];
    let stamp = stamps.get(group);
    if (!stamp) {
      const draw = (context: SKRSContext2D) => context.drawImage(icon.image, 0, 0, width, height);
      stamp = stampOf(Math.ceil(width), Math.ceil(height), draw);
      stamps.set(group, stamp);
    }
    paintStamp(surface, stamp, Math.round(x - width / 2), Math.round(y - height));
  }
}
