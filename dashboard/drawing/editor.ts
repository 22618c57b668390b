/**
 * Draws one shape on the map, and lets its points be dragged. terra-draw moves, inserts and removes points; the shape
 * itself is the form's, so that fields, map and history show the same.
 */
import type { Feature, FeatureCollection } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import { type GeoJSONStoreFeatures, TerraDraw } from 'terra-draw';
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter';
import type { Theme } from '../components/map-look';
import { longitudeNear, unwrapped } from './antimeridian';
import { featureOf, handleIn, isSameInForm, mutable, shapeAfter } from './draft-feature';
import { draftLayers, drawModes } from './draft-style';
import {
  allowedRadiusM,
  crossingsOf,
  distanceM,
  handleOf,
  outlineOf,
  type Position,
  roundedPosition,
  type Shape,
} from './shape';

/** What the map shows while a record is edited. */
export interface Drawn {
  readonly shape: Shape | undefined;
  /** The area of a travel time, which only the server can compute. */
  readonly area: readonly Position[] | undefined;
  /** Whether a click adds a point to a polygon. */
  readonly isAdding: boolean;
  /** Whether pressing the map and pulling draws a circle. */
  readonly isPulling: boolean;
  /** Viewers see the shape, but cannot change it. */
  readonly isLocked: boolean;
}

const nothingDrawn: Drawn = {
  shape: undefined,
  area: undefined,
  isAdding: false,
  isPulling: false,
  isLocked: true,
};

/** What is drawn of the record that is edited, above the other places. */
export interface Editor {
  show(drawn: Drawn): void;
  /** Shows an edge from the last point to here while points are added; undefined: none. */
  point(at: Position | undefined): void;
  /** Returns the number of the point that is within reach of a click; undefined: none. */
  pointNear(point: maplibregl.Point): number | undefined;
  /** Adds the layers to a style that has none yet. */
  start(shade: Theme): void;
  /** Before the style changes. */
  stop(): void;
  remove(): void;
}

interface Options {
  readonly map: maplibregl.Map;
  /** The shape while a point is dragged. */
  onPreview(shape: Shape): void;
  onStep(shape: Shape): void;
}

const reachPx = 12;
const pullFromPx = 4;
const none: FeatureCollection = { type: 'FeatureCollection', features: [] };
/** terra-draw refuses coordinates with more decimals than this. */
const coordinatePrecision = 18;
const source = 'draft';

const feature = (part: string, geometry: Feature['geometry']): Feature => ({
  type: 'Feature',
  geometry,
  properties: { part },
});

