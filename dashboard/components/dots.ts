/** Points that move, on a canvas of their own above a map: the map is not drawn again when they do. */
import type { Map as MapLibreMap } from 'maplibre-gl';

/** A point that is drawn above a map. */
export interface Dot {
  readonly id: string;
  readonly position: readonly [longitude: number, latitude: number];
  readonly colour: string;
  readonly isChosen: boolean;
}

interface Dots {
  set(dots: readonly Dot[]): void;
  /** Returns the id of the dot that is drawn nearest to a point of the map, if one is within reach. */
  at(point: { readonly x: number; readonly y: number }, reachPx: number): string | undefined;
}

/** More pixels are not seen on a dot. */
const maxPixelRatio = 2;
const strokeWidthPx = 1.5;
const wholeCircle = 2 * Math.PI;
/** Dots grow from the first zoom to the last. */
const zooms = { first: 2, last: 13 };
const radiusPx = { first: { plain: 2.5, chosen: 5 }, last: 6 };

/** Returns the radius in pixels at a zoom. */
function dotRadiusPx(zoom: number, isChosen: boolean): number {
  const share = Math.min(1, Math.max(0, (zoom - zooms.first) / (zooms.last - zooms.first)));
  const first = isChosen ? radiusPx.first.chosen : radiusPx.first.plain;
  return first + (radiusPx.last - first) * share;
}

const sizeOf = ({ clientWidth, clientHeight }: HTMLElement) => [clientWidth, clientHeight] as const;

/**
 * Creates the dots above a map.
 * @param halo returns the colour around each dot.
 */
export function createDots(map: MapLibreMap, halo: () => string): Dots {
  const canvas = document.createElement('canvas');
  canvas.className = 'map-dots';
  map.getCanvasContainer().append(canvas);
  const context = canvas.getContext('2d')!;
  let dots: readonly Dot[] = [];
  let drawn: readonly (Omit<Dot, 'position'> & { readonly x: number; readonly y: number })[] = [];

  /** In CSS pixels. To read it in each frame would lay out the page again. */
  let size = sizeOf(map.getContainer());
  map.on('resize', () => {
    size = sizeOf(map.getContainer());
  });
  /** Where the map was when the dots were drawn. */
  let view = '';
  const viewNow = (): string => {
    const { lng, lat } = map.getCenter();
    return [lng, lat, map.getZoom(), map.getBearing(), map.getPitch(), ...size].join(' ');
  };

  function fitCanvas(): number {
    const ratio = Math.min(maxPixelRatio, devicePixelRatio);
    const [clientWidth, clientHeight] = size;
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, { width, height });
      Object.assign(canvas.style, { width: `${clientWidth}px`, height: `${clientHeight}px` });
    }
    return ratio;
  }

  function draw(): void {
    if (dots.length === 0 && drawn.length === 0) return;
    const ratio = fitCanvas();
    const [clientWidth, clientHeight] = size;
    view = viewNow();
    const zoom = map.getZoom();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, clientWidth, clientHeight);
    context.lineWidth = strokeWidthPx;
    context.strokeStyle = halo();
    drawn = dots.map(({ position, ...dot }) => ({ ...dot, ...pixelOf(position) }));
    for (const { x, y, colour, isChosen } of drawn) {
      const radius = dotRadiusPx(zoom, isChosen);
      if (x < -radius || y < -radius || x > clientWidth + radius || y > clientHeight + radius) continue;
      context.fillStyle = colour;
      context.beginPath();
      context.arc(x, y, radius + strokeWidthPx / 2, 0, wholeCircle);
      context.fill();
      context.stroke();
    }
  }
  const pixelOf = ([longitude, latitude]: Dot['position']) => {
    const { x, y } = map.project([longitude, latitude]);
    return { x, y };
  };

  // In the frame in which the map moves. What comes to the map moves no dot.
  map.on('render', () => view !== viewNow() && draw());
  return {
    set(next) {
      dots = next;
      draw();
    },
    at({ x, y }, reachPx) {
      const reach = reachPx + dotRadiusPx(map.getZoom(), true);
      let nearest: string | undefined;
      let least = reach;
      for (const dot of drawn) {
        const distance = Math.hypot(dot.x - x, dot.y - y);
        if (distance > least) continue;
        least = distance;
        nearest = dot.id;
      }
      return nearest;
    },
  };
}
