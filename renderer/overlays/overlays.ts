/**
 * Paints the overlays of a map: geofences and paths below its labels, markers and attribution above them.
 *
 * Input: the overlays of a request, with decoded icons. Output: items that the view must show, boxes that labels must
 * not overlap, and the painting. Imports `view/`, `raster/`, the fonts, and of `draw/` what does not depend on tiles.
 */
import type { Surface } from '../draw/surface.js';
import type { MapRequest, PixelBox, Viewport } from '../types.js';
import type { FitItem } from '../view/fit.js';
import { attributionBox, paintAttribution } from './attribution.js';
import { fenceItem, fenceShape, paintFences } from './fences.js';
import { type Icons, markerBoxes, markerMargins, paintMarkers } from './markers.js';
import { paintPaths, pathMargins, pathShape } from './paths.js';

type OverlayRequest = Pick<MapRequest, 'markers' | 'paths' | 'fences'>;

/** Returns the items that a view is fitted to when the request has no camera. */
export const fitItems = ({ markers, paths, fences }: OverlayRequest, icons: Icons): FitItem[] => [
  ...markers.flatMap((group) =>
    group.locations.map((location) => ({ positions: [location], margins: markerMargins(group, icons) })),
  ),
  ...paths.map((path) => ({ positions: path.locations, margins: pathMargins(path) })),
  ...fences.map(fenceItem),
];

/** Returns the height of the attribution at the image's lower edge, in CSS pixels. */
export function attributionPx(size: Pick<Viewport, 'width' | 'height'>, attribution: string): number {
  return size.height - (attributionBox(size, attribution)?.minY ?? size.height);
}

/**
 * Creates the overlays of a map. `attribution` is plain text, possibly empty. `isDark` says whether the map is dark.
 */
export function createOverlays(
  view: Viewport,
  { markers, paths, fences }: OverlayRequest,
  icons: Icons,
  attribution: string,
  isDark = false,
) {
  const strip = attributionBox(view, attribution);
  const areas = fences.map((fence) => fenceShape(view, fence));
  const lines = paths.map((path) => pathShape(view, path));
  const shared = strip ? [strip] : [];
  const boxes = [...markerBoxes(view, markers, icons), ...shared];
  return {
    below: [...areas, ...lines].map(({ box }) => box),
    boxes,
    shared,
    above: boxes.map(withShadow),
    paintBelow(surface: Surface): void {
      paintFences(surface, view.scale, areas);
      paintPaths(surface, view.scale, lines);
    },
    paintAbove(surface: Surface): void {
      paintMarkers(surface, view, markers, icons);
      paintAttribution(surface, view, attribution, isDark);
    },
  };
}

/** The shadow and the smoothed edges of a marker reach so far beyond its box. CSS pixels. */
const shadowPx = 4;

const withShadow = ({ minX, minY, maxX, maxY }: PixelBox): PixelBox => ({
  minX: minX - shadowPx,
  minY: minY - shadowPx,
  maxX: maxX + shadowPx,
  maxY: maxY + shadowPx,
});
