/** The area of a travel time while its fields are edited. */
import { useState } from 'react';
import { useApi } from '../client/hooks';
import { useSettled } from '../components/list-filters';
import { degreesOf, quantityOf } from '../forms/draft';
import type { GeofenceDraft } from '../forms/geofence';
import type { Position } from './shape';

/** The area of an isochrone that is being drawn, as the server computes it. */
export interface Isochrone {
  readonly area: readonly Position[] | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const fields = ['latitude', 'longitude', 'minutes', 'mode'] as const;

/**
 * Asks for the area of a draft when its fields have settled.
 *
 * @param draft undefined: it is no isochrone.
 * @param stored the area of the record as the draft began. It is shown until a field differs.
 */
export function useIsochrone(draft: GeofenceDraft | undefined, stored: readonly Position[] | undefined): Isochrone {
  const [began] = useState(draft);
  const isAsBegun = fields.every((name) => began?.[name] === draft?.[name]);
  const known = draft && isAsBegun ? stored : undefined;
  const isAsked =
    draft !== undefined && known === undefined && draft.latitude.trim() !== '' && draft.longitude.trim() !== '';
  const wanted = isAsked
    ? JSON.stringify({
        coordinates: `${degreesOf(draft.latitude)},${degreesOf(draft.longitude)}`,
        radius: quantityOf(draft.minutes),
        mode: draft.mode,
      })
    : '{}';
  const query = useSettled(wanted, 500);
  const isSettled = query === wanted;
  const asked = useApi('GET /v1/route/isochrone', { query: JSON.parse(query) }, { enabled: isAsked && isSettled });
  if (!isAsked) return { area: known, isLoading: false, error: null };
  return {
    area: asked.error ? undefined : asked.data?.isochrone.geometry.coordinates[0],
    isLoading: !isSettled || asked.isFetching,
    error: asked.error,
  };
}
