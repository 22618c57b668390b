/** Loads all geofences and beacons of an environment for the map, page by page. */
import { useEffect, useState } from 'react';
import { useScope } from '../state/session';
import { call } from './call';
import type { Beacon, Geofence } from './types';

export interface Places {
  readonly geofences: readonly Geofence[];
  readonly beacons: readonly Beacon[];
  readonly isComplete: boolean;
  readonly error: unknown;
}

const pageSize = 1_000;
/** More are left out: a browser's memory is bounded. */
export const maxPlaces = 100_000;
/** A map that is drawn again for each page would be busy only with that. */
const shownEveryPages = 10;

const none: Places = { geofences: [], beacons: [], isComplete: false, error: null };

type Page<Row> = { readonly rows: readonly Row[]; readonly cursor: string | undefined };

async function loadAll<Row>(load: (cursor: string | undefined) => Promise<Page<Row>>, show: (rows: Row[]) => void) {
  const rows: Row[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await load(cursor);
    rows.push(...page.rows);
    cursor = page.cursor;
    pages += 1;
    if (cursor === undefined || pages === 1 || pages % shownEveryPages === 0) show([...rows]);
  } while (cursor !== undefined && rows.length < maxPlaces);
}

const cursorOf = ({ hasMore, cursor }: { hasMore: boolean; cursor?: string }): string | undefined =>
  hasMore ? cursor : undefined;

export function useAllPlaces(): Places {
  const scope = useScope();
  const [places, setPlaces] = useState(none);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope has other places
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    setPlaces(none);
    const put = (part: Partial<Places>) => !signal.aborted && setPlaces((all) => ({ ...all, ...part }));
    async function load() {
      try {
        await loadAll(
          async (cursor) => {
            const { geofences, meta } = await call('GET /v1/geofences', { query: { limit: pageSize, cursor }, signal });
            return { rows: geofences, cursor: cursorOf(meta) };
          },
          (geofences) => put({ geofences }),
        );
        await loadAll(
          async (cursor) => {
            const { beacons, meta } = await call('GET /v1/beacons', { query: { limit: pageSize, cursor }, signal });
            return { rows: beacons, cursor: cursorOf(meta) };
          },
          (beacons) => put({ beacons }),
        );
        put({ isComplete: true });
      } catch (error) {
        put({ error });
      }
    }
    void load();
    return () => stop.abort();
  }, [scope]);
  return places;
}
