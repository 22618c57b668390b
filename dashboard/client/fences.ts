/** The geofences of an environment as the background of a map. */
import type { FeatureCollection, Position } from 'geojson';
import { useMemo } from 'react';
import { grouped } from '../components/counts';
import type { Loadable } from '../components/load-problem';
import { type Place, placeOfOutline, ringOfPlace } from '../drawing/places';
import { useApi } from './hooks';

/** More would hide the map, and what is shown on it. */
const maxFences = 1_000;

const noPlaces: readonly Place[] = [];

export interface Fences {
  readonly places: readonly Place[];
  /** Those that are enabled. */
  readonly features: FeatureCollection;
  /** What is said where there are more than are loaded; undefined: there are not. */
  readonly cut: string | undefined;
  /** Whether they could be loaded. */
  readonly query: Loadable;
}

/** Loads their outlines, which are a tenth of the records. @param isWanted false: not yet. */
export function useFences(isWanted: boolean): Fences {
  const query = { limit: maxFences };
  const loaded = useApi('GET /v1/geofences/outlines', { query }, { staleTime: 60_000, enabled: isWanted });
  const { data } = loaded;
  const shapes = useMemo(() => {
    const places = data?.outlines.map((outline) => placeOfOutline('geofence', outline)) ?? noPlaces;
    const shown = places.filter(({ enabled }) => enabled);
    const features = shown.map((place) => ({
      type: 'Feature' as const,
      // MapLibre changes no position, and a copy of each would cost as much as its computation.
      geometry: { type: 'Polygon' as const, coordinates: [ringOfPlace(place) as unknown as Position[]] },
      properties: { id: place.id },
    }));
    return { places, features: { type: 'FeatureCollection' as const, features } };
  }, [data]);
  const cut = data?.meta.hasMore ? `only ${grouped(maxFences)} of the geofences` : undefined;
  return { ...shapes, cut, query: loaded };
}
