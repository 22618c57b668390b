/** The timeline of a user: its locations and events over a range, on a map and in a list. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Event, User, UserLocation } from '../../client/types';
import { call } from '../client/call';
import { Empty, Loading, Segments } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { absoluteTime, shortTime } from '../components/time';
import { useVirtualRows } from '../components/virtual-rows';
import { EventTitle } from '../live/event-title';
import { accuracyText, markOf } from '../live/event-words';
import { useScope } from '../state/session';
import { useAddressTexts } from '../state/view-address';
import { Explained } from './explained';
import { nextOf, readPages } from './pages';
import { addressNames, OwnRangeForm, type Range, rangeChoices, useRange, wantedAtIn } from './range';
import { hasEvents, type Item, locationMark, locationTitle, timelineOf } from './timeline';
import { TimelineMap } from './timeline-map';
import '../styles/live.css';
import '../styles/timeline.css';

const rowChoices = [
  { value: 'all', label: 'All locations' },
  { value: 'events', label: 'Only events' },
] as const;
type RowChoice = (typeof rowChoices)[number]['value'];

const locationsPerPage = 500;
/** More locations of a range are left out: the newest are shown. */
const maxLocations = 3_000;
const eventsPerPage = 1_000;
/** Locations of older events say only how many they caused. */
const maxEvents = 10_000;

/** Loads the locations and events of a range, newest first. */
async function loadTimeline(user: string, { fromMs, toMs }: Range, signal: AbortSignal) {
  const [after, before] = [new Date(fromMs - 1).toISOString(), new Date(toMs).toISOString()];
  const { items: locations, hasMore } = await readPages<UserLocation>(async (cursor) => {
    const query = { limit: locationsPerPage, after, before, cursor };
    const page = await call('GET /v1/users/{id}/locations', { path: { id: user }, query, signal });
    return { items: page.locations, cursor: nextOf(page.meta) };
  }, maxLocations);
  const oldestMs = hasMore ? Date.parse(locations.at(-1)!.at) : fromMs;
  const { items: events } = await readPages<Event>(async (cursor) => {
    const createdAfter = new Date(oldestMs - 1).toISOString();
    const query = { user, limit: eventsPerPage, createdAfter, createdBefore: before, cursor };
    const page = await call('GET /v1/events', { query, signal });
    return { items: page.events, cursor: nextOf(page.meta) };
  }, maxEvents);
  return { items: timelineOf(locations, events), hasMore };
}

/** Keeps the chosen location. A link to an event chooses the location that caused it. */
function useChosen(locations: readonly UserLocation[], wantedAt: string | null, putAt: (at: string) => void) {
  const [chosen, setChosen] = useState<string>();
  // Once: its user may choose another one, or none.
  const followed = useRef<string>(undefined);
  useEffect(() => {
    if (wantedAt === null || followed.current === wantedAt) return;
    const wanted = locations.find(({ at }) => Date.parse(at) === Date.parse(wantedAt));
    if (wanted === undefined) return;
    followed.current = wantedAt;
    setChosen(wanted._id);
  }, [locations, wantedAt]);

  /** Shows why the location made events, also to who gets the address; undefined: none is chosen. */
  function choose(id: string | undefined) {
    const at = locations.find(({ _id }) => _id === id)?.at ?? '';
    followed.current = at;
    setChosen(id);
    putAt(at);
  }
  return [locations.find(({ _id }) => _id === chosen), choose] as const;
}

const noItems: readonly Item[] = [];

export function Timeline({ user }: { readonly user: User }) {
  const scope = useScope();
  const texts = useAddressTexts(addressNames);
  const [address, putAddress] = texts;
  const { name, range, own, setOwn, choose: chooseRange, showOwn } = useRange(user, texts);
  const loaded = useQuery({
    queryKey: [scope, 'users', 'timeline', user._id, range],
    queryFn: ({ signal }) => loadTimeline(user._id, range, signal),
  });
  const items = loaded.data?.items ?? noItems;
  const locations = useMemo(() => items.flatMap((item) => (item.kind === 'location' ? [item.location] : [])), [items]);
  const marks = useMemo(
    () =>
      new Map(
        items.flatMap((item) =>
          item.kind === 'location' && hasEvents(item) ? [[item.location._id, locationMark(item)] as const] : [],
        ),
      ),
    [items],
  );
  const [location, choose] = useChosen(locations, wantedAtIn(address), (at) => putAddress({ at }));
  const explained = useQuery({
    queryKey: [scope, 'explain', user._id, location?._id],
    enabled: location !== undefined,
    queryFn: ({ signal }) =>
      call('GET /v1/users/{id}/locations/{locationId}/explanation', {
        path: { id: user._id, locationId: location!._id },
        signal,
      }),
  });
  return (
    <section className="stack" aria-label="Timeline">
      <div className="spread">
        <h2>Timeline</h2>
        <Segments legend="Range" value={name} options={rangeChoices} onChange={chooseRange} />
      </div>
      {name === 'own' && <OwnRangeForm own={own} onType={setOwn} onShow={showOwn} />}
      <LoadProblem query={loaded} />
      <div className="timeline-grid">
        <TimelineMap
          locations={locations}
          marks={marks}
          chosen={location}
          explained={explained.data}
          onChoose={choose}
        />
        {/* Without an answer nobody knows whether the range is empty. */}
        {(loaded.isPending || loaded.data) && (
          <Rows
            items={items}
            isLoading={loaded.isPending}
            hasMore={loaded.data?.hasMore ?? false}
            updatedAt={user.updatedAt}
            chosen={location?._id}
            onChoose={choose}
          />
        )}
      </div>
      {location && (
        <Explained location={location} answer={explained.data} query={explained} onClose={() => choose(undefined)} />
      )}
      {!location && items.length > 0 && (
        <p className="quiet">Choose a location to see why it made events, and why it did not make others.</p>
      )}
    </section>
  );
}

