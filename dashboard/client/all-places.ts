/** Loads the outlines of all geofences and beacons of an environment for the map, page by page. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Place, PlaceIndex, type PlaceKind, placeOfOutline } from '../drawing/places';
import { useScope } from '../state/session';
import { callIn } from './call';

/** What has changed about the places since the last time. */
export type PlacesChange =
  | { readonly type: 'all' }
  | { readonly type: 'put'; readonly places: readonly Place[] }
  | { readonly type: 'drop'; readonly id: string };

export interface AllPlaces extends State {
  /** Always the same object, which is changed in place: copies of 200,000 places would be wasteful. */
  readonly index: PlaceIndex;
  readonly byId: ReadonlyMap<string, Place>;
  /** Takes over a place that was saved, without loading the others again. */
  put(place: Place): void;
  drop(id: string): void;
}

/** The first page is small, so that something is seen soon. */
const firstPageSize = 500;
const pageSize = 5_000;
/** Of each kind. More are left out: a browser's memory is bounded. */
export const maxPlaces = 100_000;

const operations = {
  geofence: 'GET /v1/geofences/outlines',
  beacon: 'GET /v1/beacons/outlines',
} as const satisfies Record<PlaceKind, string>;

interface State {
  /** Changes with the places. */
  readonly version: number;
  readonly geofences: number;
  readonly beacons: number;
  /** Whether there are more than are loaded. */
  readonly isCut: boolean;
  readonly isComplete: boolean;
  readonly error: unknown;
}
const nothing: State = { version: 0, geofences: 0, beacons: 0, isCut: false, isComplete: false, error: null };

/** @param onChange is called with what has changed, before the state says so. */
export function useAllPlaces(onChange: (change: PlacesChange) => void): AllPlaces {
  const scope = useScope();
  const [index] = useState(() => new PlaceIndex());
  const listener = useRef(onChange);
  listener.current = onChange;
  const [state, setState] = useState(nothing);

  const put = useCallback(
    (places: readonly Place[]) => {
      const added = { geofence: 0, beacon: 0 };
      for (const place of places) if (!index.byId.has(place.id)) added[place.kind] += 1;
      index.put(places);
      listener.current({ type: 'put', places });
      setState((all) => ({
        ...all,
        version: all.version + 1,
        geofences: all.geofences + added.geofence,
        beacons: all.beacons + added.beacon,
      }));
    },
    [index],
  );
  const drop = useCallback(
    (id: string) => {
      const place = index.byId.get(id);
      if (place === undefined) return;
      index.drop(id);
      listener.current({ type: 'drop', id });
      const name = place.kind === 'geofence' ? 'geofences' : 'beacons';
      setState((all) => ({ ...all, version: all.version + 1, [name]: all[name] - 1 }));
    },
    [index],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the index is always the same object
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    index.clear();
    listener.current({ type: 'all' });
    setState((all) => ({ ...nothing, version: all.version + 1 }));
    async function load(kind: PlaceKind) {
      let cursor: string | undefined;
      let loaded = 0;
      do {
        const limit = loaded === 0 ? firstPageSize : pageSize;
        const { outlines, meta } = await callIn(scope, operations[kind], { query: { limit, cursor }, signal });
        if (signal.aborted) return;
        put(outlines.map((outline) => placeOfOutline(kind, outline)));
        loaded += outlines.length;
        cursor = meta.hasMore ? meta.cursor : undefined;
      } while (cursor !== undefined && loaded < maxPlaces);
      if (cursor !== undefined) setState((all) => ({ ...all, isCut: true }));
    }
    Promise.all([load('geofence'), load('beacon')]).then(
      () => !signal.aborted && setState((all) => ({ ...all, isComplete: true })),
      (error: unknown) => !signal.aborted && setState((all) => ({ ...all, error })),
    );
    return () => stop.abort();
  }, [scope, put]);
  return useMemo(
    () => ({ ...state, index, byId: index.byId, put: (place) => put([place]), drop }),
    [state, index, put, drop],
  );
}
