/**
 * A map that draws what a view gives it: collections of features by name, and layers that show them. It has this
 * server's own style and tiles, follows the theme, and says so where the browser cannot draw it.
 */
import { useEffect, useMemo, useRef, useState } from 'react';
import { type PicturedView, readPicture, subjectOf, writePicture } from '../state/map-picture';
import { useScope } from '../state/session';
import { useTheme } from '../state/theme';
import { Notice } from './controls';
import type { createLayeredMap, DataMapProps } from './layered-map';
import { styleOfTheme } from './map-look';
import { loadMap } from './map-start';

export type { Layer, LngLat, MapHandle, MovingDot, Palette } from './layered-map';

interface Props extends DataMapProps {
  /** Keeps a picture of the map for the next time. */
  readonly pictured?: PicturedView;
}

export function DataMap({ pictured, ...props }: Props) {
  const scope = useScope();
  const theme = useTheme();
  const container = useRef<HTMLDivElement>(null);
  const created = useRef<ReturnType<typeof createLayeredMap>>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hasFailed, setFailed] = useState(false);
  const [isDrawn, setDrawn] = useState(false);
  const subject = subjectOf(scope, styleOfTheme(theme));
  const keep = useRef((_: string) => {});
  keep.current = (url) => pictured && writePicture(pictured, { of: [subject], url });
  const picture = useMemo(() => pictured && readPicture(pictured, subject), [pictured, subject]);
  const isPictured = picture !== undefined && !isDrawn && !hasFailed;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme goes to the map that is there
  useEffect(() => {
    let isGone = false;
    loadMap(() => import('./layered-map'))
      .then(({ createLayeredMap, takePictures, whenDrawn }) => {
        if (isGone) return;
        created.current = createLayeredMap(container.current!, styleOfTheme(theme), () => latest.current);
        latest.current.onReady(created.current.handle);
        const { map } = created.current.base;
        whenDrawn(map, () => setDrawn(true));
        if (pictured) takePictures(map, (url) => keep.current(url));
      })
      .catch(() => setFailed(true));
    return () => {
      isGone = true;
      created.current?.base.map.remove();
      created.current = null;
    };
  }, []);
  useEffect(() => created.current?.base.setStyle(styleOfTheme(theme)), [theme]);
  return (
    <section className={`map-frame ${props.className ?? ''}`} aria-label={props.label}>
      {isPictured && <img className="map-picture" src={picture} alt="" decoding="sync" />}
      <div className="map-canvas" data-pictured={isPictured} ref={container} />
      {hasFailed && (
        <div className="map-failed">
          <Notice tone="warning">This browser cannot draw the map: it has no WebGL. The lists work without it.</Notice>
        </div>
      )}
    </section>
  );
}
