/** The timeline of a user: its locations and events over a range, on a map and in a list. */
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Event, User, UserLocation } from '../../client/types';
import { call } from '../client/call';
import { Button, Empty, Loading, Segments, TextField } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { absoluteTime, shortTime } from '../components/time';
import { eventTitle, markOf } from '../live/event-words';
import { useScope } from '../state/session';
import { useAddressTexts } from '../state/view-address';
import { Explained } from './explained';
import { nextOf, readPages } from './pages';
import { hasEvents, type Item, locationMark, locationTitle, timelineOf } from './timeline';
import { TimelineMap } from './timeline-map';
import '../styles/live.css';
import '../styles/timeline.css';

const ranges = [
  { value: 'hour', label: 'Hour', ms: 3_600_000 },
  { value: 'day', label: 'Day', ms: 86_400_000 },
  { value: 'week', label: 'Week', ms: 604_800_000 },
] as const;
type RangeName = (typeof ranges)[number]['value'];

const rowChoices = [
  { value: 'all', label: 'All locations' },
  { value: 'events', label: 'Only events' },
] as const;
type RowChoice = (typeof rowChoices)[number]['value'];

const minuteMs = 60_000;
const locationsPerPage = 500;
/** More locations of a range are left out: the newest are shown. */
const maxLocations = 3_000;
const eventsPerPage = 1_000;
/** Locations of older events say only how many they caused. */
const maxEvents = 10_000;

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

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

const two = (part: number): string => String(part).padStart(2, '0');
/** Returns the text of an input of date and time, in the zone of the browser. */
function localText(timeMs: number): string {
  const time = new Date(timeMs);
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

const addressNames = ['range', 'from', 'to', 'at'] as const;
type Address = Readonly<Record<(typeof addressNames)[number], string>>;

const addressOf = ({ fromMs, toMs }: Range) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});
const ownRangeIn = ({ from, to }: Address): Range => ({ fromMs: Date.parse(from), toMs: Date.parse(to) });

/** Returns the range that the address names. One whose times were cut on their way is the last day. */
function rangeNameIn(address: Address): RangeName | 'own' {
  const { fromMs, toMs } = ownRangeIn(address);
  if (address.range === 'own' && fromMs < toMs) return 'own';
  return ranges.find(({ value }) => value === address.range)?.value ?? 'day';
}

