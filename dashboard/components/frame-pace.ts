/** Draws no frame of a map while the last one is not done, and fewer pixels while the map moves, if frames are slow. */
import type { Map as MapLibreMap } from 'maplibre-gl';
import { createGpuFence, type GpuFence } from './gpu-fence';
import { linkBesidePage } from './shader-links';

/** A slow frame takes longer, from its commands to its last pixel. */
const slowFrameMs = 50;
const askEveryMs = 10;
/** A map that moves in steps, as by a wheel, stays coarse between them. */
const sharpAfterMs = 200;

/** What a page asks of the frames of its map. */
export interface Frames {
  /** Draws one more frame, and none after it until the release. The map is not idle meanwhile. */
  hold(): void;
  release(): void;
}

/**
 * Lets a map draw a frame only when the last one is done. Without it, the commands of frames queue up, and the page
 * stands still until one of them is answered. A page that waits by itself can be used meanwhile. Maps are assumed to be
 * slow until a frame is not.
 */
export function paceFrames(map: MapLibreMap): Frames {
  const gl = map.getCanvas().getContext('webgl2')!;
  const repaint = map.triggerRepaint.bind(map);
  let links = linkBesidePage(map);
  map.on('webglcontextrestored', () => {
    links = linkBesidePage(map);
  });
  let isSlow = true;
  let isIncomplete = false;
  let isHeld = false;
  let frame: GpuFence | undefined;
  let startedMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function forget(): void {
    frame?.remove();
    frame = undefined;
  }
  /** Tests whether the last frame is done. A context that is lost has no frame. */
  function isDone(): boolean {
    if (frame === undefined || gl!.isContextLost()) return true;
    if (!frame.isPassed()) return false;
    isSlow = performance.now() - startedMs > slowFrameMs;
    forget();
    return true;
  }
  function repaintWhenDone(): void {
    timer = undefined;
    if (isHeld) return;
    const isFrameDone = isDone();
    if (isFrameDone) links.takeLinked();
    if (isFrameDone && !links.areWaiting()) repaint();
    else timer = setTimeout(repaintWhenDone, askEveryMs);
  }
  // MapLibre asks for all its frames by this method.
  map.triggerRepaint = () => {
    if (isHeld) return;
    if (!isSlow && !isIncomplete) repaint();
    else if (timer === undefined) repaintWhenDone();
  };
  map.on('render', () => {
    isIncomplete = links.areWaiting();
    // A map that lacks layers is not idle. The property without the underscore would draw one frame more.
    map._repaint = isIncomplete || isHeld;
    // A frame that is not done at the next one, although it had the time, was slow.
    if (!isDone()) {
      isSlow ||= performance.now() - startedMs > slowFrameMs;
      forget();
    }
    frame = createGpuFence(gl);
    startedMs = performance.now();
  });

  // A slow frame takes as long as its pixels are many. A quarter of them gives three times the frames.
  let isCoarse = false;
  let change: ReturnType<typeof setTimeout> | undefined;
  function changeIn(delayMs: number, next: boolean): void {
    clearTimeout(change);
    change = setTimeout(() => {
      if (map.isMoving() !== next || isCoarse === next) return;
      isCoarse = next;
      const { stop } = map;
      // MapLibre would end the gesture that moves the map.
      map.stop = () => map;
      map.setPixelRatio(next ? devicePixelRatio / 2 : devicePixelRatio);
      map.stop = stop;
      // A canvas of another size is empty until it is drawn.
      map.redraw();
    }, delayMs);
  }
  map.on('render', () => {
    if (isSlow && !isCoarse && map.isMoving()) changeIn(0, true);
  });
  map.on('moveend', () => {
    if (isCoarse) changeIn(sharpAfterMs, false);
  });
  map.on('remove', () => {
    clearTimeout(timer);
    clearTimeout(change);
  });
  return {
    hold() {
      isHeld = true;
      repaint();
    },
    release() {
      isHeld = false;
      map.triggerRepaint();
    },
  };
}
