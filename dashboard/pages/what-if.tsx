/** What if there were another geofence: recorded locations run through it, and the events are compared with today's. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { Feature, FeatureCollection, Position } from 'geojson';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Geofence, Replay, Settings } from '../../client/types';
import { call, Failure } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import {
  Badge,
  Button,
  Check,
  Empty,
  Loading,
  Notice,
  Page,
  Segments,
  SelectField,
  TextArea,
  TextField,
} from '../components/controls';
import { DataMap, type Layer, type LngLat, type MapHandle, type Palette } from '../components/data-map';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { numberOf, pairOf, refuseTaken } from '../forms/draft';
import { bodyOf, circleRing, type GeofenceDraft, newGeofence, pointsText, ringOf } from '../forms/geofence';
import { eventTitle, whoOf } from '../live/event-words';
import { useScope, useWorkspace } from '../state/session';
import { byTime, changesOf, countOf, csvOf, type Found, type FoundIn, foundInNames } from '../what-if/compare';
import '../styles/live.css';
import '../styles/what-if.css';

const shapes = [
  { value: 'circle', label: 'Circle' },
  { value: 'polygon', label: 'Polygon' },
  { value: 'none', label: 'None' },
] as const;
type Shape = (typeof shapes)[number]['value'];

const ranges = [
  { value: '1', label: 'The last day' },
  { value: '3', label: 'The last 3 days' },
  { value: '7', label: 'The last week' },
] as const;

const dayMs = 86_400_000;
const firstDraft: GeofenceDraft = {
  ...newGeofence,
  description: 'Proposed geofence',
  tag: 'what-if',
  externalId: 'proposed',
};

/** The settings that a proposal may change here. */
const switches = [
  ['stopDetection', 'Enter only at a stop'],
  ['bufferEntries', 'Enter within the accuracy'],
  ['bufferExits', 'Exit only beyond the accuracy'],
  ['dwellEvents', 'Dwell events'],
] as const;
type Changed = Partial<Pick<Settings, (typeof switches)[number][0] | 'minimumConfidence'>>;
const confidences = ['1', '2', '3'].map((value) => ({ value, label: `${value} of 3` }));

const sources = ['fences', 'events', 'proposed', 'corners'] as const;
const layers = ({ fence, added, removed, quiet, chosen, halo }: Palette): readonly Layer[] => [
  { id: 'fence-fill', type: 'fill', source: 'fences', paint: { 'fill-color': fence, 'fill-opacity': 0.08 } },
  { id: 'fence-line', type: 'line', source: 'fences', paint: { 'line-color': fence, 'line-opacity': 0.6 } },
  { id: 'proposed-fill', type: 'fill', source: 'proposed', paint: { 'fill-color': chosen, 'fill-opacity': 0.16 } },
  {
    ...{ id: 'proposed-line', type: 'line', source: 'proposed' },
    paint: { 'line-color': chosen, 'line-width': 2, 'line-dasharray': [2, 1] },
  },
  {
    ...{ id: 'event', type: 'circle', source: 'events' },
    paint: {
      'circle-color': ['match', ['get', 'foundIn'], 'replay', added, 'record', removed, quiet],
      'circle-radius': ['match', ['get', 'foundIn'], 'both', 3, 5],
      'circle-stroke-width': 1.2,
      'circle-stroke-color': halo,
    },
  },
  {
    ...{ id: 'corner', type: 'circle', source: 'corners' },
    paint: { 'circle-color': chosen, 'circle-radius': 5, 'circle-stroke-width': 2, 'circle-stroke-color': halo },
  },
];

const collection = (features: readonly Feature[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: [...features],
});

/** Returns the ring of the draft, if it has one. */
function outlineOf(draft: GeofenceDraft): Position[] | undefined {
  if (draft.type === 'polygon') {
    const ring = ringOf(draft.points);
    return typeof ring === 'string' || ring.length < 4 ? undefined : ring.map(([x, y]) => [x, y]);
  }
  const [longitude, latitude, radius] = [numberOf(draft.longitude), numberOf(draft.latitude), numberOf(draft.radius)];
  if (typeof longitude !== 'number' || typeof latitude !== 'number' || typeof radius !== 'number') return undefined;
  return circleRing([longitude, latitude], radius).map(([x, y]) => [x, y]);
}

const text = (degrees: number): string => degrees.toFixed(6);

