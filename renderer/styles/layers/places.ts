/** Layers of names of countries, states, cities and their parts. */
import type {
  ExpressionSpecification,
  LayerSpecification,
  SymbolLayerSpecification,
} from '@maplibre/maplibre-gl-style-spec';
import {
  leavesSpace,
  movesOthers,
  type RepeatDistance,
  repeatDistance,
  reservesSpace,
} from '../../style/placement-hints.js';
import { byZoom, expression, from, isOneOf } from '../expressions.js';
import type { LabelColors, Palette } from '../palette.js';
import { capitalDot, cityDot } from '../place-dots.js';
import type { PlaceClass, PlaceImportance, Schema } from '../schema.js';
import { inColors } from './labels.js';

type Layout = NonNullable<SymbolLayerSpecification['layout']>;

interface PlaceStyle {
  /** Part of the layer's name, if several layers have the class. */
  readonly id?: string;
  readonly class: PlaceClass;
  /** Whether only capitals are shown. */
  readonly isCapital?: true;
  readonly zooms: readonly [min: number, max: number];
  readonly weight: 'Regular' | 'Bold';
  /** Smallest and largest size in pixels, by zoom. */
  readonly sizes: Readonly<Record<number, readonly [small: number, large: number]>>;
  readonly color: keyof Palette['labels'] & ('country' | 'state' | 'city' | 'place');
  readonly more?: Layout;
  /** Size of the dot in views of countries, as a share of a city's. The name stands beside it. */
  readonly dot?: number;
  /** Whether names that move leave the first place of this name free, or whether this name is one of them. */
  readonly space?: typeof reservesSpace | typeof leavesSpace;
  /** Whether the names end after the last zoom without streets too: another style shows them, or they are too large. */
  readonly ends?: true;
}

/** Offsets in ems that a name may move from its point when it collides. */
const movable: Layout = {
  'text-variable-anchor-offset': [
    'center',
    [0, 0],
    'bottom',
    [0, -0.5],
    'top',
    [0, 0.5],
    'bottom',
    [0, -1],
    'top',
    [0, 1],
  ],
};

/** Returns the offsets of a name's middle from its point, given as pairs of ems to the right and down. */
function around(...pairs: readonly (readonly number[])[]): Layout {
  const ems = pairs.flat();
  const offsets = Array.from({ length: ems.length / 2 }, (_, i) => ['center', ems.slice(2 * i, 2 * i + 2)]);
  return { 'text-variable-anchor-offset': offsets.flat() as [] };
}

/** Positions of a name beside the dot of its city. Ems. */
const besideDot = [
  ...['left', [0.55, 0], 'right', [-0.55, 0], 'bottom-left', [0.3, -0.15], 'top-left', [0.3, 0.15]],
  ...['bottom-right', [-0.3, -0.15], 'top-right', [-0.3, 0.15], 'bottom', [0, -0.4], 'top', [0, 0.4]],
];
/** From this zoom on a city is an area, with its name in the middle, in maps of streets. */
const firstZoomWithoutDots = 8;

/** Offsets of countries, which have space on all sides of their middle. Wide names leave it less sideways. */
const wandering = around(
  [0, 0, 0, -0.6, 0, 0.6, -0.8, 0, 0.8, 0, -1.5, 0, 1.5, 0, 0, -1.2, 0, 1.2],
  [-1.5, -0.7, 1.5, -0.7, -1.5, 0.7, 1.5, 0.7, -3, 0, 3, 0, 0, -1.8, 0, 1.8],
  [-3, -0.7, 3, -0.7, -3, 0.7, 3, 0.7, -1.5, -1.4, 1.5, -1.4, -1.5, 1.4, 1.5, 1.4, 0, -2.5, 0, 2.5],
);

/** Offsets of parts of a city, which have no edges. */
const drifting = around(
  [0, 0, 0, -1.2, 0, 1.2, -1.5, 0, 1.5, 0, 0, -2.4, 0, 2.4, -3, 0, 3, 0, -2, -1.8, 2, 1.8],
  [0, -3.6, 0, 3.6, -4.5, 0, 4.5, 0, -3, -2.8, 3, -2.8, -3, 2.8, 3, 2.8],
);

const spaced: Layout = { 'text-letter-spacing': 0.12, 'text-transform': 'uppercase' };

/** Among streets, the name of a city is smaller again: everyone knows where they are. */
const citySizes = { 2: [9.5, 11], 5: [10.5, 13.5], 8: [12.5, 17], 12: [17, 23], 14: [16, 20] } as const;

