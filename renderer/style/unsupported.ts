/**
 * Finds what the renderer does not draw of a style. It is reported in the answer to the upload, never dropped silently.
 */
import type { LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { spritePlaces, spriteProblems } from '../sprites/sprite-urls.js';

/** A part of a style that is not drawn. */
export interface Unsupported {
  /** The layer's id, or null for the whole style. */
  readonly layer: string | null;
  /** The property, or null for the whole layer. */
  readonly property: string | null;
  readonly message: string;
}

/** Properties that are drawn, by layer type, or that do not matter in a static map seen from above. */
const drawn: Partial<Record<LayerSpecification['type'], readonly string[]>> = {
  background: ['background-color', 'background-opacity', 'background-pattern'],
  fill: [
    ...['fill-antialias', 'fill-color', 'fill-layer-opacity', 'fill-opacity', 'fill-outline-color', 'fill-pattern'],
    ...['fill-sort-key', 'fill-translate', 'fill-translate-anchor'],
  ],
  line: [
    ...['line-cap', 'line-color', 'line-dasharray', 'line-gap-width', 'line-join', 'line-miter-limit', 'line-offset'],
    ...['line-blur', 'line-gradient', 'line-layer-opacity'],
    ...[
      'line-opacity',
      'line-pattern',
      'line-round-limit',
      'line-sort-key',
      'line-translate',
      'line-translate-anchor',
      'line-width',
    ],
  ],
  circle: [
    ...[
      'circle-blur',
      'circle-color',
      'circle-opacity',
      'circle-pitch-alignment',
      'circle-pitch-scale',
      'circle-radius',
      'circle-sort-key',
    ],
    ...[
      'circle-stroke-color',
      'circle-stroke-opacity',
      'circle-stroke-width',
      'circle-translate',
      'circle-translate-anchor',
    ],
  ],
  raster: [
    ...['raster-brightness-max', 'raster-brightness-min', 'raster-contrast', 'raster-fade-duration'],
    ...['raster-hue-rotate', 'raster-opacity', 'raster-resampling', 'raster-saturation', 'resampling'],
  ],
  'fill-extrusion': [
    ...[
      'fill-extrusion-color',
      'fill-extrusion-opacity',
      'fill-extrusion-translate',
      'fill-extrusion-translate-anchor',
    ],
    ...['fill-extrusion-pattern', 'fill-extrusion-vertical-gradient'],
  ],
  symbol: [
    ...[
      'icon-allow-overlap',
      'icon-anchor',
      'icon-color',
      'icon-halo-color',
      'icon-halo-width',
      'icon-ignore-placement',
    ],
    ...[
      'icon-image',
      'icon-keep-upright',
      'icon-offset',
      'icon-opacity',
      'icon-optional',
      'icon-overlap',
      'icon-padding',
    ],
    ...[
      'icon-pitch-alignment',
      'icon-rotate',
      'icon-rotation-alignment',
      'icon-size',
      'icon-text-fit',
      'icon-text-fit-padding',
      'icon-translate',
      'icon-translate-anchor',
    ],
    ...[
      'symbol-avoid-edges',
      'symbol-placement',
      'symbol-sort-key',
      'symbol-spacing',
      'symbol-z-order',
      'text-allow-overlap',
      'text-anchor',
    ],
    ...[
      'text-color',
      'text-field',
      'text-font',
      'text-halo-blur',
      'text-halo-color',
      'text-halo-width',
      'text-ignore-placement',
      'text-justify',
    ],
    ...[
      'text-keep-upright',
      'text-letter-spacing',
      'text-line-height',
      'text-max-angle',
      'text-max-width',
      'text-offset',
    ],
    ...['text-opacity', 'text-optional', 'text-overlap', 'text-padding', 'text-pitch-alignment', 'text-radial-offset'],
    ...[
      'text-rotate',
      'text-rotation-alignment',
      'text-size',
      'text-transform',
      'text-translate',
      'text-translate-anchor',
    ],
    ...['text-variable-anchor', 'text-variable-anchor-offset'],
  ],
};

/** Layer types that are flat from above. Reported once each. */
const flattened = ['fill-extrusion-height', 'fill-extrusion-base', 'fill-extrusion-rounded-corner-distance'];

/** Values that have no effect. */
const noEffect: Readonly<Record<string, unknown>> = {
  'fill-extrusion-base': 0,
  'fill-extrusion-rounded-corner-distance': 0,
  'icon-halo-blur': 0,
};

const flat = 'Maps are flat, in Web Mercator';

const notoSans =
  'Not loaded: text is set in Noto Sans, regular, medium, bold or italic, whichever is nearest to text-font';

/** Parts of a style other than layers, and how they are treated. */
const wholeStyle = {
  glyphs: notoSans,
  'font-faces': notoSans,
  terrain: flat,
  sky: flat,
  projection: flat,
} as const;

/** Returns everything that is not drawn as the style says, in the style's order. */
export function unsupported(style: StyleSpecification): Unsupported[] {
  const whole = (Object.keys(wholeStyle) as (keyof typeof wholeStyle)[])
    .filter((name) => style[name] !== undefined && !isMercator(style[name]))
    .map((name): Unsupported => ({ layer: null, property: name, message: wholeStyle[name] }));
  const sprites = spriteProblems(style.sprite).map(
    (message): Unsupported => ({ layer: null, property: 'sprite', message }),
  );
  const hasImages = spritePlaces(style.sprite).length > 0;
  return [...whole, ...sprites, ...style.layers.flatMap((layer) => unsupportedInLayer(layer, hasImages))];
}

function isMercator(value: unknown): boolean {
  return (value as { type?: unknown }).type === 'mercator';
}

function unsupportedInLayer(layer: LayerSpecification, hasImages: boolean): Unsupported[] {
  const known = drawn[layer.type];
  if (!known) return [{ layer: layer.id, property: null, message: `Layers of type ${layer.type} are not drawn` }];
  return Object.entries({ ...layer.layout, ...layer.paint }).flatMap(([name, value]): Unsupported[] => {
    const message =
      problemOf(name, value, known) ??
      (isAlongLines(layer) ? problemAlongLines(name, value) : null) ??
      (hasImages ? null : problemWithoutImages(name, value));
    return message === null ? [] : [{ layer: layer.id, property: name, message }];
  });
}

/** Operators that read a feature. */
const featureOperators = ['get', 'has', 'id', 'properties', 'geometry-type', 'within', 'distance'];

function problemOf(name: string, value: unknown, known: readonly string[]): string | null {
  if (name === 'visibility' || value === noEffect[name]) return null;
  if (name === 'text-field' && mentions(value, ['image']))
    return 'Icons within a text are not drawn, the text around them is';
  if (name === 'text-field' && hasKey(value, 'vertical-align'))
    return 'vertical-align is not drawn: all sections of a line stand on one baseline';
  if (flattened.includes(name)) return 'Drawn from above: the footprint and its edges, higher parts on top';
  if (name === 'line-gradient') return 'Runs from end to end of each line of a tile, not of the whole road';
  if (name === 'line-blur' && (mentions(value, featureOperators) || isByProperty(value)))
    return 'Where it depends on the feature, lines are thinner instead';
  if (name === 'fill-antialias' && value !== true) return 'Edges are always smooth';
  return known.includes(name) ? null : 'Not drawn';
}

/** Returns whether a layer may have texts that follow lines. */
function isAlongLines({ type, layout }: LayerSpecification): boolean {
  const { 'symbol-placement': placement = 'point', 'text-rotation-alignment': alignment } = (layout ?? {}) as Readonly<
    Record<string, unknown>
  >;
  return type === 'symbol' && placement !== 'point' && alignment !== 'viewport';
}

/** Layout properties of texts whose horizontal part has no effect along lines, and what tells that they have one. */
const horizontal: Readonly<Record<string, (value: unknown) => boolean>> = {
  'text-anchor': (value) => typeof value !== 'string' || /left|right/.test(value),
  'text-offset': (value) => !Array.isArray(value) || value[0] !== 0,
};

function problemAlongLines(name: string, value: unknown): string | null {
  if (name === 'text-rotate' && value !== 0) return 'Not drawn along lines: letters follow the line';
  return horizontal[name]?.(value) ? 'Along lines only the vertical part counts: names move to where they fit' : null;
}

/** Properties whose values are image names. */
export const imageProperties: readonly string[] = [
  'icon-image',
  'fill-pattern',
  'line-pattern',
  'background-pattern',
  'fill-extrusion-pattern',
];

function problemWithoutImages(name: string, value: unknown): string | null {
  const isAsking = imageProperties.includes(name) && value !== undefined && value !== '';
  return isAsking ? 'Not drawn: the style has no sprite that is loaded' : null;
}

/** Returns whether a value is a function of a property, as styles had before expressions. */
const isByProperty = (value: unknown): boolean => typeof value === 'object' && value !== null && 'property' in value;

/** Returns whether an object in an expression, such as the options of a section, has a key. */
function hasKey(expression: unknown, key: string): boolean {
  if (Array.isArray(expression)) return expression.some((part) => hasKey(part, key));
  return typeof expression === 'object' && expression !== null && key in expression;
}

function mentions(expression: unknown, operators: readonly string[]): boolean {
  if (!Array.isArray(expression)) return false;
  return operators.includes(expression[0]) || expression.some((part) => mentions(part, operators));
}
