/** The geofences of an environment as the background of a map. */
import { useEffect, useMemo, useRef } from 'react';
import type { Loadable } from '../components/load-problem';
import { PlaceIndex, placeOfOutline } from '../drawing/places';
import { maxPlaces } from './all-places';
import type { Answer } from './call';
import { usePages } from './hooks';

type Page = Answer<'GET /v1/geofences/outlines'>;

const pageSize = 5_000;
const noPages: readonly Page[] = [];

/** The geofences behind the data of a map, as far as they are loaded. */
export interface Fences {
  /** Another object whenever the geofences have changed. */
  readonly loaded: { readonly index: PlaceIndex };
  /** Whether more are on their way. */
  readonly isLoading: boolean;
  /** Whether there are more than {@link maxPlaces}. */
  readonly isCut: boolean;
  /** Whether they could be loaded. */
  readonly query: Loadable;
}

/** Indexes the pages. Only those that are new are read, unless an earlier one has changed. */
function useIndex(pages: readonly Page[]): Fences['loaded'] {
  const before = useRef({ index: new PlaceIndex(), pages: noPages });
  return useMemo(() => {
    const isContinued = before.current.pages.every((page, at) => page === pages[at]);
    const { index, pages: known } = isContinued ? before.current : { index: new PlaceIndex(), pages: noPages };
    for (const { outlines } of pages.slice(known.length)) {
      index.put(outlines.map((outline) => placeOfOutline('geofence', outline)));
    }
    before.current = { index, pages };
    return { index };
  }, [pages]);
}

/** Loads their outlines, which are a tenth of the records, page by page. @param isWanted false: not yet. */
export function useFences(isWanted: boolean): Fences {
  const query = { limit: pageSize };
  const pages = usePages('GET /v1/geofences/outlines', { query }, { staleTime: 60_000, enabled: isWanted });
  const loaded = useIndex(pages.data?.pages ?? noPages);
  const { hasNextPage, isFetching, error, fetchNextPage } = pages;
  const isFull = loaded.index.byId.size >= maxPlaces;
  const isLoading = hasNextPage && !isFull && error === null;
  useEffect(() => {
    if (isLoading && !isFetching) void fetchNextPage();
  }, [isLoading, isFetching, fetchNextPage]);
  return { loaded, isLoading, isCut: isFull && hasNextPage, query: pages };
}
