/** One user: where it is now, its timeline on a map, and why each event happened or did not. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { Feature, FeatureCollection, Position } from 'geojson';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useParams, useSearchParams } from 'wouter';
import type { Geofence, User, UserLocation } from '../../client/types';
import { type Answer, call, Failure } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Badge, Button, Confirm, Empty, Loading, Notice, Page, Segments, TextField } from '../components/controls';
import { DataMap, type Layer, type LngLat, type MapHandle, type Palette } from '../components/data-map';
import { Icon } from '../components/icons';
import { absoluteTime, relativeTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { circleRing } from '../forms/geofence';
import { eventTitle, markOf } from '../live/event-words';
import { useScope, useWorkspace } from '../state/session';
import { type Item, reasonsOf, timelineOf } from '../timeline/timeline';
import '../styles/live.css';
import '../styles/timeline.css';

const back = (
  <Link href="/users" className="back">
    <Icon name="back" size={14} /> Users
  </Link>
);

export default function UserView() {
  const { id } = useParams<{ id: string }>();
  const loaded = useApi('GET /v1/users/{id}', { path: { id } }, { refetchInterval: 10_000 });
  if (loaded.error && !loaded.data) {
    return (
      <Page title="User" above={back}>
        <Notice tone="danger">
          {loaded.error instanceof Failure && loaded.error.status === 404
            ? 'There is no such user in this environment. It may have been erased.'
            : messageOf(loaded.error)}
        </Notice>
      </Page>
    );
  }
  if (loaded.data === undefined) return <Loading />;
  return <Loaded key={loaded.data.user._id} user={loaded.data.user} />;
}

function Loaded({ user }: { readonly user: User }) {
  const { isOwner } = useWorkspace();
  const [isErasing, setErasing] = useState(false);
  return (
    <Page
      title={user.userId ?? user.deviceId}
      above={back}
      intro={
        <>
          <code>{user.deviceId}</code> · last location {relativeTime(user.updatedAt)}
        </>
      }
      actions={
        isOwner && (
          <Button look="danger" icon="trash" onClick={() => setErasing(true)}>
            Erase user
          </Button>
        )
      }
    >
      <Present user={user} />
      <Timeline user={user} />
      {isErasing && <Erase user={user} onClose={() => setErasing(false)} />}
    </Page>
  );
}

function Erase({ user, onClose }: { readonly user: User; onClose(): void }) {
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const erase = useChange(() => call('DELETE /v1/users/{id}', { path: { id: user._id } }), 'users');
  return (
    <Confirm
      title={`Erase ${user.userId ?? user.deviceId}?`}
      action="Erase"
      isBusy={erase.isPending}
      problem={erase.error ? messageOf(erase.error) : undefined}
      onClose={onClose}
      onConfirm={() =>
        erase.mutate(undefined, {
          onSuccess: () => {
            toasts.say('The erasure has been accepted, and runs in the background.');
            navigate('/users');
          },
        })
      }
    >
      <p>
        All locations and events of this user that were received until now are erased, with its state. This can not be
        undone. Locations that arrive later make a new user.
      </p>
    </Confirm>
  );
}

/** What is known of the user now. */
function Present({ user }: { readonly user: User }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Device', [user.deviceMake, user.deviceModel, user.deviceOS].filter(Boolean).join(' ') || user.deviceType],
    ['Description', user.description],
    ...Object.entries(user.metadata ?? {}).map(([name, value]) => [name, String(value)] as const),
  ];
  return (
    <section className="card present" aria-label="Now">
      <dl className="facts">
        <dt>Inside of</dt>
        <dd className="row">
          {user.geofences.length === 0 && <span className="quiet">No geofence</span>}
          {user.geofences.slice(0, 20).map(({ _id, description }) => (
            <Link key={_id} href={`/geofences/${_id}`} className="badge accent">
              {description}
            </Link>
          ))}
          {user.geofences.length > 20 && <span className="quiet">and {user.geofences.length - 20} more</span>}
        </dd>
        <dt>Beacons in range</dt>
        <dd className="row">
          {user.beacons.length === 0 && <span className="quiet">None</span>}
          {user.beacons.map(({ _id, description }) => (
            <Link key={_id} href={`/beacons/${_id}`} className="badge info">
              {description}
            </Link>
          ))}
        </dd>
        <dt>State</dt>
        <dd className="row">
          <Badge tone={user.stopped ? 'neutral' : 'info'}>{user.stopped ? 'Stopped' : 'Moving'}</Badge>
          <Badge>{user.foreground ? 'App in the foreground' : 'App in the background'}</Badge>
          <span className="quiet">±{Math.round(user.locationAccuracy)} m</span>
        </dd>
        {facts.map(
          ([name, value]) =>
            value && (
              <span key={name} className="facts-pair">
                <dt>{name}</dt>
                <dd>{value}</dd>
              </span>
            ),
        )}
      </dl>
    </section>
  );
}

