/** Loads the outlines of all geofences and beacons of an environment for the map, page by page. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Place, PlaceIndex, type PlaceKind, placeOfOutline } from '../drawing/places';
import { useScope } from '../state/session';
import { callIn } from './call';

/** What has changed about the places since the last time. */
export type PlacesChange =
  | { readonly type: 'all' }
  | { readonly type: 'put'; readonly places: readonly Place[] }
  | { readonly type: 'drop'; readonly id: string };

/** All geofences and beacons, as far as they are loaded. */
export interface AllPlaces extends State {
  /** Always the same object, which is changed in place: copies of 200,000 places would be wasteful. */
  readonly index: PlaceIndex;
  readonly byId: ReadonlyMap<string, Place>;
  /** Takes over a place that was saved, without loading the others again. */
  put(place: Place): void;
  drop(id: string): void;
  /** Loads what is missing after an error. */
  loadRest(): void;
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
  /** Why places are missing; null: none are, or they are still loaded. */
  readonly error: unknown;
}
const nothing: State = { version: 0, geofences: 0, beacons: 0, isCut: false, isComplete: false, error: null };

const kinds = ['geofence', 'beacon'] as const satisfies readonly PlaceKind[];

/** How far the places of a kind are loaded. */
interface Progress {
  loaded: number;
  /** Undefined: the first page. */
  cursor: string | undefined;
  hasMore: boolean;
}
const begin = (): Progress => ({ loaded: 0, cursor: undefined, hasMore: true });

/**
 * Loads all geofences and beacons, page by page.
 * @param onChange is called with what has changed, before the state says so.
 */
export function useAllPlaces(onChange: (change: PlacesChange) => void): AllPlaces {
  const scope = useScope();
  const client = useQueryClient();
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

  const rest = useRef(() => {});
  const loadRest = useCallback(() => rest.current(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the index is always the same object
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    index.clear();
    listener.current({ type: 'all' });
    setState((all) => ({ ...nothing, version: all.version + 1 }));
    const progress = { geofence: begin(), beacon: begin() };
    async function load(kind: PlaceKind) {
      const state = progress[kind];
      while (state.hasMore && state.loaded < maxPlaces) {
        const query = { limit: state.loaded === 0 ? firstPageSize : pageSize, cursor: state.cursor };
        // The query client's rules decide about further attempts, and wait for a server that is unreachable.
        const { outlines, meta } = await client.fetchQuery({
          queryKey: [scope, 'outlines', kind, query],
          queryFn: () => callIn(scope, operations[kind], { query, signal }),
          staleTime: 0,
          gcTime: 0,
        });
        if (signal.aborted) return;
        put(outlines.map((outline) => placeOfOutline(kind, outline)));
        state.loaded += outlines.length;
        state.hasMore = meta.hasMore;
        state.cursor = meta.cursor;
      }
      if (state.hasMore) setState((all) => ({ ...all, isCut: true }));
    }
    async function loadAll() {
      setState((all) => ({ ...all, error: null }));
      const results = await Promise.allSettled(kinds.map(load));
      if (signal.aborted) return;
      const failed = results.find((result) => result.status === 'rejected');
      setState((all) => ({ ...all, isComplete: failed === undefined, error: failed?.reason ?? null }));
    }
    rest.current = () => void loadAll();
    rest.current();
    return () => stop.abort();
  }, [scope, client, put]);
  return useMemo(
    () => ({ ...state, index, byId: index.byId, put: (place) => put([place]), drop, loadRest }),
    [state, index, put, drop, loadRest],
  );
}
