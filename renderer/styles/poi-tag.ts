/** Selects the tag that tells what a point of interest is, in schemas that keep OpenStreetMap's tags. Pure. */
import type { ExpressionSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expression } from './expressions.js';
import { poiClasses, poiStyles } from './pois.js';

const tourist = poiClasses
  .filter((name) => ['culture', 'green'].includes(poiStyles[name].color))
  .flatMap((name) => poiStyles[name].tagged);
const isTourist = (tag: string) => expression('match', ['get', tag], tourist, true, false);

const isEatery = expression(
  'match',
  ['get', 'amenity'],
  ['bar', 'cafe', 'fast_food', 'pub', 'restaurant'],
  true,
  false,
);
/** Owners tag cafés and shops as attractions. */
const isBusiness = expression('all', ['==', ['get', 'tourism'], 'attraction'], ['any', isEatery, ['has', 'shop']]);

/** Ranks an attraction before the use of its building: the cathedral of Florence is an attraction. */
export function poiTag(otherwise: ExpressionSpecification | string): ExpressionSpecification {
  return expression(
    'case',
    isTourist('tourism'),
    ['case', isBusiness, ['coalesce', ['get', 'amenity'], ['get', 'shop']], ['get', 'tourism']],
    isTourist('historic'),
    ['get', 'historic'],
    ['all', ['==', ['get', 'railway'], 'station'], ['==', ['get', 'station'], 'subway']],
    'subway',
    [
      'coalesce',
      ...['amenity', 'railway', 'aeroway', 'leisure', 'tourism', 'shop'].map((tag) => ['get', tag]),
      otherwise,
    ],
  );
}
