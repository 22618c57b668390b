/** Views of a style with a sprite: patterns on areas, lines and the background, icons with and without text. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { type DrawnImage, spriteOf } from '../../testing/sprites.js';
import { type ReferenceView, viewsOf } from '../view.js';

const sanFrancisco = viewsOf('san-francisco');

/** Draws an image on a square of this many CSS pixels. */
function image(size: number, paint: DrawnImage['paint'], more: object = {}): DrawnImage {
  return { width: size, height: size, paint, more };
}

/** Draws a letter on a disc. */
const badge = (color: string, paint: DrawnImage['paint']): DrawnImage =>
  image(18, (context) => {
    context.fillStyle = '#ffffff';
    context.beginPath();
    context.arc(9, 9, 9, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = color;
    context.beginPath();
    context.arc(9, 9, 8, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = '#ffffff';
    paint(context);
  });

const images: Readonly<Record<string, DrawnImage>> = {
  weave: image(8, (context) => {
    context.fillStyle = '#f3efe6';
    context.fillRect(0, 0, 8, 8);
    context.fillStyle = '#e6dfd0';
    context.fillRect(0, 0, 4, 4);
    context.fillRect(4, 4, 4, 4);
  }),
  hatch: image(6, (context) => {
    context.strokeStyle = '#b08968';
    context.lineWidth = 1;
    for (const shift of [-6, 0, 6]) {
      context.beginPath();
      context.moveTo(shift - 1, 7);
      context.lineTo(shift + 7, -1);
      context.stroke();
    }
  }),
  grass: image(12, (context) => {
    context.fillStyle = '#cfe8b9';
    context.fillRect(0, 0, 12, 12);
    context.fillStyle = '#7fb069';
    for (const [x, y] of [
      [2, 3],
      [8, 9],
    ] as const) {
      context.fillRect(x, y, 1, 3);
      context.fillRect(x + 2, y, 1, 3);
    }
  }),
  rails: {
    width: 16,
    height: 8,
    paint(context) {
      context.fillStyle = '#ffffff';
      context.fillRect(0, 0, 16, 8);
      context.fillStyle = '#d62828';
      context.fillRect(0, 0, 8, 8);
    },
  },
  eat: badge('#e76f51', (context) => {
    context.fillRect(5, 4, 2, 10);
    context.fillRect(11, 4, 2, 10);
  }),
  bus: badge('#1d6fb8', (context) => {
    context.fillRect(5, 5, 8, 7);
    context.fillRect(6, 12, 2, 2);
    context.fillRect(10, 12, 2, 2);
  }),
  arrow: image(12, (context) => {
    context.fillStyle = '#5a5a5a';
    context.fillRect(0, 5, 7, 2);
    context.beginPath();
    context.moveTo(7, 2);
    context.lineTo(12, 6);
    context.lineTo(7, 10);
    context.fill();
  }),
  shield: image(
    16,
    (context) => {
      context.fillStyle = '#1b4332';
      context.beginPath();
      context.roundRect(0, 0, 16, 16, 4);
      context.fill();
      context.strokeStyle = '#ffffff';
      context.lineWidth = 1;
      context.beginPath();
      context.roundRect(1.5, 1.5, 13, 13, 3);
      context.stroke();
    },
    {},
  ),
};

/** Fields in pixels of the picture, which depend on the density. */
const imagesAt = (ratio: number): Readonly<Record<string, DrawnImage>> => ({
  ...images,
  shield: {
    ...images.shield!,
    more: {
      stretchX: [[5 * ratio, 11 * ratio]],
      stretchY: [[5 * ratio, 11 * ratio]],
      content: [3 * ratio, 2 * ratio, 13 * ratio, 14 * ratio],
    },
  },
});

const layerOf = (id: string, type: string, sourceLayer: string, more: object) => ({
  id,
  type,
  source: 'tiles',
  'source-layer': sourceLayer,
  ...more,
});

const woven = {
  version: 8,
  sprite: 'https://tiles.example.com/sprite',
  sources: { tiles: { type: 'vector', url: 'https://tiles.example.com/tiles.json' } },
  layers: [
    { id: 'ground', type: 'background', paint: { 'background-pattern': 'weave' } },
    layerOf('water', 'fill', 'water', { paint: { 'fill-color': '#a9cfe8' } }),
    layerOf('green', 'fill', 'landcover', { paint: { 'fill-pattern': 'grass' } }),
    layerOf('buildings', 'fill-extrusion', 'building', { paint: { 'fill-extrusion-pattern': 'hatch' } }),
    layerOf('streets', 'line', 'transportation', {
      filter: ['in', 'class', 'motorway', 'primary', 'secondary', 'tertiary', 'minor'],
      paint: { 'line-color': '#ffffff', 'line-width': ['match', ['get', 'class'], 'minor', 5, 9] },
    }),
    layerOf('rails', 'line', 'transportation', {
      filter: ['in', 'class', 'tram', 'light_rail'],
      paint: { 'line-pattern': 'rails', 'line-width': 5 },
    }),
    layerOf('ways', 'symbol', 'transportation', {
      filter: ['==', 'oneway', 1],
      layout: { 'symbol-placement': 'line', 'symbol-spacing': 90, 'icon-image': 'arrow', 'icon-size': 0.8 },
      paint: { 'icon-opacity': 0.7 },
    }),
    layerOf('names', 'symbol', 'transportation_name', {
      layout: { 'symbol-placement': 'line', 'text-field': '{name:latin}', 'text-size': 11 },
      paint: { 'text-halo-color': '#ffffff', 'text-halo-width': 1.5 },
    }),
    layerOf('places', 'symbol', 'poi', {
      filter: ['in', 'class', 'bus', 'fast_food', 'cafe'],
      layout: {
        'icon-image': ['match', ['get', 'class'], 'bus', 'bus', 'eat'],
        'text-field': ['case', ['==', ['get', 'class'], 'bus'], '', ['get', 'name:latin']],
        'text-size': 10,
        'text-anchor': 'top',
        'text-offset': [0, 1],
        'text-optional': true,
      },
      paint: { 'text-color': '#7a3b22', 'text-halo-color': '#ffffff', 'text-halo-width': 1.5 },
    }),
    layerOf('numbers', 'symbol', 'transportation_name', {
      filter: ['has', 'ref'],
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 200,
        'text-field': '{ref}',
        'text-size': 11,
        'text-rotation-alignment': 'viewport',
        'icon-rotation-alignment': 'viewport',
        'icon-image': 'shield',
        'icon-text-fit': 'both',
        'icon-text-fit-padding': [0, 1, 0, 1],
      },
      paint: { 'text-color': '#ffffff' },
    }),
  ],
} as unknown as StyleSpecification;

const at = (ratio: number) => ({ style: woven, sprites: [spriteOf(imagesAt(ratio), ratio)] });

/** Views of sprites. */
export const spriteViews: readonly ReferenceView[] = [
  sanFrancisco(
    'sprite-16',
    'width=400&height=300&center=37.7905,-122.3995&zoom=16&style=woven&markers=37.7905,-122.3995',
    at(1),
  ),
  sanFrancisco('sprite-15-scale-2', 'center=37.7890,-122.3902&zoom=15.4&scale=2&style=woven', at(2)),
];
