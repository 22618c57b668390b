/** Loads all geofences and beacons of an environment for the map, page by page, and keeps little of each. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Place, placeOfBeacon, placeOfGeofence } from '../drawing/places';
import { useScope } from '../state/session';
import { call } from './call';

/** What has changed about the places since the last time. */
export type PlacesChange =
  | { readonly type: 'all' }
  | { readonly type: 'put'; readonly places: readonly Place[] }
  | { readonly type: 'drop'; readonly id: string };

export interface AllPlaces {
  /** Always the same map, which changes: copies of 200,000 places would be work for nothing. */
  readonly byId: ReadonlyMap<string, Place>;
  /** Changes with the places. */
  readonly version: number;
  readonly geofences: number;
  readonly beacons: number;
  /** Whether there are more than are loaded. */
  readonly isCut: boolean;
  readonly isComplete: boolean;
  readonly error: unknown;
  /** Takes over a place that was saved, without loading the others again. */
  put(place: Place): void;
  drop(id: string): void;
}

const pageSize = 1_000;
/** Of each kind. More are left out: a browser's memory is bounded. */
export const maxPlaces = 100_000;
/** So many pages are asked for before they are shown: a map that is drawn for each page would be busy only with that. */
const shownEveryPages = 5;

type Page = { readonly places: readonly Place[]; readonly cursor: string | undefined };

const cursorOf = ({ hasMore, cursor }: { hasMore: boolean; cursor?: string }): string | undefined =>
  hasMore ? cursor : undefined;

const loaders: readonly ((cursor: string | undefined, signal: AbortSignal) => Promise<Page>)[] = [
  async (cursor, signal) => {
    const { geofences, meta } = await call('GET /v1/geofences', { query: { limit: pageSize, cursor }, signal });
    return { places: geofences.map(placeOfGeofence), cursor: cursorOf(meta) };
  },
  async (cursor, signal) => {
    const { beacons, meta } = await call('GET /v1/beacons', { query: { limit: pageSize, cursor }, signal });
    return { places: beacons.flatMap((beacon) => placeOfBeacon(beacon) ?? []), cursor: cursorOf(meta) };
  },
];

interface State {
  readonly version: number;
  readonly geofences: number;
  readonly beacons: number;
  readonly isCut: boolean;
  readonly isComplete: boolean;
  readonly error: unknown;
}
const nothing: State = { version: 0, geofences: 0, beacons: 0, isCut: false, isComplete: false, error: null };

/** @param onChange is called with what has changed, before the state says so. */
export function useAllPlaces(onChange: (change: PlacesChange) => void): AllPlaces {
  const scope = useScope();
  const byId = useRef(new Map<string, Place>()).current;
  const listener = useRef(onChange);
  listener.current = onChange;
  const [state, setState] = useState(nothing);

  const put = useCallback(
    (places: readonly Place[]) => {
      const added = { geofence: 0, beacon: 0 };
      for (const place of places) {
        if (!byId.has(place.id)) added[place.kind] += 1;
        byId.set(place.id, place);
      }
      listener.current({ type: 'put', places });
      setState((all) => ({
        ...all,
        version: all.version + 1,
        geofences: all.geofences + added.geofence,
        beacons: all.beacons + added.beacon,
      }));
    },
    [byId],
  );
  const drop = useCallback(
    (id: string) => {
      const place = byId.get(id);
      if (place === undefined) return;
      byId.delete(id);
      listener.current({ type: 'drop', id });
      const name = place.kind === 'geofence' ? 'geofences' : 'beacons';
      setState((all) => ({ ...all, version: all.version + 1, [name]: all[name] - 1 }));
    },
    [byId],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope has other places
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    byId.clear();
    listener.current({ type: 'all' });
    setState((all) => ({ ...nothing, version: all.version + 1 }));
    async function load() {
      try {
        for (const page of loaders) {
          let cursor: string | undefined;
          let waiting: Place[] = [];
          let [pages, loaded] = [0, 0];
          do {
            const next = await page(cursor, signal);
            if (signal.aborted) return;
            waiting.push(...next.places);
            loaded += next.places.length;
            cursor = next.cursor;
            pages += 1;
            if (pages > 1 && pages % shownEveryPages !== 0 && cursor !== undefined) continue;
            put(waiting);
            waiting = [];
          } while (cursor !== undefined && loaded < maxPlaces);
          if (waiting.length > 0) put(waiting);
          const isCut = cursor !== undefined;
          if (isCut) setState((all) => ({ ...all, isCut }));
        }
        setState((all) => ({ ...all, isComplete: true }));
      } catch (error) {
        if (!signal.aborted) setState((all) => ({ ...all, error }));
      }
    }
    void load();
    return () => stop.abort();
  }, [scope]);
  return useMemo(() => ({ ...state, byId, put: (place) => put([place]), drop }), [state, byId, put, drop]);
}