/** Puts a point of the map into the draft: the centre of a circle, or the next corner of a polygon. */
function withPoint(draft: GeofenceDraft, [longitude, latitude]: LngLat): GeofenceDraft {
  if (draft.type === 'circle') return { ...draft, latitude: text(latitude), longitude: text(longitude) };
  const lines = /^[[{]/.test(draft.points.trim()) ? '' : draft.points.trim();
  return { ...draft, points: `${lines}${lines && '\n'}${text(latitude)}, ${text(longitude)}` };
}

/** Returns the problem at a field of the proposed geofence. */
const problemAtField = (error: unknown, field: string): string | undefined =>
  error instanceof Failure && (error.param === `geofences[0].${field}` || error.param === field)
    ? error.message.replace(/^geofences\[0\]\./, '')
    : undefined;

const maxFences = 1_000;
const pollMs = 700;

export default function WhatIf() {
  const { isOwner } = useWorkspace();
  const scope = useScope();
  const geofences = useApi('GET /v1/geofences', { query: { limit: maxFences } }, { staleTime: 60_000 });
  const settings = useApi('GET /v1/settings', {}).data?.settings;
  const [map, setMap] = useState<MapHandle>();
  const [shape, setShape] = useState<Shape>('circle');
  const [draft, setDraft] = useState(firstDraft);
  const [days, setDays] = useState<string>('7');
  const [keeps, setKeeps] = useState(true);
  const [changed, setChanged] = useState<Changed>({});
  const [id, setId] = useState<string>();
  const outline = useMemo(() => (shape === 'none' ? undefined : outlineOf(draft)), [shape, draft]);

  const start = useChange(() =>
    call('POST /v1/replays', {
      body: {
        from: new Date(Date.now() - Number(days) * dayMs).toISOString(),
        ...(shape !== 'none' || !keeps
          ? { geofences: shape === 'none' ? [] : [bodyOf(draft)], keepGeofences: keeps }
          : {}),
        ...(Object.keys(changed).length > 0 && { settings: changed }),
      },
    }),
  );
  const running = useQuery({
    queryKey: [scope, 'replays', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => call('GET /v1/replays/{id}', { path: { id: id! }, signal }),
    refetchInterval: ({ state }) => (state.data?.replay.status === 'running' || !state.data ? pollMs : false),
  });
  const replay = running.data?.replay;
  const found = useFound(replay);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a replay belongs to its environment
  useEffect(() => setId(undefined), [scope]);
  useEffect(() => {
    const features = (geofences.data?.geofences ?? []).flatMap(({ _id, geometry, enabled }): Feature[] =>
      geometry && enabled && keeps ? [{ type: 'Feature', geometry, properties: { id: _id } }] : [],
    );
    map?.set('fences', collection(features));
  }, [map, geofences.data, keeps]);
  const hasFitted = useRef(false);
  useEffect(() => {
    const centres = geofences.data?.geofences.map(({ geometryCenter }) => geometryCenter.coordinates) ?? [];
    if (map === undefined || hasFitted.current || centres.length === 0) return;
    hasFitted.current = true;
    map.fit(centres, 14);
  }, [map, geofences.data]);
  useEffect(() => {
    const features: Feature[] = outline
      ? [{ type: 'Feature', geometry: { type: 'Polygon', coordinates: [outline] }, properties: {} }]
      : [];
    map?.set('proposed', collection(features));
    const points = ringOf(draft.points);
    const corners =
      shape === 'polygon' && typeof points !== 'string'
        ? points
        : shape === 'circle' && outline
          ? [[Number(draft.longitude), Number(draft.latitude)]]
          : [];
    map?.set(
      'corners',
      collection(
        corners.map((point) => ({
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [point[0]!, point[1]!] },
          properties: {},
        })),
      ),
    );
  }, [map, outline, shape, draft]);
  useEffect(() => {
    const features = found.rows.flatMap(({ event, foundIn }): Feature[] =>
      event.location
        ? [{ type: 'Feature', geometry: event.location as never, properties: { id: event._id, foundIn } }]
        : [],
    );
    map?.set('events', collection(features));
  }, [map, found.rows]);

  const set =
    <Name extends keyof GeofenceDraft>(name: Name) =>
    (value: GeofenceDraft[Name]) =>
      setDraft((all) => ({ ...all, [name]: value }));
  const field = (name: 'description' | 'latitude' | 'longitude' | 'radius' | 'points', param: string = name) => ({
    value: draft[name],
    problem: problemAtField(start.error, param),
    onChange: set(name) as (value: string) => void,
  });
  const isRunning = replay?.status === 'running' || (id !== undefined && replay === undefined && !running.error);
  const isElsewhere =
    start.error !== null &&
    !['description', 'coordinates', 'radius', 'tag', 'externalId'].some((name) => problemAtField(start.error, name));

  function submit(event: FormEvent) {
    event.preventDefault();
    start.mutate(undefined, { onSuccess: ({ replay }) => setId(replay._id) });
  }
  function chooseShape(next: Shape) {
    setShape(next);
    if (next === 'none') return;
    const ring = next === 'polygon' && draft.points === '' && outline;
    const points = ring ? pointsText(ring.filter((_, index) => index % 4 === 0) as [number, number][]) : draft.points;
    setDraft({ ...draft, type: next, points });
  }
  return (
    <Page
      title="What-if"
      intro="Runs the recorded locations through a proposed geofence, and compares its events with today's. Nothing is changed."
    >
      <div className="what-if-grid">
        <form className="card what-if-form" onSubmit={submit} noValidate>
          <div className="card-body stack">
            <Segments legend="Shape" value={shape} options={shapes} onChange={chooseShape} />
            {shape === 'none' ? (
              <p className="quiet">No geofence is added. Change a setting below.</p>
            ) : (
              <>
                <p className="quiet small">
                  {shape === 'circle' ? 'Click the map to place the centre.' : 'Click the map to add corners.'}
                </p>
                <TextField label="Description" {...field('description')} />
                {shape === 'circle' ? (
                  <>
                    <div className="form-grid">
                      <TextField label="Latitude" inputMode="decimal" {...field('latitude', 'coordinates')} />
                      <TextField label="Longitude" inputMode="decimal" {...field('longitude')} />
                    </div>
                    <TextField label="Radius" unit="m" inputMode="decimal" {...field('radius')} />
                  </>
                ) : (
                  <TextArea
                    label="Points"
                    isCode
                    rows={5}
                    hint="One a line: latitude, longitude. Or paste GeoJSON."
                    {...field('points', 'coordinates')}
                  />
                )}
              </>
            )}
            <Check label="Keep the geofences of now" isChecked={keeps} onChange={setKeeps} />
            <SelectField label="Locations of" value={days} options={ranges} onChange={setDays} />
            {settings && (
              <details>
                <summary>Settings</summary>
                <div className="stack-tight what-if-settings">
                  {switches.map(([name, label]) => (
                    <Check
                      key={name}
                      label={label}
                      isChecked={changed[name] ?? settings[name]}
                      onChange={(isChecked) => setChanged({ ...changed, [name]: isChecked })}
                    />
                  ))}
                  <SelectField
                    label="Least confidence"
                    value={String(changed.minimumConfidence ?? settings.minimumConfidence)}
                    options={confidences}
                    onChange={(value) => setChanged({ ...changed, minimumConfidence: Number(value) })}
                  />
                </div>
              </details>
            )}
            {isElsewhere && (
              <Notice tone="danger" role="alert">
                {messageOf(start.error)}
              </Notice>
            )}
            <div className="row">
              <Button type="submit" look="primary" isBusy={start.isPending || isRunning} disabled={!isOwner}>
                Run
              </Button>
              {isOwner && shape !== 'none' && <CreateButton draft={draft} />}
              {!isOwner && <span className="quiet">Only owners run replays.</span>}
            </div>
          </div>
        </form>
        <div className="live-map">
          <DataMap
            label="Map of the proposal"
            sources={sources}
            layers={layers}
            onReady={setMap}
            onClick={(_, at) => shape !== 'none' && setDraft((all) => withPoint(all, at))}
          />
          <ul className="legend small" aria-label="Legend">
            {(['replay', 'record', 'both'] as const).map((foundIn) => (
              <li key={foundIn}>
                <span className={`mark ${foundIn}`} /> {foundInNames[foundIn]}
              </li>
            ))}
          </ul>
        </div>
      </div>
      {running.error && <Notice tone="danger">{messageOf(running.error)}</Notice>}
      {replay && <Result replay={replay} found={found} onEvent={(at) => map?.flyTo(at, 16)} />}
    </Page>
  );
}

/** Creates the proposed geofence, unless another one has its name. */
function CreateButton({ draft }: { readonly draft: GeofenceDraft }) {
  const toasts = useToasts();
  const [, navigate] = useLocation();
  const create = useChange(async () => {
    const { tag, externalId, ...body } = bodyOf(draft);
    // The proposal's own name is for the replay only. Each geofence that is created from one has another.
    const named = { ...body, tag, externalId: `${externalId}-${Date.now().toString(36)}` };
    refuseTaken(pairOf(named)!, (await call('GET /v1/geofences', { query: { ...pairOf(named), limit: 1 } })).geofences);
    return call('POST /v1/geofences', { body: named as never });
  }, 'geofences');
  return (
    <Button
      isBusy={create.isPending}
      onClick={() =>
        create.mutate(undefined, {
          onSuccess: ({ geofence }: { geofence: Geofence }) => {
            toasts.say(`${geofence.description} is created.`);
            navigate(`/geofences/${geofence._id}`);
          },
          onError: toasts.complain,
        })
      }
    >
      Create this geofence
    </Button>
  );
}

interface FoundState {
  readonly rows: readonly Found[];
  readonly isLoading: boolean;
  readonly error: unknown;
}

const pageSize = 1_000;
const kinds: readonly FoundIn[] = ['replay', 'record', 'both'];

/** Loads the kept events of a replay that has ended. */
function useFound(replay: Replay | undefined): FoundState {
  const scope = useScope();
  const hasEnded = replay !== undefined && replay.status === 'completed';
  const loaded = useQuery({
    queryKey: [scope, 'replays', replay?._id, 'events'],
    enabled: hasEnded,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const rows: Found[] = [];
      for (const foundIn of kinds) {
        let cursor: string | undefined;
        do {
          const path = { id: replay!._id };
          const page = await call('GET /v1/replays/{id}/events', {
            ...{ path, signal },
            query: { foundIn, limit: pageSize, cursor },
          });
          rows.push(...page.events.map((each) => ({ ...each, foundIn })));
          cursor = page.meta.hasMore ? page.meta.cursor : undefined;
        } while (cursor !== undefined);
      }
      return rows.sort(byTime);
    },
  });
  const none = useMemo<readonly Found[]>(() => [], []);
  return { rows: loaded.data ?? none, isLoading: hasEnded && loaded.isPending, error: loaded.error };
}

const number = (value: number): string => value.toLocaleString('en');

function Progress({ replay }: { readonly replay: Replay }) {
  const client = useQueryClient();
  const scope = useScope();
  const toasts = useToasts();
  const { recordsRead, recordsTotal, _id } = replay;
  const cancel = useChange(() => call('DELETE /v1/replays/{id}', { path: { id: _id } }));
  return (
    <section className="card card-body stack-tight" aria-label="Progress">
      <div className="spread">
        <span role="status">
          {recordsTotal === 0
            ? 'Reading the geofences…'
            : `${number(recordsRead)} of ${number(recordsTotal)} locations are read.`}
        </span>
        <Button
          isCompact
          isBusy={cancel.isPending}
          onClick={() =>
            cancel.mutate(undefined, {
              onSuccess: () => void client.invalidateQueries({ queryKey: [scope, 'replays'] }),
              onError: toasts.complain,
            })
          }
        >
          Cancel
        </Button>
      </div>
      <progress aria-label="Locations read" max={Math.max(1, recordsTotal)} value={recordsRead} />
    </section>
  );
}

interface ResultProps {
  readonly replay: Replay;
  readonly found: FoundState;
  onEvent(at: LngLat): void;
}

function Result({ replay, found, onEvent }: ResultProps) {
  const { status, summary, message } = replay;
  if (status === 'running') return <Progress replay={replay} />;
  if (status === 'cancelled') return <Notice role="status">The replay was cancelled.</Notice>;
  if (status === 'failed' || summary === undefined)
    return (
      <Notice tone="danger" role="alert">
        {message ?? 'The replay failed.'}
      </Notice>
    );
  const counts = kinds.map((foundIn) => [foundIn, countOf(summary.total, foundIn)] as const);
  const isCut = counts.some(([foundIn, count]) => count > replay.kept[foundIn]);
  return (
    <>
      <dl className="tiles" aria-label="Result">
        <div className="tile">
          <dt>Locations evaluated</dt>
          <dd className="tile-value">{number(summary.locations.applied)}</dd>
        </div>
        {counts.map(([foundIn, count]) => (
          <div key={foundIn} className="tile">
            <dt>
              <span className={`mark ${foundIn}`} /> {foundInNames[foundIn]} events
            </dt>
            <dd className="tile-value">{number(count)}</dd>
          </div>
        ))}
      </dl>
      {summary.firstLocationEvents > 0 && (
        <Notice>
          {number(summary.firstLocationEvents)} events come from the first stored location of a device, which may have
          been inside before.
        </Notice>
      )}
      <Changes summary={summary} />
      <EventTable found={found} isCut={isCut} replay={replay} onEvent={onEvent} />
    </>
  );
}

function Changes({ summary }: { readonly summary: NonNullable<Replay['summary']> }) {
  const rows = changesOf(summary);
  if (rows.length === 0) return null;
  return (
    <section className="card" aria-label="By geofence">
      <div className="card-head">
        <h2>By geofence and beacon</h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="table-wrap short" aria-label="Events of each geofence and beacon" tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              {['Today', 'Proposed', 'Added', 'Removed'].map((title) => (
                <th key={title} scope="col" className="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, kind, before, after, added, removed }) => (
              <tr key={`${kind} ${name}`}>
                <td className="name clip truncate">{name}</td>
                <td className="number">{number(before)}</td>
                <td className="number">{number(after)}</td>
                <td className="number">{added > 0 ? <Badge tone="success">+{number(added)}</Badge> : '–'}</td>
                <td className="number">{removed > 0 ? <Badge tone="danger">−{number(removed)}</Badge> : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function download(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const rowHeight = 52;
const tabs: readonly { readonly value: FoundIn; readonly label: string }[] = kinds.map((value) => ({
  value,
  label: foundInNames[value],
}));

function EventTable({ found, isCut, replay, onEvent }: ResultProps & { readonly isCut: boolean }) {
  const [foundIn, setFoundIn] = useState<FoundIn>('replay');
  const rows = useMemo(() => found.rows.filter((each) => each.foundIn === foundIn), [found.rows, foundIn]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  return (
    <section className="card what-if-events" aria-label="Events of the replay">
      <div className="card-head spread">
        <Segments legend="Events" value={foundIn} options={tabs} onChange={(next: FoundIn) => setFoundIn(next)} />
        <Button
          isCompact
          disabled={found.rows.length === 0}
          onClick={() => download(`what-if-${replay._id}.csv`, csvOf(found.rows))}
        >
          Export CSV
        </Button>
      </div>
      {found.error ? (
        <div className="card-body">
          <Notice tone="danger">{messageOf(found.error)}</Notice>
        </div>
      ) : found.isLoading ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty title={`No ${foundInNames[foundIn].toLowerCase()} event`} />
      ) : (
        <section
          className="live-scroll"
          ref={scroller}
          aria-label={`${foundInNames[foundIn]} events`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
        >
          <ol style={{ height: virtualizer.getTotalSize() }}>
            {virtualizer.getVirtualItems().map(({ index, start, key }) => {
              const { event, firstLocation } = rows[index]!;
              const [longitude, latitude] = event.location?.coordinates ?? [];
              const hasPlace = longitude !== undefined && latitude !== undefined;
              return (
                <li key={key} style={{ transform: `translateY(${start}px)`, height: rowHeight }}>
                  <button
                    type="button"
                    className="event-row"
                    onClick={() => hasPlace && onEvent([longitude, latitude])}
                  >
                    <span className={`mark ${foundIn}`} />
                    <span className="grow">
                      <span className="event-title truncate">{eventTitle(event)}</span>
                      <span className="quiet small truncate">
                        {whoOf(event)}
                        {firstLocation && ' · first location of the device'}
                      </span>
                    </span>
                    <time className="quiet small" dateTime={event.createdAt}>
                      {absoluteTime(event.createdAt)}
                    </time>
                  </button>
                </li>
              );
            })}
          </ol>
        </section>
      )}
      <p className="table-foot" role="status">
        {number(rows.length)} {foundInNames[foundIn].toLowerCase()}
        {isCut && '. Only the first 5,000 of each kind can be listed'}
      </p>
    </section>
  );
}