interface RowsProps extends ItemListProps {
  readonly isLoading: boolean;
  /** Whether older items of the range are left out. */
  readonly hasMore: boolean;
  /** The time of the user's last location. */
  readonly updatedAt: string;
}

/** The items beside the map: all of them, or those with events. */
function Rows({ items, isLoading, hasMore, updatedAt, chosen, onChoose }: RowsProps) {
  // A device on its way sends many locations that cause nothing.
  const [rows, setRows] = useState<RowChoice>('all');
  const withEvents = useMemo(() => items.filter(hasEvents), [items]);
  const shown = rows === 'all' ? items : withEvents;
  const locationCount = items.filter(({ kind }) => kind === 'location').length;
  return (
    <div className="card timeline-list">
      {items.length > 0 && (
        <div className="timeline-rows">
          <Segments legend="Rows" value={rows} options={rowChoices} onChange={(next) => setRows(next)} />
        </div>
      )}
      {isLoading ? (
        <Loading />
      ) : items.length === 0 ? (
        <Empty title="No location in this range">
          <p>
            Locations are stored for 7 days. The last one came <RelativeTime time={updatedAt} />.
          </p>
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No event in this range" />
      ) : (
        <ItemList key={rows} items={shown} chosen={chosen} onChoose={onChoose} />
      )}
      {items.length > 0 && (
        <p className="table-foot" role="status">
          {hasMore && 'The newest '}
          {counted(locationCount, 'location')}, {grouped(withEvents.length)} with events
        </p>
      )}
    </div>
  );
}

const rowHeight = 60;

const keyOf = (item: Item): string => (item.kind === 'event' ? item.event._id : item.location._id);

interface ItemListProps {
  readonly items: readonly Item[];
  readonly chosen: string | undefined;
  onChoose(id: string): void;
}

function ItemList({ items, chosen, onChoose }: ItemListProps) {
  const { scroller, virtualizer, rows, listeners, itemProps } = useVirtualRows({
    count: items.length,
    rowHeight,
    keyOf: (index) => keyOf(items[index]!),
  });
  const index = items.findIndex((item) => item.kind === 'location' && item.location._id === chosen);
  useEffect(() => {
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'auto' });
  }, [index, virtualizer]);
  return (
    <section className="live-scroll" ref={scroller} aria-label="Locations and events" {...listeners}>
      <ol style={{ height: virtualizer.getTotalSize() }}>
        {rows.map((row) => (
          <li key={row.key} {...itemProps(row)}>
            <ItemRow item={items[row.index]!} chosen={chosen} onChoose={onChoose} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function ItemRow({ item, chosen, onChoose }: Omit<ItemListProps, 'items'> & { readonly item: Item }) {
  if (item.kind === 'event') {
    return (
      <div className="event-row">
        <span className={`mark ${markOf(item.event)}`} />
        <span className="grow">
          <EventTitle event={item.event} />
          <span className="quiet small truncate">Without a stored location</span>
        </span>
        <time className="quiet small">{absoluteTime(item.at)}</time>
      </div>
    );
  }
  const { location } = item;
  const [first] = item.events;
  return (
    <button
      type="button"
      className="event-row"
      aria-current={location._id === chosen || undefined}
      onClick={() => onChoose(location._id)}
    >
      <span className={`mark ${locationMark(item)}`} />
      <span className="grow">
        {first ? (
          <EventTitle event={first} more={location.events.length - 1} />
        ) : (
          <span className={hasEvents(item) ? 'event-title' : 'quiet truncate'}>{locationTitle(item)}</span>
        )}
        <span className="quiet small truncate">
          {accuracyText(location.locationAccuracy)}
          {location.stopped && ' · stopped'}
          {location.foreground && ' · foreground'}
        </span>
      </span>
      <time className="quiet small" dateTime={location.at} title={absoluteTime(location.at)}>
        {shortTime(location.at)}
      </time>
    </button>
  );
}
