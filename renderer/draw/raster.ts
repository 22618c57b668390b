/** Draws layers of type `raster`. */
import { type Canvas, createCanvas, type Image } from '@napi-rs/canvas';
import type { StyleLayer } from '../style/compile.js';
import { type Frame, type LoadedTile, tileArea } from './frame.js';
import { adjustColors, type ColorMatrix, colorMatrix } from './raster-color.js';

/** Draws each tile to the edges of whole device pixels, so that neighbours touch. */
export function paintRaster(frame: Frame, layer: StyleLayer, tiles: readonly LoadedTile[]): void {
  const { surface, view } = frame;
  const { context } = surface;
  const resampling = layer.property<string>('raster-resampling').at(view.zoom);
  const colors = colorMatrixOf(layer, view.zoom);
  context.save();
  context.resetTransform();
  context.globalAlpha = layer.property<number>('raster-opacity').at(view.zoom);
  context.imageSmoothingEnabled = resampling !== 'nearest';
  context.imageSmoothingQuality = 'medium';
  for (const { place, tile } of tiles) {
    if (tile.kind !== 'raster') continue;
    const left = Math.round(place.left * view.scale);
    const top = Math.round(place.top * view.scale);
    const right = Math.round((place.left + place.sizePx) * view.scale);
    const bottom = Math.round((place.top + place.sizePx) * view.scale);
    const { minX, maxX } = tileArea(frame, place);
    if (minX >= maxX) continue;
    const image = colors ? adjusted(tile.image, colors) : tile.image;
    context.drawImage(image, left, top, right - left, bottom - top);
  }
  context.restore();
}

function colorMatrixOf(layer: StyleLayer, zoom: number): ColorMatrix | null {
  const of = (name: string) => layer.property<number>(`raster-${name}`).at(zoom);
  return colorMatrix({
    hueRotate: of('hue-rotate'),
    saturation: of('saturation'),
    contrast: of('contrast'),
    brightnessMin: of('brightness-min'),
    brightnessMax: of('brightness-max'),
  });
}

/** Returns the tile in other colours, in its own size: tiles have fewer pixels than the part of the map they cover. */
function adjusted(image: Image, colors: ColorMatrix): Canvas {
  const { width, height } = image;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const bitmap = context.getImageData(0, 0, width, height);
  adjustColors(bitmap.data, colors);
  context.putImageData(bitmap, 0, 0);
  return canvas;
}