/** Creates what is drawn of the edited record. A drag calls `onPreview` while it lasts, and `onStep` at its end. */
export function createEditor({ map, onPreview, onStep }: Options): Editor {
  let drawn = nothingDrawn;
  let pointer: Position | undefined;
  let draw: TerraDraw | undefined;
  let shade: Theme = 'light';
  let featureId: string | undefined;
  /** Whether this code changes terra-draw, whose events then say nothing new. */
  let isTelling = false;
  /** The handle of a circle where it was before terra-draw moved it. */
  let handle: Position | undefined;
  let isDown = false;
  /** Where a circle is pulled from. */
  let pulled: { readonly from: maplibregl.Point; readonly centre: Position; shape?: Shape } | undefined;
  const listening = new AbortController();
  // The pointer may be released outside the map.
  const listen = (type: 'pointerdown' | 'pointerup' | 'pointercancel', listener: () => void) =>
    addEventListener(type, listener, { capture: true, signal: listening.signal });
  listen('pointerdown', () => (isDown = true));
  listen('pointerup', release);
  listen('pointercancel', release);

  /** The feature whose points terra-draw moves. */
  const editable = (): GeoJSONStoreFeatures | undefined =>
    drawn.shape === undefined || drawn.isLocked ? undefined : featureOf(drawn.shape);

  function read(id: string | number): Shape | undefined {
    const snapshot = id === featureId ? draw?.getSnapshotFeature(id) : undefined;
    return snapshot && drawn.shape && shapeAfter(drawn.shape, snapshot, handle);
  }

  /** Makes terra-draw's feature that of the shape. */
  function tell(): void {
    if (draw === undefined || pulled !== undefined) return;
    const next = editable();
    const before = featureId === undefined ? undefined : draw.getSnapshotFeature(featureId);
    if (next && before && isSameInForm(next, before)) return;
    isTelling = true;
    draw.clear();
    featureId = undefined;
    if (next) {
      const [result] = draw.addFeatures([next]);
      featureId = result?.valid ? String(result.id) : undefined;
      handle = handleIn(next);
      if (featureId !== undefined) draw.selectFeature(featureId);
    }
    isTelling = false;
  }

  /** The handle of a circle goes along with its centre. */
  function moveHandle(centre: Position, radiusM: number): void {
    if (featureId === undefined) return;
    isTelling = true;
    const end = handleOf(centre, radiusM);
    handle = end;
    draw?.updateFeatureGeometry(featureId, { type: 'LineString', coordinates: mutable([centre, end]) });
    isTelling = false;
  }

  /** Shows what terra-draw does not know: areas, the edge to the pointer, and where edges cross. */
  function paint(): void {
    const { shape, area, isAdding } = drawn;
    const outline = area ?? (shape && outlineOf(shape));
    const points = shape?.type === 'polygon' ? shape.points : [];
    const features: Feature[] = [];
    if (outline) features.push(feature('area', { type: 'Polygon', coordinates: [mutable(unwrapped(outline))] }));
    if (isAdding && pointer && points.length > 0) {
      const ends = points.length > 1 ? [points.at(-1)!, pointer, points[0]!] : [points[0]!, pointer];
      features.push(feature('edge', { type: 'LineString', coordinates: mutable(unwrapped(ends)) }));
    }
    for (const at of crossingsOf(points)) features.push(feature('crossing', { type: 'Point', coordinates: [...at] }));
    map.getSource<maplibregl.GeoJSONSource>(source)?.setData({ type: 'FeatureCollection', features });
  }

  function addLayers(): void {
    map.addSource(source, { type: 'geojson', data: none, tolerance: 0.1 });
    for (const layer of draftLayers(source, shade)) map.addLayer(layer);
  }

  function startDrawing(): void {
    const adapter = new TerraDrawMapLibreGLAdapter({ map, coordinatePrecision });
    draw = new TerraDraw({ adapter, modes: drawModes(shade) });
    draw.on('change', (ids, type) => {
      if (isTelling || type !== 'update' || featureId === undefined || !ids.includes(featureId)) return;
      const shape = read(featureId);
      if (shape === undefined) return;
      const isMoved =
        shape.type === 'circle' && drawn.shape?.type === 'circle' && shape.radiusM === drawn.shape.radiusM;
      drawn = { ...drawn, shape };
      if (isMoved) moveHandle(shape.centre, shape.radiusM);
      paint();
      onPreview(shape);
    });
    draw.on('finish', (id, { action }) => {
      const shape = isTelling ? undefined : read(id);
      if (shape === undefined) return;
      drawn = { ...drawn, shape };
      // A point between two others was pulled out of its edge: the step ends with the pull.
      if (action === 'insertMidpoint' && isDown) return onPreview(shape);
      onStep(shape);
      // Also if the shape is the same as before: a handle may have to go back.
      tell();
      paint();
    });
    draw.start();
    draw.setMode('select');
  }

  // A circle is drawn from its centre outwards. A click without a pull is the page's.
  map.on('mousedown', (event) => {
    if (!drawn.isPulling || event.originalEvent.button !== 0) return;
    // The map would go along.
    event.preventDefault();
    pulled = { from: event.point, centre: roundedPosition([event.lngLat.lng, event.lngLat.lat]) };
  });
  map.on('mousemove', ({ point, lngLat }) => {
    if (pulled === undefined || pulled.from.dist(point) < pullFromPx) return;
    const radiusM = allowedRadiusM(distanceM(pulled.centre, [lngLat.lng, lngLat.lat]));
    const shape: Shape = { type: 'circle', centre: pulled.centre, radiusM };
    pulled.shape = shape;
    drawn = { ...drawn, shape };
    paint();
    onPreview(shape);
  });
  function release(): void {
    isDown = false;
    const shape = pulled?.shape;
    pulled = undefined;
    if (shape) onStep(shape);
  }

  return {
    show(next) {
      // The page answers each preview. While a circle is pulled, it is only painted.
      drawn = next;
      if (draw === undefined) return;
      tell();
      paint();
    },
    point(at) {
      if (pointer === undefined && at === undefined) return;
      pointer = at;
      paint();
    },
    pointNear(point) {
      const { shape } = drawn;
      if (shape?.type !== 'polygon') return undefined;
      const middle = map.getCenter().lng;
      const distances = shape.points.map(([x, y]) => map.project([longitudeNear(x, middle), y]).dist(point));
      const nearest = distances.indexOf(Math.min(...distances));
      return distances[nearest]! <= reachPx ? nearest : undefined;
    },
    start(nextShade) {
      shade = nextShade;
      addLayers();
      startDrawing();
      tell();
      paint();
    },
    stop() {
      featureId = undefined;
      draw?.stop();
      draw = undefined;
      for (const { id } of draftLayers(source, shade)) if (map.getLayer(id)) map.removeLayer(id);
      if (map.getSource(source)) map.removeSource(source);
    },
    remove() {
      listening.abort();
      draw?.stop();
      draw = undefined;
    },
  };
}
