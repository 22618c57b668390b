/**
 * What is drawn over the map: geofences and paths below its labels, markers and attribution above them.
 *
 * Flows in: the parts of a request that are not the map itself, icons decoded beforehand. Flows out: what the view must
 * show, the room that labels leave, and the drawing. Imports `view/` and the fonts.
 */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import type { Frame } from '../draw/frame.js';
import type { MapRequest, Viewport } from '../types.js';
import type { FitItem } from '../view/fit.js';
import { attributionBox, drawAttribution } from './attribution.js';
import { drawFences, fenceItem } from './fences.js';
import { drawMarkers, type Icons, markerBoxes, markerMargins } from './markers.js';
import { drawPaths, pathMargins } from './paths.js';

type OverlayRequest = Pick<MapRequest, 'markers' | 'paths' | 'fences'>;

/** What a view must show that isn't told where to stand. */
export const fitItems = ({ markers, paths, fences }: OverlayRequest, icons: Icons): FitItem[] => [
  ...markers.flatMap((group) =>
    group.locations.map((location) => ({ positions: [location], margins: markerMargins(group, icons) })),
  ),
  ...paths.map((path) => ({ positions: path.locations, margins: pathMargins(path) })),
  ...fences.map(fenceItem),
];

/** Texts are measured on it before there is a frame. */
const ruler = createCanvas(1, 1).getContext('2d');

/** How much of the image's lower end the attribution takes, in CSS pixels. */
export function attributionPx(size: Pick<Viewport, 'width' | 'height'>, attribution: string): number {
  return size.height - (attributionBox(ruler, size, attribution)?.minY ?? size.height);
}

/** `attribution` is plain text; empty for none. `isDark` says what kind of map it is written on. */
export function createOverlays(
  view: Viewport,
  { markers, paths, fences }: OverlayRequest,
  icons: Icons,
  attribution: string,
  isDark = false,
) {
  const strip = attributionBox(ruler, view, attribution);
  return {
    boxes: [...markerBoxes(view, markers, icons), ...(strip ? [strip] : [])],
    paintBelow({ context }: Frame): void {
      inCssPixels(context, view, () => {
        drawFences(context, view, fences);
        drawPaths(context, view, paths);
      });
    },
    paintAbove({ context }: Frame): void {
      inCssPixels(context, view, () => {
        drawMarkers(context, view, markers, icons);
        drawAttribution(context, view, attribution, isDark);
      });
    },
  };
}

function inCssPixels(context: SKRSContext2D, { scale }: Viewport, draw: () => void): void {
  context.save();
  context.setTransform(scale, 0, 0, scale, 0, 0);
  draw();
  context.restore();
}