/** Places, the least important first. */
const styles: readonly PlaceStyle[] = [
  {
    class: 'neighbourhood',
    zooms: [13, 17],
    weight: 'Regular',
    sizes: { 13: [10, 10], 16: [12, 12] },
    color: 'place',
    more: { ...spaced, ...drifting },
    space: leavesSpace,
  },
  {
    class: 'suburb',
    zooms: [11, 16],
    weight: 'Regular',
    sizes: { 11: [10, 10], 15: [13, 13] },
    color: 'place',
    more: { ...spaced, ...drifting },
    space: leavesSpace,
  },
  {
    class: 'village',
    zooms: [8, 17],
    weight: 'Regular',
    sizes: { 8: [10, 10], 12: [11.5, 11.5], 16: [15, 15] },
    color: 'place',
    more: movable,
    dot: 0.75,
  },
  {
    class: 'town',
    zooms: [5, 17],
    weight: 'Regular',
    sizes: { 5: [10, 11], 9: [11.5, 13], 13: [15, 17], 16: [18, 20] },
    color: 'place',
    more: movable,
    dot: 0.85,
  },
  {
    class: 'state',
    zooms: [4, 8],
    weight: 'Regular',
    sizes: { 4: [9.5, 9.5], 7: [12, 12] },
    color: 'state',
    more: { ...spaced, ...wandering },
    ends: true,
  },
  {
    class: 'microstate',
    zooms: [4, 9],
    weight: 'Bold',
    sizes: { 4: [10, 10], 6: [12, 12] },
    color: 'country',
    more: movable,
    ends: true,
  },
  {
    // Countries have little space to move here.
    id: 'early-city',
    class: 'city',
    zooms: [2, 5],
    weight: 'Regular',
    sizes: citySizes,
    color: 'city',
    more: movable,
    dot: 1,
    ends: true,
  },
  {
    class: 'city',
    zooms: [5, 15],
    weight: 'Regular',
    sizes: citySizes,
    color: 'city',
    more: movable,
    dot: 1,
    space: reservesSpace,
  },
  {
    // Countries are more important, but can move.
    id: 'early-capital',
    class: 'city',
    isCapital: true,
    zooms: [3, 5],
    weight: 'Bold',
    sizes: citySizes,
    color: 'city',
    more: movable,
    dot: 1,
    space: reservesSpace,
    ends: true,
  },
  {
    class: 'country',
    zooms: [0, 9],
    weight: 'Bold',
    sizes: { 1: [9, 12], 3: [9.5, 13.5], 4: [10.5, 16.5], 6: [13, 24] },
    color: 'country',
    more: { ...wandering, 'text-letter-spacing': 0.05, 'text-max-width': 6 },
    space: leavesSpace,
    ends: true,
  },
  {
    // A country's name can move aside, but its capital cannot.
    id: 'capital',
    class: 'city',
    isCapital: true,
    zooms: [5, 9],
    weight: 'Bold',
    sizes: citySizes,
    color: 'city',
    more: movable,
    dot: 1,
  },
];

/** Entries of one part of a city, such as its area and its middle, have one name. */
const samePlace: RepeatDistance = { px: 150 };

/** Ranks with the largest and the smallest size. */
const largeRank = 1;
const smallRank = 6;

/**
 * Returns the layers of places. `isBesideStreets` tells whether the tiles of another source, with streets, cover a part
 * of the map.
 */
export function placeLayers(schema: Schema, palette: Palette, isBesideStreets: boolean): LayerSpecification[] {
  const endsDots = schema.roads !== null || isBesideStreets;
  return styles.flatMap((style) =>
    schema.labels.places
      .filter(({ values }) => values[style.class])
      .map((places, i): LayerSpecification => {
        const colors: LabelColors = palette.labels[style.color];
        return {
          id: `label-${style.id ?? style.class}-${i}`,
          type: 'symbol',
          minzoom: style.zooms[0],
          // Without streets, names stay visible at all higher zooms.
          ...((schema.roads || style.ends) && { maxzoom: style.zooms[1] }),
          metadata: {
            [repeatDistance]: samePlace,
            ...(style.space && { [style.space]: true }),
            ...(style.space === reservesSpace && { [movesOthers]: true }),
          },
          ...from(places, isOneOf(places, [style.class]), ...conditionsOf(style, places)),
          layout: {
            'text-field': schema.labels.name,
            'text-font': fontOf(style, places.isCapital),
            'text-size': sizeByZoom(style, places.rank),
            'text-max-width': 8,
            'text-padding': 2,
            'symbol-sort-key': places.order ?? places.rank,
            ...style.more,
            ...(style.dot && dotted(style.dot, style.more!, endsDots, places)),
          },
          paint: inColors(colors, 1.5),
        };
      }),
  );
}

/** Returns the layout of names that stand beside a dot at low zooms, or at all zooms. */
function dotted(size: number, { 'text-variable-anchor-offset': offsets }: Layout, ends: boolean, of: PlaceImportance) {
  const until = (dots: unknown, others: unknown) =>
    ends ? expression('step', ['zoom'], dots, firstZoomWithoutDots, others) : expression(...(dots as []));
  return {
    'text-variable-anchor-offset': until(['literal', besideDot], ['literal', offsets]) as never,
    'text-justify': 'auto',
    'icon-image': until(['image', ['case', of.isCapital, capitalDot, cityDot]], ['image', '']),
    'icon-size': size,
    'icon-padding': 1,
  } as const;
}

function conditionsOf({ isCapital }: PlaceStyle, places: PlaceImportance): ExpressionSpecification[] {
  return [
    ...(places.minZoom ? [expression('<=', places.minZoom, ['zoom'])] : []),
    ...(isCapital ? [places.isCapital] : []),
  ];
}

function sizeByZoom({ sizes }: PlaceStyle, rank: ExpressionSpecification): ExpressionSpecification {
  const values = Object.entries(sizes).map(([zoom, [small, large]]) => {
    return [
      zoom,
      small === large ? small : expression('interpolate', ['linear'], rank, largeRank, large, smallRank, small),
    ];
  });
  return byZoom(Object.fromEntries(values));
}

/** Capitals are bold. */
function fontOf({ weight }: PlaceStyle, isCapital: ExpressionSpecification) {
  const stack = (name: string) => ['literal', [`Fenceline Sans ${name}`]];
  return expression('case', isCapital, stack('Bold'), stack(weight));
}
