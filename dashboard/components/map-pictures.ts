/** Takes pictures of a map, to show them when it is opened again. */
import type { Map as MapLibreMap } from 'maplibre-gl';
import { createGpuFence } from './gpu-fence';

/** The map is there for the user first. */
const firstAfterMs = 5_000;
/** A map that is moved again and again is pictured now and then. */
const pauseMs = 10_000;
const askEveryMs = 50;
const widthPx = 640;
const quality = 0.6;
/** Larger pictures are not kept: browsers store a few megabytes. */
const maxCharacters = 200_000;

/** @param keep gets a small picture as a URL of data while the map does not move. */
function takePictures(map: MapLibreMap, keep: (url: string) => void): void {
  let dueMs = performance.now() + firstAfterMs;
  let timer = setTimeout(() => map.triggerRepaint(), firstAfterMs);
  // The frame can be read in the event only, and is sent to the screen after it.
  map.on('idle', () => {
    const waitMs = dueMs - performance.now();
    clearTimeout(timer);
    if (waitMs > 0) {
      timer = setTimeout(() => map.triggerRepaint(), waitMs);
      return;
    }
    dueMs = performance.now() + pauseMs;
    void pictureOf(map.getCanvas()).then(
      (url) => url.length <= maxCharacters && keep(url),
      () => {},
    );
  });
  map.on('remove', () => clearTimeout(timer));
}

/** Calls back when the map is drawn, or when the user does not wait for it. */
function whenDrawn(map: MapLibreMap, done: () => void): void {
  void map.once('idle', done);
  map.on('movestart', ({ originalEvent }) => originalEvent && done());
}

/** Reads the frame when it is drawn. To ask for its pixels at once would stop the page until then. */
async function readFrame(gl: WebGL2RenderingContext): Promise<ImageData> {
  const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
  const pixels = new Uint8ClampedArray(4 * width * height);
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
  gl.bufferData(gl.PIXEL_PACK_BUFFER, pixels.length, gl.STREAM_READ);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, 0);
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
  const reading = createGpuFence(gl);
  do {
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    if (gl.isContextLost()) throw new Error('the map is gone');
  } while (!reading.isPassed());
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
  gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, pixels);
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
  gl.deleteBuffer(buffer);
  reading.remove();
  return new ImageData(pixels, width, height);
}

async function pictureOf(canvas: HTMLCanvasElement): Promise<string> {
  const size = { width: widthPx, height: Math.round((widthPx * canvas.height) / canvas.width) };
  const frame = await createImageBitmap(await readFrame(canvas.getContext('webgl2')!), {
    resizeWidth: size.width,
    resizeHeight: size.height,
    // WebGL begins at the bottom.
    imageOrientation: 'flipY',
  });
  const small = new OffscreenCanvas(size.width, size.height);
  small.getContext('bitmaprenderer')!.transferFromImageBitmap(frame);
  const blob = await small.convertToBlob({ type: 'image/webp', quality });
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

export const mapPictures = { takePictures, whenDrawn };
export type MapPictures = typeof mapPictures;
