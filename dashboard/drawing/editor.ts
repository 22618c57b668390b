/**
 * Draws one shape on the map, and lets its points be dragged. terra-draw moves, inserts and removes points; the shape
 * itself is the form's, so that fields, map and history show the same.
 */
import type { Feature, FeatureCollection } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import {
  type GeoJSONStoreFeatures,
  TerraDraw,
  TerraDrawLineStringMode,
  TerraDrawPointMode,
  TerraDrawPolygonMode,
  TerraDrawSelectMode,
} from 'terra-draw';
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter';
import { accents, type Theme } from '../components/map-look';
import { longitudeNear, unwrapped } from './antimeridian';
import {
  allowedRadiusM,
  crossingsOf,
  distanceM,
  handleOf,
  isWithinMap,
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

export const nothingDrawn: Drawn = {
  shape: undefined,
  area: undefined,
  isAdding: false,
  isPulling: false,
  isLocked: true,
};

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
const layers = ['draft-fill', 'draft-line', 'draft-edge', 'draft-crossing'];

const feature = (part: string, geometry: Feature['geometry']): Feature => ({
  type: 'Feature',
  geometry,
  properties: { part },
});
const mutable = (positions: readonly Position[]): [number, number][] => positions.map(([x, y]) => [x, y]);

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

  /** The feature whose points terra-draw moves. A circle is the line from its centre to its handle. */
  function editable(): GeoJSONStoreFeatures | undefined {
    const { shape, isLocked } = drawn;
    // terra-draw knows no longitude beyond 180.
    if (shape === undefined || isLocked || !isWithinMap(shape)) return undefined;
    if (shape.type === 'circle') {
      const ends = [shape.centre, handleOf(shape.centre, shape.radiusM)];
      return storeFeature('linestring', { type: 'LineString', coordinates: mutable(ends) });
    }
    if (shape.type === 'point') return storeFeature('point', { type: 'Point', coordinates: [...shape.centre] });
    const points = mutable(shape.points);
    if (points.length === 1) return storeFeature('point', { type: 'Point', coordinates: points[0]! });
    if (points.length === 2) return storeFeature('polyline', { type: 'LineString', coordinates: points });
    return storeFeature('polygon', { type: 'Polygon', coordinates: [[...points, points[0]!]] });
  }
  const storeFeature = (mode: string, geometry: GeoJSONStoreFeatures['geometry']): GeoJSONStoreFeatures => ({
    type: 'Feature',
    geometry,
    properties: { mode },
  });

  /** Returns the shape after terra-draw has moved a point of it. */
  function shapeAfter({ geometry }: GeoJSONStoreFeatures): Shape | undefined {
    const { shape } = drawn;
    if (shape === undefined) return undefined;
    if (shape.type === 'polygon') {
      const known = new Set(shape.points.map(String));
      const read = (positions: readonly number[][]): Position[] =>
        positions.map(([x, y]) => (known.has(`${x},${y}`) ? [x!, y!] : roundedPosition([x!, y!])));
      if (geometry.type === 'Polygon') return { ...shape, points: read(geometry.coordinates[0]!.slice(0, -1)) };
      if (geometry.type === 'LineString') return { ...shape, points: read(geometry.coordinates) };
      return { ...shape, points: read([geometry.coordinates as number[]]) };
    }
    if (shape.type === 'point' && geometry.type === 'Point') {
      return { ...shape, centre: roundedPosition(geometry.coordinates as [number, number]) };
    }
    if (shape.type !== 'circle' || geometry.type !== 'LineString') return undefined;
    const [centre, end] = mutable(geometry.coordinates as [number, number][]);
    if (centre === undefined || end === undefined) return undefined;
    const isPulled = handle !== undefined && (end[0] !== handle[0] || end[1] !== handle[1]);
    if (isPulled) return { ...shape, radiusM: allowedRadiusM(distanceM(shape.centre, end)) };
    return { ...shape, centre: roundedPosition(centre) };
  }

  function read(id: string | number): Shape | undefined {
    const snapshot = id === featureId ? draw?.getSnapshotFeature(id) : undefined;
    return snapshot && shapeAfter(snapshot);
  }

  /** terra-draw has more decimals than the form. */
  const inForm = ({ properties, geometry }: GeoJSONStoreFeatures): string =>
    JSON.stringify([properties.mode, geometry.coordinates], (_, value: unknown) =>
      typeof value === 'number' ? value.toFixed(6) : value,
    );

  /** Makes terra-draw's feature that of the shape. */
  function tell(): void {
    if (draw === undefined || pulled !== undefined) return;
    const next = editable();
    const before = featureId === undefined ? undefined : draw.getSnapshotFeature(featureId);
    if (next && before && inForm(next) === inForm(before)) return;
    isTelling = true;
    draw.clear();
    featureId = undefined;
    if (next) {
      const [result] = draw.addFeatures([next]);
      featureId = result?.valid ? String(result.id) : undefined;
      handle = next.geometry.type === 'LineString' ? (next.geometry.coordinates[1] as [number, number]) : undefined;
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
    const { chosen, problem } = accents[shade];
    const isPart = (part: string): maplibregl.FilterSpecification => ['==', ['get', 'part'], part];
    map.addSource(source, { type: 'geojson', data: none, tolerance: 0.1 });
    map.addLayer({
      id: 'draft-fill',
      type: 'fill',
      source,
      filter: isPart('area'),
      paint: { 'fill-color': chosen, 'fill-opacity': 0.16 },
    });
    map.addLayer({
      id: 'draft-line',
      type: 'line',
      source,
      filter: isPart('area'),
      paint: { 'line-color': chosen, 'line-width': 2.5 },
    });
    map.addLayer({
      id: 'draft-edge',
      type: 'line',
      source,
      filter: isPart('edge'),
      paint: { 'line-color': chosen, 'line-width': 1.5, 'line-dasharray': [2, 2] },
    });
    map.addLayer({
      id: 'draft-crossing',
      type: 'circle',
      source,
      filter: isPart('crossing'),
      paint: {
        'circle-radius': 7,
        'circle-color': problem,
        'circle-opacity': 0.35,
        'circle-stroke-color': problem,
        'circle-stroke-width': 2,
      },
    });
  }

  function startDrawing(): void {
    const { chosen, halo } = accents[shade];
    const dot = { pointColor: chosen, pointWidth: 7, pointOutlineColor: halo, pointOutlineWidth: 2 } as const;
    const edge = { lineStringColor: chosen, lineStringWidth: 1.5 } as const;
    const points = { draggable: true, deletable: true, midpoints: { draggable: true } } as const;
    draw = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map, coordinatePrecision }),
      modes: [
        new TerraDrawPointMode({ styles: dot }),
        new TerraDrawLineStringMode({ styles: edge }),
        new TerraDrawLineStringMode({ modeName: 'polyline', styles: edge }),
        new TerraDrawPolygonMode({ styles: { fillOpacity: 0, outlineColor: chosen, outlineWidth: 2.5 } }),
        new TerraDrawSelectMode({
          // Keys are the page's.
          keyEvents: null,
          allowManualDeselection: false,
          allowManualSelection: false,
          pointerDistance: 20,
          dragEventThrottle: 1_000_000,
          flags: {
            point: { feature: { draggable: true } },
            linestring: { feature: { coordinates: { draggable: true } } },
            polyline: { feature: { selfIntersectable: true, coordinates: points } },
            polygon: { feature: { selfIntersectable: true, coordinates: points } },
          },
          styles: {
            selectedPointColor: chosen,
            selectedPointWidth: 7,
            selectedPointOutlineColor: halo,
            selectedPointOutlineWidth: 2,
            selectedLineStringColor: chosen,
            selectedLineStringWidth: 1.5,
            selectedPolygonColor: chosen,
            selectedPolygonFillOpacity: 0,
            selectedPolygonOutlineColor: chosen,
            selectedPolygonOutlineWidth: 2.5,
            selectionPointColor: halo,
            selectionPointWidth: 6,
            selectionPointOutlineColor: chosen,
            selectionPointOutlineWidth: 2.5,
            midPointColor: chosen,
            midPointWidth: 4,
            midPointOpacity: 0.6,
            midPointOutlineColor: halo,
            midPointOutlineWidth: 1,
          },
        }),
      ],
    });
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
      for (const id of layers) if (map.getLayer(id)) map.removeLayer(id);
      if (map.getSource(source)) map.removeSource(source);
    },
    remove() {
      listening.abort();
      draw?.stop();
      draw = undefined;
    },
  };
}
