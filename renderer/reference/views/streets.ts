/** Views of streets with tiles of four schemas: zooms 9 to 22, all styles, scales from 1 to 3. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { publicStyles } from '../public-styles.js';
import { type ReferenceView, viewsOf } from '../view.js';

const florence = viewsOf('florence');
const sanFrancisco = viewsOf('san-francisco');
const protomaps = viewsOf('san-francisco-protomaps');
const shortbread = viewsOf('san-francisco-shortbread');
const liechtenstein = viewsOf('liechtenstein');

/** An uploaded style for OpenMapTiles. */
const blueprint: StyleSpecification = {
  version: 8,
  sources: { tiles: { type: 'vector', url: 'https://tiles.example.com/tiles.json' } },
  layers: [
    { id: 'paper', type: 'background', paint: { 'background-color': '#123a6b' } },
    {
      id: 'buildings',
      type: 'fill',
      source: 'tiles',
      'source-layer': 'building',
      paint: { 'fill-color': '#1a4a85', 'fill-outline-color': '#6f9bd1' },
    },
    {
      id: 'streets',
      type: 'line',
      source: 'tiles',
      'source-layer': 'transportation',
      paint: { 'line-color': '#dbe8f7', 'line-width': 1.2, 'line-dasharray': [4, 2] },
    },
    {
      id: 'names',
      type: 'symbol',
      source: 'tiles',
      'source-layer': 'transportation_name',
      layout: { 'symbol-placement': 'line', 'text-field': '{name:latin}', 'text-size': 11 },
      paint: { 'text-color': '#ffffff', 'text-halo-color': '#123a6b', 'text-halo-width': 2 },
    },
  ],
};

/** Views of streets. */
export const streetViews: readonly ReferenceView[] = [
  florence('florence-11-light', 'width=200&height=150&center=43.7735,11.291&zoom=11&style=svc-light-v1'),
  florence('florence-12', 'center=43.785,11.28&zoom=12'),
  florence('florence-13-dark', 'center=43.7785,11.2665&zoom=13&style=svc-dark-v1'),
  florence('florence-14', 'center=43.7753,11.2592&zoom=14'),
  florence('florence-14-light', 'center=43.7765,11.261&zoom=14&style=svc-light-v1'),
  florence('florence-15', 'width=400&height=300&center=43.7755,11.258&zoom=15'),
  florence('florence-15-dark', 'center=43.7745,11.258&zoom=15&style=svc-dark-v1'),
  florence('florence-16', 'center=43.7731,11.2558&zoom=16'),
  florence('florence-17-scale-2', 'width=180&height=120&center=43.7755,11.25985&zoom=17&scale=2'),
  florence('florence-18', 'center=43.7755,11.25985&zoom=18'),
  florence('florence-19-light', 'center=43.7755,11.25985&zoom=19&style=svc-light-v1'),
  florence('florence-20-dark', 'center=43.7755,11.25985&zoom=20&style=svc-dark-v1'),
  florence('florence-22', 'center=43.7755,11.25985&zoom=22'),

  sanFrancisco('san-francisco-12', 'center=37.7875,-122.405&zoom=12'),
  sanFrancisco('san-francisco-13-light', 'center=37.786,-122.4025&zoom=13&style=svc-light-v1'),
  sanFrancisco('san-francisco-14', 'center=37.788,-122.4&zoom=14'),
  sanFrancisco('san-francisco-15-dark', 'center=37.7905,-122.3995&zoom=15&style=svc-dark-v1'),
  sanFrancisco('san-francisco-16-light', 'center=37.788,-122.4065&zoom=16&style=svc-light-v1'),
  sanFrancisco('san-francisco-16-scale-1.5', 'width=200&height=140&center=37.7952,-122.4029&zoom=16&scale=1.5'),
  sanFrancisco('san-francisco-17-scale-3', 'width=120&height=100&center=37.788,-122.4065&zoom=17&scale=3'),
  sanFrancisco('san-francisco-18', 'center=37.78845,-122.40682&zoom=18.5'),
  sanFrancisco('san-francisco-21-dark', 'center=37.78845,-122.40682&zoom=21&style=svc-dark-v1'),
  sanFrancisco('uploaded-style', 'center=37.7905,-122.402&zoom=15.5&style=blueprint', { style: blueprint }),

  protomaps('protomaps-12', 'center=37.7975,-122.4&zoom=12&width=200&height=150'),
  protomaps('protomaps-14-light', 'center=37.7945,-122.4&zoom=14&style=svc-light-v1'),
  protomaps('protomaps-15', 'width=400&height=300&center=37.7945,-122.3985&zoom=15'),
  protomaps('protomaps-16-dark', 'center=37.7945,-122.397&zoom=16&style=svc-dark-v1'),
  protomaps('protomaps-17-scale-2', 'width=180&height=120&center=37.7935,-122.3965&zoom=17&scale=2'),
  shortbread('shortbread-12-light', 'center=37.7975,-122.4&zoom=12&width=200&height=150&style=svc-light-v1'),
  shortbread('shortbread-14-dark', 'center=37.7945,-122.4&zoom=14&style=svc-dark-v1'),
  shortbread('shortbread-15', 'width=400&height=300&center=37.7945,-122.3985&zoom=15'),
  shortbread('shortbread-16-light', 'center=37.7945,-122.397&zoom=16&style=svc-light-v1'),
  shortbread('shortbread-18', 'center=37.7935,-122.3965&zoom=18'),
  liechtenstein('liechtenstein-9', 'center=47.16,9.55&zoom=9'),
  liechtenstein('liechtenstein-10-dark', 'center=47.13,9.54&zoom=10.5&style=svc-dark-v1'),
  liechtenstein('liechtenstein-12-light', 'center=47.15,9.525&zoom=12&style=svc-light-v1'),
  liechtenstein('liechtenstein-13', 'center=47.148,9.515&zoom=13'),

  ...Object.entries(publicStyles).map(([name, { style, archive }], i) =>
    viewsOf(archive)(name, `center=37.7945,-122.3985&zoom=${14.5 + 0.5 * (i % 3)}&style=${name}`, { style }),
  ),
];
