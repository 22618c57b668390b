/** A card of analytics: a chart and the table with the same numbers, and both as CSV. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Loading, Segments } from '../components/controls';
import { DownloadLink } from '../components/download-link';
import { type Loadable, LoadProblem } from '../components/load-problem';
import { isElsewhere } from '../forms/draft';
import { type PlaceNames, placeId } from './format';
import type { QueryRange } from './range';

/** Returns whether the element has come into sight, so that panels out of sight are not requested. */
export function useSeen() {
  const element = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        setSeen(true);
        observer.disconnect();
      },
      { rootMargin: '200px' },
    );
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, isSeen };
}

/** What all queries of the page share. */
interface Filter {
  readonly kind: 'geofence' | 'beacon';
  readonly tag: string | undefined;
  readonly externalId: string | undefined;
}

/** What each panel of the page is given. */
export interface PanelProps {
  readonly range: QueryRange;
  readonly filter: Filter;
  /** How often to ask again; false: the range is over. */
  readonly refreshMs: number | false;
  /** Shows only this place. */
  choose(place: { readonly tag?: string | undefined; readonly externalId?: string | undefined }): void;
}

type Shown = 'picture' | 'rows';

interface Props {
  readonly title: string;
  readonly className?: string;
  /** Stands beside the title. */
  readonly tools?: ReactNode;
  /** The address of the CSV. */
  readonly csv: string;
  readonly query: Loadable;
  /** Shown in place of chart and table; undefined: there are rows. */
  readonly empty: string | undefined;
  readonly chart: () => ReactNode;
  readonly table: () => ReactNode;
  /** Stands below, whatever is shown. */
  readonly foot?: ReactNode;
  readonly names?: readonly [chart: string, table: string];
  onShow?(shown: Shown): void;
}

/** Chart and table are made only when they are shown. */
export function Panel({
  title,
  className = '',
  tools,
  csv,
  query,
  empty,
  chart,
  table,
  names = ['Chart', 'Table'],
  foot,
  onShow,
}: Props) {
  const [shown, setShown] = useState<Shown>('picture');
  const options = [
    { value: 'picture', label: names[0] },
    { value: 'rows', label: names[1] },
  ] as const;
  return (
    <section className={`card panel ${className}`} aria-label={title} aria-busy={query.isFetching}>
      <div className="card-head">
        <h2>{title}</h2>
        <div className="row">
          {tools}
          <Segments
            legend={`Show ${title.toLowerCase()} as`}
            className="compact"
            value={shown}
            options={options}
            onChange={(next) => {
              setShown(next);
              onShow?.(next);
            }}
          />
          <DownloadLink
            className="button compact icon"
            href={csv}
            aria-label={`${title} as CSV`}
            title="Download as CSV"
          />
        </div>
      </div>
      {isElsewhere(query.error, ['from', 'to']) ? (
        <LoadProblem query={query} isInCard />
      ) : query.isPending || query.error ? (
        // A refusal of the dates stands beside them, once for all panels.
        <Loading rows={7} />
      ) : empty !== undefined ? (
        <p className="panel-empty quiet">{empty}</p>
      ) : shown === 'picture' ? (
        <div className="panel-chart">{chart()}</div>
      ) : (
        table()
      )}
      {foot && <div className="table-foot">{foot}</div>}
    </section>
  );
}

interface PlaceProps extends Pick<PanelProps, 'choose'> {
  readonly place: PlaceNames;
  /** Of all places beside it. */
  readonly names: ReadonlyMap<string, string>;
  readonly hasTag?: boolean;
}

/** A place's name, which limits the page to the place. */
export const PlaceButton = ({ place, names, hasTag = false, choose }: PlaceProps) => (
  <>
    <button
      type="button"
      className="place-button left"
      dir="auto"
      onClick={() => choose(place)}
      title="Show only this place"
    >
      {names.get(placeId(place))}
    </button>
    {hasTag && <span className="quiet small">{place.tag}</span>}
  </>
);

interface Ranked {
  readonly key: string;
  readonly name: ReactNode;
  readonly value: number;
  readonly text: string;
}

/** Bars with their names beside them, the largest first: a chart that is text too. */
export function RankedBars({ label, rows }: { readonly label: string; readonly rows: readonly Ranked[] }) {
  const largest = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <ol className="ranked" aria-label={label}>
      {rows.map(({ key, name, value, text }) => (
        <li key={key}>
          <span className="ranked-name">{name}</span>
          <Bar share={value / largest} />
          <span className="number">{text}</span>
        </li>
      ))}
    </ol>
  );
}

/** A bar that fills the share of its width. */
export const Bar = ({ share }: { readonly share: number }) => (
  <svg className="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect className="bar-track" width="100" height="8" />
    <rect className="bar-part" width={Math.max(share > 0 ? 1 : 0, 100 * share)} height="8" />
  </svg>
);