export function Timeline({ user }: { readonly user: User }) {
  const scope = useScope();
  const [address, putAddress] = useAddressTexts(addressNames);
  const { at } = address;
  // A link may have been cut on its way.
  const wantedAt = Number.isNaN(Date.parse(at)) ? null : at;
  const [initialEndMs] = useState(() => Math.max(Date.now(), Date.parse(user.updatedAt)) + 1_000);
  const [name, setName] = useState(() => rangeNameIn(address));
  const [range, setRange] = useState<Range>(() => {
    if (name === 'own') return ownRangeIn(address);
    const ms = ranges.find(({ value }) => value === name)!.ms;
    if (name !== 'day') return { fromMs: initialEndMs - ms, toMs: initialEndMs };
    const endMs = wantedAt ? Math.min(Date.parse(wantedAt) + 43_200_000, initialEndMs) : initialEndMs;
    return { fromMs: endMs - ms, toMs: endMs };
  });
  const [own, setOwn] = useState({ from: localText(range.fromMs), to: localText(range.toMs) });
  const loaded = useQuery({
    queryKey: [scope, 'users', 'timeline', user._id, range],
    queryFn: ({ signal }) => loadTimeline(user._id, range, signal),
  });
  // A device on its way sends many locations that cause nothing.
  const [rows, setRows] = useState<RowChoice>('all');
  const items = loaded.data?.items ?? [];
  const withEvents = useMemo(() => (loaded.data?.items ?? []).filter(hasEvents), [loaded.data]);
  const shown = rows === 'all' ? items : withEvents;
  const [chosen, setChosen] = useState<string>();
  const locations = useMemo(
    () => (loaded.data?.items ?? []).flatMap((item) => (item.kind === 'location' ? [item.location] : [])),
    [loaded.data],
  );
  const marks = useMemo(
    () =>
      new Map(
        (loaded.data?.items ?? []).flatMap((item) =>
          item.kind === 'location' && hasEvents(item) ? [[item.location._id, locationMark(item)] as const] : [],
        ),
      ),
    [loaded.data],
  );
  const location = locations.find(({ _id }) => _id === chosen);
  // A link to an event chooses the location that caused it, once: its user may choose another one, or none.
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
    putAddress({ at });
  }
  function chooseRange(next: RangeName | 'own') {
    setName(next);
    const ms = ranges.find(({ value }) => value === next)?.ms;
    if (ms === undefined) {
      putAddress({ range: next, ...addressOf(range) });
      return;
    }
    const toMs = Math.max(Date.now(), Date.parse(user.updatedAt)) + 1_000;
    putAddress({ range: next === 'day' ? '' : next, from: '', to: '' });
    setRange({ fromMs: toMs - ms, toMs });
    setOwn({ from: localText(toMs - ms), to: localText(toMs) });
  }
  const [fromMs, toMs] = [Date.parse(own.from), Date.parse(own.to)];
  const ownProblem = fromMs < toMs ? undefined : 'Must be before the end';
  const options = [...ranges, { value: 'own', label: 'Own' } as const];
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
        <Segments legend="Range" value={name} options={options} onChange={chooseRange} />
      </div>
      {name === 'own' && (
        <form
          className="card card-body own-range"
          onSubmit={(event) => {
            event.preventDefault();
            if (ownProblem !== undefined) return;
            const shown = { fromMs, toMs: toMs + minuteMs };
            setRange(shown);
            putAddress(addressOf(shown));
          }}
        >
          <TextField
            label="From"
            type="datetime-local"
            value={own.from}
            problem={ownProblem}
            onChange={(from) => setOwn({ ...own, from })}
          />
          <TextField label="To" type="datetime-local" value={own.to} onChange={(to) => setOwn({ ...own, to })} />
          <Button type="submit" disabled={ownProblem !== undefined}>
            Show
          </Button>
        </form>
      )}
      <LoadProblem query={loaded} />
      <div className="timeline-grid">
        <TimelineMap
          locations={locations}
          marks={marks}
          chosen={location}
          explained={explained.data}
          onChoose={choose}
        />
        <div className="card timeline-list">
          {items.length > 0 && (
            <div className="timeline-rows">
              <Segments legend="Rows" value={rows} options={rowChoices} onChange={(next) => setRows(next)} />
            </div>
          )}
          {loaded.isPending ? (
            <Loading />
          ) : items.length === 0 ? (
            <Empty title="No location in this range">
              <p>
                Locations are stored for 7 days. The last one came <RelativeTime time={user.updatedAt} />.
              </p>
            </Empty>
          ) : shown.length === 0 ? (
            <Empty title="No event in this range" />
          ) : (
            <ItemList key={rows} items={shown} chosen={chosen} onChoose={choose} />
          )}
          {items.length > 0 && (
            <p className="table-foot" role="status">
              {loaded.data?.hasMore && 'The newest '}
              {counted(locations.length, 'location')}, {grouped(withEvents.length)} with events
            </p>
          )}
        </div>
      </div>
      {location && (
        <Explained
          location={location}
          answer={explained.data}
          error={explained.error}
          onClose={() => choose(undefined)}
        />
      )}
      {!location && items.length > 0 && (
        <p className="quiet">Choose a location to see why it made events, and why it did not make others.</p>
      )}
    </section>
  );
}

const rowHeight = 60;

interface ItemListProps {
  readonly items: readonly Item[];
  readonly chosen: string | undefined;
  onChoose(id: string): void;
}

function ItemList({ items, chosen, onChoose }: ItemListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const index = items.findIndex((item) => item.kind === 'location' && item.location._id === chosen);
  useEffect(() => {
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'auto' });
  }, [index, virtualizer]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="live-scroll" ref={scroller} aria-label="Locations and events" tabIndex={0}>
      <ol style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start, key }) => (
          <li key={key} style={{ transform: `translateY(${start}px)`, height: rowHeight }}>
            <ItemRow item={items[index]!} chosen={chosen} onChoose={onChoose} />
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
          <span className="event-title truncate">{eventTitle(item.event)}</span>
          <span className="quiet small truncate">Without a stored location</span>
        </span>
        <time className="quiet small">{absoluteTime(item.at)}</time>
      </div>
    );
  }
  const { location } = item;
  return (
    <button
      type="button"
      className="event-row"
      aria-current={location._id === chosen || undefined}
      onClick={() => onChoose(location._id)}
    >
      <span className={`mark ${locationMark(item)}`} />
      <span className="grow">
        <span className={`truncate ${hasEvents(item) ? 'event-title' : 'quiet'}`}>{locationTitle(item)}</span>
        <span className="quiet small truncate">
          ±{Math.round(location.locationAccuracy)} m{location.stopped && ' · stopped'}
          {location.foreground && ' · foreground'}
        </span>
      </span>
      <time className="quiet small" dateTime={location.at} title={absoluteTime(location.at)}>
        {shortTime(location.at)}
      </time>
    </button>
  );
}
