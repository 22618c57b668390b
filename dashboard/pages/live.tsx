/** What happens now: devices move on a map, and events arrive beside it. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Event, Status } from '../../client/types';
import { call, Failure } from '../client/call';
import { followEvents } from '../client/events';
import { useFences } from '../client/fences';
import { useApi } from '../client/hooks';
import type { StreamState } from '../client/stream';
import { Badge, Block, Button, Dialog, Empty, Notice, Page } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { DataMap, type Layer, type LngLat, type MapHandle, type MovingDot, type Palette } from '../components/data-map';
import { useFencesOnMap } from '../components/fences-on-map';
import { Icon } from '../components/icons';
import { TypedFilter } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import { whenPainted } from '../components/map-start';
import { RelativeTime } from '../components/relative-time';
import { Sparkline } from '../components/sparkline';
import { Tile, Tiles } from '../components/tiles';
import { absoluteTime, timeOfDay } from '../components/time';
import { messageOf } from '../components/toasts';
import { useVirtualRows } from '../components/virtual-rows';
import { cornersOf } from '../drawing/places';
import { EventTitle } from '../live/event-title';
import {
  accuracyText,
  durationText,
  eventNames,
  eventTitle,
  eventTypes,
  lagText,
  markOf,
  whoOf,
} from '../live/event-words';
import {
  type Arrived,
  addArrived,
  createInbox,
  type EventFilter,
  emptyFeed,
  matchesFilter,
  medianLagMs,
  resume,
} from '../live/feed';
import { askAfter, drawEveryMs, drawnAt, type Fleet, isMoving, maxDevices, moved, noFleet } from '../live/fleet';
import { useScope } from '../state/session';
import { useAddressTexts } from '../state/view-address';
import '../styles/live.css';

const positionsEveryMs = 2_000;
const statusEveryMs = 5_000;
const showEveryMs = 250;
/** Events whose lag is measured. */
const measuredEvents = 100;

const sources = ['fences'] as const;

const layers = ({ fence }: Palette): readonly Layer[] => [
  { id: 'fence-fill', type: 'fill', source: 'fences', paint: { 'fill-color': fence, 'fill-opacity': 0.05 } },
  { id: 'fence-line', type: 'line', source: 'fences', paint: { 'line-color': fence, 'line-opacity': 0.6 } },
];

/** The chosen device is last, and so above the others. */
function dotsOf(fleet: Fleet, nowMs: number, chosen: string | undefined): readonly MovingDot[] {
  const dots = [...fleet].map(([id, device]) => ({
    id,
    position: drawnAt(device, nowMs),
    colour:
      id === chosen ? ('chosen' as const) : device.position.geofences > 0 ? ('inside' as const) : ('device' as const),
    isChosen: id === chosen,
  }));
  return dots.sort((one, other) => Number(one.isChosen) - Number(other.isChosen));
}

const placesOf = (fleet: Fleet): LngLat[] => [...fleet.values()].map(({ position }) => position.coordinates);

interface FleetState {
  readonly fleet: Fleet;
  readonly hasMore: boolean;
  readonly isRead: boolean;
  /** Why the server refused the last call. */
  readonly refusal?: Failure | undefined;
}
const unread: FleetState = { fleet: noFleet, hasMore: false, isRead: false };

