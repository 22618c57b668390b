/** Draws the geofences that a map has in sight, behind its data. */
import type { Position } from 'geojson';
import { useEffect, useState } from 'react';
import { maxPlaces } from '../client/all-places';
import type { Fences } from '../client/fences';
import { type Bounds, covers, type Place, ringOfPlace, widened } from '../drawing/places';
import { grouped } from './counts';
import { collectionOf, type MapHandle } from './data-map';

/** More would hide the map, and what is shown on it. */
const maxFences = 1_000;

const isEnabled = ({ enabled }: Place): boolean => enabled;

const featureOf = (place: Place) => ({
  type: 'Feature' as const,
  // MapLibre changes no position, and a copy of each would cost as much as its computation.
  geometry: { type: 'Polygon' as const, coordinates: [ringOfPlace(place) as unknown as Position[]] },
  properties: { id: place.id },
});

/**
 * Keeps the source `fences` of the map up to date: the enabled geofences in sight, or the largest of them.
 *
 * @returns what is said where geofences are missing; undefined: all in sight are drawn.
 */
export function useFencesOnMap(map: MapHandle | undefined, fences: Fences, isShown = true): string | undefined {
  const { loaded, isLoading, isCut } = fences;
  /** How many are in sight, where that is more than are drawn. */
  const [crowd, setCrowd] = useState<number>();
  useEffect(() => {
    if (map === undefined) return;
    if (!isShown) {
      setCrowd(undefined);
      return map.set('fences', collectionOf([]));
    }
    /** The bounds of which all are drawn. */
    let complete: Bounds | undefined;
    return map.watchSight((sight) => {
      if (complete && covers(complete, sight)) return;
      const around = widened(sight);
      const { within, hasMore } = loaded.index.within(around, isEnabled, maxFences);
      const { largest, total } = hasMore
        ? loaded.index.largestWithin(sight, isEnabled, maxFences)
        : { largest: within, total: within.length };
      complete = hasMore ? undefined : around;
      map.set('fences', collectionOf(largest.map(featureOf)));
      setCrowd(total > maxFences ? total : undefined);
    });
  }, [map, loaded, isShown]);
  if (!isShown) return undefined;
  const parts = [
    crowd !== undefined && `the ${grouped(maxFences)} largest of ${grouped(crowd)} geofences in sight are drawn`,
    isCut && `only the oldest ${grouped(maxPlaces)} geofences are loaded`,
    isLoading && 'more geofences are loading',
  ].filter((part) => part !== false);
  return parts.length === 0 ? undefined : parts.join(', ');
}
