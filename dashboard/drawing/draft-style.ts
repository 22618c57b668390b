/** How a shape looks while it is drawn: the layers beneath its points, and terra-draw's own styles. */
import type * as maplibregl from 'maplibre-gl';
import { TerraDrawLineStringMode, TerraDrawPointMode, TerraDrawPolygonMode, TerraDrawSelectMode } from 'terra-draw';
import { accents, type Theme } from '../components/map-look';

/** Returns the layers of a source of features, which have the properties `part`. */
export function draftLayers(source: string, shade: Theme): (maplibregl.AddLayerObject & { readonly id: string })[] {
  const { chosen, problem } = accents[shade];
  const ofPart = (part: string) => ({
    source,
    filter: ['==', ['get', 'part'], part] as maplibregl.FilterSpecification,
  });
  return [
    { id: 'draft-fill', type: 'fill', ...ofPart('area'), paint: { 'fill-color': chosen, 'fill-opacity': 0.16 } },
    { id: 'draft-line', type: 'line', ...ofPart('area'), paint: { 'line-color': chosen, 'line-width': 2.5 } },
    {
      id: 'draft-edge',
      type: 'line',
      ...ofPart('edge'),
      paint: { 'line-color': chosen, 'line-width': 1.5, 'line-dasharray': [2, 2] },
    },
    {
      id: 'draft-crossing',
      type: 'circle',
      ...ofPart('crossing'),
      paint: {
        'circle-radius': 7,
        'circle-color': problem,
        'circle-opacity': 0.35,
        'circle-stroke-color': problem,
        'circle-stroke-width': 2,
      },
    },
  ];
}

/** Returns terra-draw's modes of the features of `featureOf`, and the one in which their points are moved. */
export function drawModes(shade: Theme) {
  const { chosen, halo } = accents[shade];
  const dot = { pointColor: chosen, pointWidth: 7, pointOutlineColor: halo, pointOutlineWidth: 2 } as const;
  const edge = { lineStringColor: chosen, lineStringWidth: 1.5 } as const;
  return [
    new TerraDrawPointMode({ styles: dot }),
    new TerraDrawLineStringMode({ styles: edge }),
    new TerraDrawLineStringMode({ modeName: 'polyline', styles: edge }),
    new TerraDrawPolygonMode({ styles: { fillOpacity: 0, outlineColor: chosen, outlineWidth: 2.5 } }),
    selectMode(shade),
  ];
}

function selectMode(shade: Theme): TerraDrawSelectMode {
  const { chosen, halo } = accents[shade];
  const points = { draggable: true, deletable: true, midpoints: { draggable: true } } as const;
  return new TerraDrawSelectMode({
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
  });
}
