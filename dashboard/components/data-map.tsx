/**
 * A map that draws what a view gives it: collections of features by name, and layers that show them. It has this
 * server's own style and tiles, follows the theme, and says so where the browser cannot draw it.
 */
import type { Feature, FeatureCollection } from 'geojson';
import { useEffect, useRef, useState } from 'react';
import { type PicturedView, subjectOf } from '../state/map-picture';
import { useScope } from '../state/session';
import { useTheme } from '../state/use-theme';
import { Notice } from './controls';
import { useLastPicture } from './last-picture';
import type { createLayeredMap, DataMapProps } from './layered-map';
import { styleOfTheme } from './map-look';
import { loadMap, problemOfMap } from './map-start';

export type { Layer, LngLat, MapHandle, MovingDot, Palette } from './layered-map';

/** Returns what a source of the map shows. */
export const collectionOf = (features: readonly Feature[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: [...features],
});

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
  const [problem, setProblem] = useState<string>();
  const hasFailed = problem !== undefined;
  const subject = subjectOf(scope, styleOfTheme(theme));
  const picture = useLastPicture(pictured, subject, () => [subject]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme goes to the map that is there
  useEffect(() => {
    let isGone = false;
    loadMap(styleOfTheme(theme), () => import('./layered-map'))
      .then(({ createLayeredMap, mapPictures }) => {
        if (isGone) return;
        created.current = createLayeredMap(container.current!, styleOfTheme(theme), () => latest.current);
        latest.current.onReady(created.current.handle);
        picture.watch(created.current.base.map, mapPictures);
      })
      .catch((error) => setProblem(problemOfMap(error)));
    return () => {
      isGone = true;
      created.current?.base.map.remove();
      created.current = null;
    };
  }, []);
  useEffect(() => created.current?.base.setStyle(styleOfTheme(theme)), [theme]);
  return (
    <section className={`map-frame ${props.className ?? ''}`} aria-label={props.label}>
      {!hasFailed && picture.image}
      <div className="map-canvas" data-pictured={picture.isShown && !hasFailed} ref={container} />
      {props.onClick && <div className="map-crosshair" aria-hidden="true" />}
      {hasFailed && (
        <div className="map-failed">
          <Notice tone="warning">{problem} The lists work without it.</Notice>
        </div>
      )}
    </section>
  );
}