const ranges = [
  { value: 'hour', label: 'Hour', ms: 3_600_000 },
  { value: 'day', label: 'Day', ms: 86_400_000 },
  { value: 'week', label: 'Week', ms: 604_800_000 },
] as const;
type RangeName = (typeof ranges)[number]['value'];

const pageSize = 500;
/** More locations of a range are left out: the newest are shown. */
const maxLocations = 3_000;

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Loads the locations and events of a range, newest first. */
async function loadTimeline(user: string, { fromMs, toMs }: Range, signal: AbortSignal) {
  const [after, before] = [new Date(fromMs - 1).toISOString(), new Date(toMs).toISOString()];
  const locations: UserLocation[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: pageSize, after, before, cursor };
    const page = await call('GET /v1/users/{id}/locations', { path: { id: user }, query, signal });
    locations.push(...page.locations);
    cursor = page.meta.hasMore ? page.meta.cursor : undefined;
  } while (cursor !== undefined && locations.length < maxLocations);
  const oldest = cursor === undefined ? after : locations.at(-1)!.at;
  const { events } = await call('GET /v1/events', {
    query: { user, limit: 1_000, createdAfter: oldest, createdBefore: before },
    signal,
  });
  return { items: timelineOf(locations, events), hasMore: cursor !== undefined };
}

const short = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
});
const shortTime = (time: string): string => short.format(new Date(time));

