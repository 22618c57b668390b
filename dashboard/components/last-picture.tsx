/** The last picture of a view's map, in place of the map until it is drawn. */
import type { Map as MapLibreMap } from 'maplibre-gl';
import { useMemo, useRef, useState } from 'react';
import { frameOf, type PicturedView, readPicture, writePicture } from '../state/map-picture';
import type { MapPictures } from './map-pictures';

interface LastPicture {
  /** Whether the picture stands in for the map. */
  readonly isShown: boolean;
  readonly image: React.ReactNode;
  /** Takes pictures of the created map. The functions come with the map, which is loaded later than the page. */
  watch(map: MapLibreMap, pictures: MapPictures): void;
}

/**
 * Returns the picture of a view, and keeps new ones. Without a view there is none.
 *
 * @param subject is what the map shows at first. A picture of something else is not shown.
 * @param subjectsNow names what the map shows when a picture is taken.
 */
export function useLastPicture(
  view: PicturedView | undefined,
  subject: string,
  subjectsNow: () => readonly string[],
): LastPicture {
  const [isDrawn, setDrawn] = useState(false);
  const latest = useRef(subjectsNow);
  latest.current = subjectsNow;
  const url = useMemo(() => view && readPicture(view, subject)?.url, [view, subject]);
  const isShown = url !== undefined && !isDrawn;
  return {
    isShown,
    image: isShown && <img className="map-picture" src={url} alt="" decoding="sync" />,
    watch(map, { takePictures, whenDrawn }) {
      whenDrawn(map, () => setDrawn(true));
      if (view) {
        const keep = (url: string) =>
          writePicture(view, { of: latest.current(), url, frame: frameOf(map.getContainer()) });
        takePictures(map, keep);
      }
    },
  };
}