/** Polls the positions that were received since the last answer. */
function useFleet(): FleetState {
  const scope = useScope();
  const [state, setState] = useState(unread);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope has other devices
  useEffect(() => {
    const stop = new AbortController();
    let fleet = noFleet;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState(unread);
    async function read() {
      try {
        const query = { limit: maxDevices, after: askAfter(fleet) };
        const { positions, meta } = await call(
          'GET /v1/positions',
          { query, signal: stop.signal },
          fleet === noFleet ? 'auto' : 'low',
        );
        const next = moved(fleet, positions, performance.now());
        const isFirst = fleet === noFleet;
        fleet = next;
        if (!stop.signal.aborted) {
          setState((all) => ({ fleet: next, hasMore: isFirst ? meta.hasMore : all.hasMore, isRead: true }));
        }
      } catch (error) {
        // The banner says that the server does not answer. The next call may be answered.
        const refusal = error instanceof Failure ? error : undefined;
        if (!stop.signal.aborted) setState((all) => ({ ...all, refusal }));
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void read(), positionsEveryMs);
    }
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [scope]);
  return state;
}

/** Follows the stream. What arrives is shown a few times a second, however much it is. */
function useFeed(isPaused: boolean) {
  const scope = useScope();
  const [feed, setFeed] = useState(emptyFeed);
  const [state, setState] = useState<StreamState>('lost');
  const [missing, setMissing] = useState(0);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope has another stream
  useEffect(() => {
    const inbox = createInbox();
    setFeed(emptyFeed);
    setMissing(0);
    const timer = setInterval(() => {
      const { arrived, dropped } = inbox.take();
      if (arrived.length > 0) setFeed((all) => addArrived(all, arrived, paused.current, dropped));
    }, showEveryMs);
    let isGone = false;
    let stop = () => {};
    // A stream keeps one of the few connections, and the first data need them.
    void whenPainted().then(() => {
      if (isGone) return;
      stop = followEvents({
        onEvent: (event) => inbox.add({ event, arrivedAtMs: Date.now() }),
        onGap: (count) => setMissing((all) => all + count),
        onState: setState,
      });
    });
    return () => {
      isGone = true;
      stop();
      clearInterval(timer);
    };
  }, [scope]);
  useEffect(() => {
    if (!isPaused) setFeed(resume);
  }, [isPaused]);
  return { feed, state, missing };
}

const perSecond = (counts: readonly number[], intervalMs: number): string => {
  const last = counts.slice(-6);
  const rate = last.reduce((sum, count) => sum + count, 0) / ((last.length * intervalMs) / 1_000);
  if (rate === 0 || rate >= 10) return grouped(Math.round(rate));
  // One event of half a minute is not nothing.
  return rate.toFixed(rate < 0.1 ? 2 : 1);
};

const rates = [
  { label: 'Locations', hint: 'Received', counts: ({ locations }: Status) => locations },
  { label: 'Events', hint: 'Caused', counts: ({ events }: Status) => events },
];

/** Less is as likely to be the way of the answer. Clocks that are set by the network differ by less. */
const minClockDifferenceMs = 2_000;
const clockDifferenceMs = (aheadMs: number): number =>
  Number.isFinite(aheadMs) && Math.abs(aheadMs) > minClockDifferenceMs ? aheadMs : 0;

function Rates({ arrived }: { readonly arrived: readonly Arrived[] }) {
  const { data, dataUpdatedAt } = useApi('GET /v1/status', {}, { refetchInterval: statusEveryMs });
  const status = data?.status;
  // The answer that was quickest on its way tells the clocks apart best.
  const clockAheadMs = useRef(Number.POSITIVE_INFINITY);
  if (status) clockAheadMs.current = Math.min(clockAheadMs.current, dataUpdatedAt - Date.parse(status.at));
  const lag = medianLagMs(arrived.slice(0, measuredEvents), clockDifferenceMs(clockAheadMs.current));
  const waiting = status?.waitingLocations;
  return (
    <Tiles>
      {rates.map(({ label, hint, counts }) => (
        <Tile
          key={label}
          label={label}
          value={status ? perSecond(counts(status), status.intervalMs) : '–'}
          unit="/s"
          hint={`${hint} in the last 30 seconds; the line shows 5 minutes`}
        >
          <Sparkline counts={status ? counts(status) : []} />
        </Tile>
      ))}
      <Tile
        label="Location to event"
        value={lag === undefined ? '–' : lagText(lag)}
        hint="From the receipt of a location to the arrival of its event in this page, the middle of the last 100"
      />
      <Tile
        label="Behind"
        value={status?.lagMs === undefined ? '–' : lagText(status.lagMs)}
        {...(waiting !== undefined && { unit: `${grouped(waiting)} waiting` })}
        hint="Age of the oldest location of this server that is not evaluated yet"
      />
    </Tiles>
  );
}

const filterNames = ['type', 'tag', 'user'] as const satisfies readonly (keyof EventFilter)[];

export default function Live() {
  const [isPaused, setPaused] = useState(false);
  const { feed, state, missing } = useFeed(isPaused);
  const { fleet, hasMore, isRead, refusal } = useFleet();
  const scope = useScope();
  const [map, setMap] = useState<MapHandle>();
  const fences = useFences(map !== undefined);
  const [filter, setFilter] = useAddressTexts(filterNames);
  const [opened, setOpened] = useState<Event>();
  const [device, setDevice] = useState<string>();
  const hasFitted = useRef(false);
  const hasFittedFences = useRef(false);

  const shown = useMemo(() => feed.shown.filter(({ event }) => matchesFilter(event, filter)), [feed, filter]);
  const fencesText = useFencesOnMap(map, fences);
  useEffect(() => {
    if (map === undefined) return;
    let frame = 0;
    let drawnMs = 0;
    let beforeMs = performance.now();
    let longestMs = 0;
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    function draw(nowMs: number) {
      const atMs = isStill ? Number.POSITIVE_INFINITY : nowMs;
      longestMs = Math.max(longestMs, nowMs - beforeMs);
      beforeMs = nowMs;
      const mayDraw = nowMs - drawnMs >= drawEveryMs(fleet.size, longestMs);
      const isLast = isStill || !isMoving(fleet, nowMs);
      if (mayDraw || isLast) {
        drawnMs = nowMs;
        longestMs = 0;
        map!.setDots(dotsOf(fleet, atMs, device));
      }
      if (!isLast) frame = requestAnimationFrame(draw);
    }
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [map, fleet, device]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope is somewhere else
  useEffect(() => {
    hasFitted.current = false;
    hasFittedFences.current = false;
    setDevice(undefined);
  }, [scope]);
  useEffect(() => {
    if (hasFitted.current || map === undefined) return;
    // Until a device comes, its project's geofences say more than a map of the world.
    if (fleet.size > 0) {
      hasFitted.current = true;
      map.fit(placesOf(fleet), 15);
    } else if (isRead && !hasFittedFences.current && fences.loaded.index.byId.size > 0) {
      hasFittedFences.current = true;
      map.fit([...fences.loaded.index.byId.values()].flatMap(cornersOf), 14);
    }
  }, [map, fleet, isRead, fences.loaded]);

  const open = useCallback(
    (event: Event) => {
      setOpened(event);
      const [longitude, latitude] = event.location?.coordinates ?? [];
      if (longitude !== undefined && latitude !== undefined) map?.flyTo([longitude, latitude], 15);
      if (event.user?._id) setDevice(event.user._id);
    },
    [map],
  );
  const chosen = device === undefined ? undefined : fleet.get(device)?.position;
  return (
    <Page
      title="Live"
      intro="Devices where they were last, and events as they happen."
      actions={
        <>
          <Connection state={state} />
          <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? `Continue${feed.held.length > 0 ? ` (${feed.held.length} new)` : ''}` : 'Pause'}
          </Button>
        </>
      }
    >
      <Rates arrived={feed.shown} />
      {missing > 0 && (
        <Notice tone="warning" role="status">
          The page was away for longer than events are kept: up to {grouped(missing)} are missing here.
        </Notice>
      )}
      {refusal ? (
        <Notice tone="danger" role="alert">
          <strong>The devices could not be loaded.</strong> {messageOf(refusal)} The page asks again by itself.
        </Notice>
      ) : (
        <LoadProblem query={fences.query} />
      )}
      <div className="live-grid">
        <div className="live-map">
          <DataMap
            label="Map of devices"
            pictured="live"
            sources={sources}
            layers={layers}
            onReady={setMap}
            onClick={setDevice}
          />
          <div className="map-count">
            {!isRead && !refusal && <span className="spinner" />}
            <p role="status">
              {isRead ? counted(fleet.size, 'device') : refusal ? 'No devices are loaded' : 'Loading devices'}
              {hasMore && ', those received last'}
              {fencesText !== undefined && `; ${fencesText}`}
            </p>
            {map !== undefined && fleet.size > 0 && (
              <button type="button" className="link-button" onClick={() => map.fit(placesOf(fleet), 15)}>
                Show all
              </button>
            )}
          </div>
          {chosen && (
            <section className="card card-body stack-tight map-card" aria-label="Chosen device">
              <div className="spread">
                <h2 className="truncate left" dir="auto">
                  {chosen.userId ?? chosen.deviceId}
                </h2>
                <Button isCompact look="plain" icon="close" aria-label="Close" onClick={() => setDevice(undefined)} />
              </div>
              <p className="quiet small">
                <code>{chosen.deviceId}</code> · <RelativeTime time={chosen.at} /> · {accuracyText(chosen.accuracy)}
              </p>
              <div className="spread">
                <span className="small">
                  {chosen.geofences === 0 ? 'In no geofence' : `In ${counted(chosen.geofences, 'geofence')}`}
                </span>
                <Link className="button compact" href={`/users/${chosen.user}`}>
                  Timeline
                </Link>
              </div>
            </section>
          )}
        </div>
        <EventList
          arrived={shown}
          dropped={feed.dropped}
          isPaused={isPaused}
          isFiltered={shown.length !== feed.shown.length}
          filter={filter}
          onFilter={setFilter}
          onOpen={open}
        />
      </div>
      {opened && <EventDialog event={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}

const stateWords = {
  open: { tone: 'success', text: 'Connected', title: 'Events arrive as they happen.' },
  polling: {
    tone: 'warning',
    text: 'Every 2 seconds',
    title: 'The live stream does not come through, perhaps because of a proxy. The page asks for events instead.',
  },
  lost: { tone: 'warning', text: 'Connecting', title: 'The server does not answer yet.' },
} as const;

function Connection({ state }: { readonly state: StreamState }) {
  const { tone, text, title } = stateWords[state];
  return (
    <span role="status" title={title}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

interface ListProps {
  readonly arrived: readonly Arrived[];
  /** Number of older events that the feed no longer has. */
  readonly dropped: number;
  readonly isPaused: boolean;
  readonly isFiltered: boolean;
  readonly filter: EventFilter;
  onFilter(change: Partial<EventFilter>): void;
  onOpen(event: Event): void;
}

const rowHeight = 56;

function EventList({ arrived, dropped, isPaused, isFiltered, filter, onFilter, onOpen }: ListProps) {
  const { scroller, virtualizer, rows, listeners, itemProps } = useVirtualRows({
    count: arrived.length,
    rowHeight,
    keyOf: (index) => arrived[index]!.event._id,
  });
  // The same functions throughout: each event that arrives renders the list, and a typed filter waits for a pause.
  const set = useMemo(
    () => ({ tag: (tag: string) => onFilter({ tag }), user: (user: string) => onFilter({ user }) }),
    [onFilter],
  );
  return (
    <section className="card live-events" aria-label="Events">
      <div className="live-filters">
        <select
          className="input"
          aria-label="Type"
          value={filter.type}
          onChange={({ target }) => onFilter({ type: target.value })}
        >
          <option value="">All types</option>
          {eventTypes.map((type) => (
            <option key={type} value={type}>
              {eventNames.get(type)} {type.endsWith('beacon') ? 'a beacon' : 'a geofence'}
            </option>
          ))}
        </select>
        {(['tag', 'user'] as const).map((name) => (
          <TypedFilter
            key={name}
            label={name === 'tag' ? 'Tag' : 'User or device'}
            className=""
            value={filter[name]}
            onChange={set[name]}
          />
        ))}
      </div>
      {arrived.length === 0 ? (
        <Empty
          title={isFiltered ? 'Nothing matches' : 'Waiting for events'}
          actions={
            !isFiltered && (
              <Link className="button" href="/start">
                Send a location
              </Link>
            )
          }
        >
          <p>
            {isFiltered
              ? 'No event that has arrived since this page was opened matches the filters.'
              : 'They appear here as devices enter and leave geofences.'}
          </p>
        </Empty>
      ) : (
        <section className="live-scroll" ref={scroller} aria-label="List of events" {...listeners}>
          <ol style={{ height: virtualizer.getTotalSize() }}>
            {rows.map((row) => {
              const { event } = arrived[row.index]!;
              return (
                <li key={row.key} {...itemProps(row)}>
                  <button type="button" className="event-row" onClick={() => onOpen(event)}>
                    <span className={`mark ${markOf(event)}`} />
                    <span className="grow">
                      <EventTitle event={event} />
                      <span className="quiet small truncate">
                        <bdi>{whoOf(event)}</bdi>
                        {event.duration !== undefined && ` · ${durationText(event.duration)}`}
                      </span>
                    </span>
                    <time className="quiet small" dateTime={event.createdAt} title={absoluteTime(event.createdAt)}>
                      {timeOfDay(event.createdAt)}
                    </time>
                  </button>
                </li>
              );
            })}
          </ol>
        </section>
      )}
      {/* While events arrive, a reader of screens would hear nothing but their number. */}
      <p className="table-foot" role="status" aria-live={isPaused ? 'polite' : 'off'}>
        {counted(arrived.length, 'event')}
        {dropped > 0 && `; ${grouped(dropped)} older ${dropped === 1 ? 'one is' : 'ones are'} no longer kept`}
      </p>
    </section>
  );
}

function EventDialog({ event, onClose }: { readonly event: Event; onClose(): void }) {
  const { user, geofence, beacon } = event;
  return (
    <Dialog title={eventTitle(event)} onClose={onClose} isWide>
      <div className="dialog-body">
        <dl className="facts">
          <dt>Type</dt>
          <dd>
            <code>{event.type}</code>
          </dd>
          <dt>Time</dt>
          <dd>{absoluteTime(event.createdAt)}</dd>
          <dt>User</dt>
          <dd>{whoOf(event)}</dd>
          <dt>Confidence</dt>
          <dd>{event.confidence} of 3</dd>
          {event.locationAccuracy !== undefined && (
            <>
              <dt>Accuracy</dt>
              <dd>{accuracyText(event.locationAccuracy)}</dd>
            </>
          )}
          {event.duration !== undefined && (
            <>
              <dt>Duration</dt>
              <dd>{durationText(event.duration)}</dd>
            </>
          )}
        </dl>
        <Block label="The event">{JSON.stringify(event, null, 2)}</Block>
      </div>
      <div className="dialog-foot">
        {geofence && (
          <Link className="button" href={`/geofences/${geofence._id}`}>
            Open the geofence
          </Link>
        )}
        {beacon && (
          <Link className="button" href={`/beacons/${beacon._id}`}>
            Open the beacon
          </Link>
        )}
        {user?._id && (
          <Link className="button primary" href={`/users/${user._id}?at=${encodeURIComponent(event.createdAt)}`}>
            <Icon name="pulse" /> Why?
          </Link>
        )}
      </div>
    </Dialog>
  );
}