const two = (part: number): string => String(part).padStart(2, '0');
/** Returns the text of an input of date and time, in the zone of the browser. */
function localText(timeMs: number): string {
  const time = new Date(timeMs);
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

const circleOf = (each: UserLocation): Position[] =>
  circleRing(positionOf(each), Math.max(1, each.locationAccuracy)).map(([x, y]) => [x, y]);
const positionOf = ({ location }: UserLocation): [number, number] => [location.coordinates[0], location.coordinates[1]];

function Timeline({ user }: { readonly user: User }) {
  const scope = useScope();
  const [parameters] = useSearchParams();
  const wantedAt = parameters.get('at');
  const [initialEndMs] = useState(() => Math.max(Date.now(), Date.parse(user.updatedAt)) + 1_000);
  const [name, setName] = useState<RangeName | 'own'>('day');
  const [range, setRange] = useState<Range>(() => {
    const endMs = wantedAt ? Math.min(Date.parse(wantedAt) + 43_200_000, initialEndMs) : initialEndMs;
    return { fromMs: endMs - 86_400_000, toMs: endMs };
  });
  const [own, setOwn] = useState({ from: localText(range.fromMs), to: localText(range.toMs) });
  const loaded = useQuery({
    queryKey: [scope, 'users', 'timeline', user._id, range],
    queryFn: ({ signal }) => loadTimeline(user._id, range, signal),
  });
  const items = loaded.data?.items ?? [];
  const [chosen, setChosen] = useState<string>();
  const locations = useMemo(
    () => (loaded.data?.items ?? []).flatMap((item) => (item.kind === 'location' ? [item.location] : [])),
    [loaded.data],
  );
  const marks = useMemo(
    () =>
      new Map(
        (loaded.data?.items ?? []).flatMap((item) =>
          item.kind === 'location' && item.events[0] ? [[item.location._id, markOf(item.events[0])] as const] : [],
        ),
      ),
    [loaded.data],
  );
  const location = locations.find(({ _id }) => _id === chosen);
  // A link to an event chooses the location that caused it.
  useEffect(() => {
    if (wantedAt === null || chosen !== undefined) return;
    const wanted = locations.find(({ at }) => Date.parse(at) === Date.parse(wantedAt));
    if (wanted) setChosen(wanted._id);
  }, [locations, wantedAt, chosen]);

  function chooseRange(next: RangeName | 'own') {
    setName(next);
    const ms = ranges.find(({ value }) => value === next)?.ms;
    if (ms === undefined) return;
    const toMs = Math.max(Date.now(), Date.parse(user.updatedAt)) + 1_000;
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
            if (ownProblem === undefined) setRange({ fromMs, toMs: toMs + 60_000 });
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
      {loaded.error && <Notice tone="danger">{messageOf(loaded.error)}</Notice>}
      <div className="timeline-grid">
        <TimelineMap
          locations={locations}
          marks={marks}
          chosen={location}
          explained={explained.data}
          onChoose={setChosen}
        />
        <div className="card timeline-list">
          {loaded.isPending ? (
            <Loading />
          ) : items.length === 0 ? (
            <Empty title="No location in this range">
              <p>Locations are stored for 7 days. The last one came {relativeTime(user.updatedAt)}.</p>
            </Empty>
          ) : (
            <ItemList items={items} chosen={chosen} onChoose={setChosen} />
          )}
          {items.length > 0 && (
            <p className="table-foot" role="status">
              {loaded.data?.hasMore ? `The newest ${locations.length}` : locations.length}{' '}
              {locations.length === 1 ? 'location' : 'locations'}
            </p>
          )}
        </div>
      </div>
      {location && (
        <Explained
          location={location}
          answer={explained.data}
          error={explained.error}
          onClose={() => setChosen(undefined)}
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

const resultTexts: Readonly<Record<UserLocation['result'], string>> = {
  applied: 'No event',
  repeat: 'Repeated: changes nothing',
  stale: 'Older than the one before: not evaluated',
};

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
  const { location, events } = item;
  const [first, ...others] = events;
  return (
    <button
      type="button"
      className="event-row"
      aria-current={location._id === chosen || undefined}
      onClick={() => onChoose(location._id)}
    >
      <span className={`mark ${first ? markOf(first) : 'none'}`} />
      <span className="grow">
        <span className={`truncate ${first ? 'event-title' : 'quiet'}`}>
          {first ? eventTitle(first) : resultTexts[location.result]}
          {others.length > 0 && ` and ${others.length} more`}
        </span>
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

const sources = ['fences', 'accuracy', 'path', 'points'] as const;

const mapLayers = ({ fence, device, chosen, halo, added, removed }: Palette): readonly Layer[] => [
  { id: 'fence-fill', type: 'fill', source: 'fences', paint: { 'fill-color': fence, 'fill-opacity': 0.12 } },
  { id: 'fence-line', type: 'line', source: 'fences', paint: { 'line-color': fence, 'line-width': 1.5 } },
  { id: 'accuracy-fill', type: 'fill', source: 'accuracy', paint: { 'fill-color': device, 'fill-opacity': 0.08 } },
  {
    ...{ id: 'accuracy-chosen', type: 'line', source: 'accuracy', filter: ['get', 'chosen'] },
    paint: { 'line-color': chosen, 'line-width': 1.5 },
  },
  {
    ...{ id: 'path', type: 'line', source: 'path', layout: { 'line-join': 'round' } },
    paint: { 'line-color': device, 'line-width': 2, 'line-opacity': 0.7 },
  },
  {
    ...{ id: 'point', type: 'circle', source: 'points' },
    paint: {
      'circle-color': [
        ...['case', ['get', 'chosen'], chosen, ['==', ['get', 'mark'], 'entered'], added],
        ...[['==', ['get', 'mark'], 'left'], removed, device],
      ] as never,
      'circle-radius': ['case', ['get', 'chosen'], 7, ['!=', ['get', 'mark'], 'none'], 5.5, 3.5],
      'circle-stroke-width': 1.5,
      'circle-stroke-color': halo,
    },
  },
];

/** Circles of more locations would only cover each other. */
const maxCircles = 400;
const maxFences = 16;

interface TimelineMapProps {
  readonly locations: readonly UserLocation[];
  /** What kind of event each location caused first, by its `_id`. */
  readonly marks: ReadonlyMap<string, string>;
  readonly chosen: UserLocation | undefined;
  readonly explained: Answer<'GET /v1/users/{id}/locations/{locationId}/explanation'> | undefined;
  onChoose(id: string | undefined): void;
}

/** Loads the shapes of the geofences that an explanation names. */
function useShapes(ids: readonly string[]): readonly Geofence[] {
  const scope = useScope();
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: [scope, 'geofences', 'shape', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => call('GET /v1/geofences/{id}', { path: { id }, signal }),
      staleTime: 60_000,
      retry: false,
    })),
    combine: (results) => results.flatMap(({ data }) => (data ? [data.geofence] : [])),
  });
}

function TimelineMap({ locations, marks, chosen, explained, onChoose }: TimelineMapProps) {
  const [map, setMap] = useState<MapHandle>();
  const ids = useMemo(() => {
    const near = explained?.explanation.fences.map(({ _id }) => _id) ?? [];
    const visited = locations.flatMap(({ geofences }) => geofences);
    return [...new Set([...near, ...visited])].slice(0, maxFences);
  }, [explained, locations]);
  const shapes = useShapes(ids);

  useEffect(() => {
    const features = shapes.flatMap(({ _id, geometry }): Feature[] =>
      geometry ? [{ type: 'Feature', geometry, properties: { id: _id } }] : [],
    );
    map?.set('fences', { type: 'FeatureCollection', features });
  }, [map, shapes]);
  useEffect(() => {
    if (map === undefined) return;
    const collection = (features: Feature[]): FeatureCollection => ({ type: 'FeatureCollection', features });
    const circled = [...locations.slice(0, maxCircles), ...(chosen ? [chosen] : [])];
    map.set(
      'accuracy',
      collection(
        circled.map((each) => ({
          type: 'Feature',
          geometry: {
            type: 'Polygon',
            coordinates: [circleOf(each)],
          },
          properties: { chosen: each._id === chosen?._id },
        })),
      ),
    );
    const path = locations.filter(({ result }) => result === 'applied').map(positionOf);
    map.set(
      'path',
      collection(
        path.length > 1
          ? [{ type: 'Feature', geometry: { type: 'LineString', coordinates: path }, properties: {} }]
          : [],
      ),
    );
    map.set(
      'points',
      collection(
        locations.toReversed().map((each) => ({
          type: 'Feature',
          geometry: { type: 'Point', coordinates: positionOf(each) },
          properties: {
            id: each._id,
            chosen: each._id === chosen?._id,
            mark: marks.get(each._id) ?? 'none',
          },
        })),
      ),
    );
  }, [map, locations, marks, chosen]);
  useEffect(() => map?.fit(locations.map((each): LngLat => positionOf(each))), [map, locations]);
  useEffect(() => {
    if (chosen) map?.flyTo(positionOf(chosen), 15);
  }, [map, chosen]);
  return (
    <div className="live-map">
      <DataMap
        label="Map of the timeline"
        sources={sources}
        layers={mapLayers}
        clickable={['point']}
        onReady={setMap}
        onClick={onChoose}
      />
    </div>
  );
}

const verdicts = {
  happened: { tone: 'success', label: 'Event' },
  'recorded only': { tone: 'warning', label: 'Event, not by the rules of now' },
  'not recorded': { tone: 'warning', label: 'Would be an event now' },
} as const;

interface ExplainedProps {
  readonly location: UserLocation;
  readonly answer: TimelineMapProps['explained'];
  readonly error: unknown;
  onClose(): void;
}

function Explained({ location, answer, error, onClose }: ExplainedProps) {
  const reasons = answer ? reasonsOf(answer) : [];
  const panel = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another location comes into sight as well
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, [location._id, answer]);
  const other = answer?.events.filter(({ geofence }) => geofence === undefined) ?? [];
  return (
    <section className="card" aria-label="Why" ref={panel}>
      <div className="card-head spread">
        <h2>Why, at {absoluteTime(location.at)}</h2>
        <Button isCompact look="plain" icon="close" aria-label="Close" onClick={onClose} />
      </div>
      {error ? (
        <div className="card-body">
          <Notice tone="danger">{messageOf(error)}</Notice>
        </div>
      ) : answer === undefined ? (
        <Loading rows={3} />
      ) : (
        <>
          {answer.explanation.notice && (
            <p className="card-body quiet" role="status">
              {answer.explanation.notice.text}
            </p>
          )}
          {answer.before === undefined && location.result === 'applied' && (
            <p className="card-body quiet">
              No earlier location of this user is stored, so it counts as outside of everything before.
            </p>
          )}
          <ul>
            {reasons.map(({ fence, name, verdict, title, text }) => (
              <li key={`${fence._id} ${title}`} className="list-row reason">
                <div className="grow stack-tight">
                  <div className="row">
                    <strong>{title}</strong>
                    {verdict !== 'none' && <Badge tone={verdicts[verdict].tone}>{verdicts[verdict].label}</Badge>}
                  </div>
                  <p className="quiet">{text}</p>
                </div>
                <Link className="button compact" href={`/geofences/${fence._id}`} aria-label={`Open ${name}`}>
                  Open
                </Link>
              </li>
            ))}
            {other.map((event) => (
              <li key={event._id} className="list-row reason">
                <div className="row">
                  <strong>{eventTitle(event)}</strong>
                  <Badge tone="success">Event</Badge>
                </div>
              </li>
            ))}
          </ul>
          <p className="table-foot">
            Explained by the geofences and settings of now. Distances are to the boundary of the geofence.
          </p>
        </>
      )}
    </section>
  );
}
