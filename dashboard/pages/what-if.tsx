/** What if there were another geofence: recorded locations run through it, and the events are compared with today's. */
import { useQuery } from '@tanstack/react-query';
import type { Feature, FeatureCollection, Geometry } from 'geojson';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Geofence, Settings } from '../../client/types';
import { callIn, Failure, type Scope } from '../client/call';
import { useFences } from '../client/fences';
import { useApi, useChange } from '../client/hooks';
import { Button, Check, Notice, Page, Segments, SelectField, TextArea, TextField } from '../components/controls';
import { DataMap, type Layer, type LngLat, type MapHandle, type Palette } from '../components/data-map';
import { Form } from '../components/form';
import { messageOf, useToasts } from '../components/toasts';
import { outlineOf, type Position, roundedPosition, shapeOfGeofence } from '../drawing/shape';
import { createRecord } from '../forms/creation';
import { draftFields } from '../forms/draft';
import { bodyOf, type GeofenceDraft, newGeofence, pointsText } from '../forms/geofence';
import { useScope, useWorkspace } from '../state/session';
import { foundInNames } from '../what-if/compare';
import { Result, useFound } from '../what-if/result';
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
  { id: 'fence-fill', type: 'fill', source: 'fences', paint: { 'fill-color': fence, 'fill-opacity': 0.05 } },
  { id: 'fence-line', type: 'line', source: 'fences', paint: { 'line-color': fence, 'line-opacity': 0.6 } },
  { id: 'proposed-fill', type: 'fill', source: 'proposed', paint: { 'fill-color': chosen, 'fill-opacity': 0.16 } },
  {
    id: 'proposed-line',
    type: 'line',
    source: 'proposed',
    paint: { 'line-color': chosen, 'line-width': 2, 'line-dasharray': [2, 1] },
  },
  {
    id: 'event',
    type: 'circle',
    source: 'events',
    paint: {
      'circle-color': ['match', ['get', 'foundIn'], 'replay', added, 'record', removed, quiet],
      'circle-radius': ['match', ['get', 'foundIn'], 'both', 3, 5],
      'circle-stroke-width': 1.2,
      'circle-stroke-color': halo,
    },
  },
  {
    id: 'corner',
    type: 'circle',
    source: 'corners',
    paint: { 'circle-color': chosen, 'circle-radius': 5, 'circle-stroke-width': 2, 'circle-stroke-color': halo },
  },
];

const collection = (features: readonly Feature[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: [...features],
});

const featureOf = (geometry: Geometry): Feature => ({ type: 'Feature', geometry, properties: {} });
const copy = (position: Position): number[] => [...position];

const text = (degrees: number): string => degrees.toFixed(6);

const isGeoJson = ({ type, points }: GeofenceDraft): boolean => type === 'polygon' && /^[[{]/.test(points.trim());

/** Puts a point of the map into the draft: the centre of a circle, or the next corner of a polygon of lines. */
function withPoint(draft: GeofenceDraft, at: LngLat): GeofenceDraft {
  const [longitude, latitude] = roundedPosition(at);
  if (draft.type === 'circle') return { ...draft, latitude: text(latitude), longitude: text(longitude) };
  const lines = draft.points.trim();
  return { ...draft, points: `${lines}${lines && '\n'}${text(latitude)}, ${text(longitude)}` };
}

/** Returns the problem at a field of the proposed geofence. */
const problemAtField = (error: unknown, field: string): string | undefined =>
  error instanceof Failure && (error.param === `geofences[0].${field}` || error.param === field)
    ? error.message.replace(/^geofences\[0\]\./, '')
    : undefined;

const pollMs = 700;

const cancelReplay = (scope: Scope, id: string): void =>
  void callIn(scope, 'DELETE /v1/replays/{id}', { path: { id } }).catch(() => {});

/**
 * Cancels the replay that is under way when the view or the page is left: nobody would see its result.
 * @param id undefined: none is under way.
 * @returns whether the view was left.
 */
function useCancelAtEnd(id: string | undefined): { readonly current: boolean } {
  const scope = useScope();
  const isLeft = useRef(false);
  const cancel = useRef(() => {});
  cancel.current = () => id !== undefined && cancelReplay(scope, id);
  useEffect(() => {
    isLeft.current = false;
    const leave = () => cancel.current();
    addEventListener('pagehide', leave);
    return () => {
      isLeft.current = true;
      removeEventListener('pagehide', leave);
      leave();
    };
  }, []);
  return isLeft;
}

export default function WhatIf() {
  const { isOwner } = useWorkspace();
  const scope = useScope();
  const toasts = useToasts();
  const fences = useFences(true);
  const settings = useApi('GET /v1/settings', {}).data?.settings;
  const [map, setMap] = useState<MapHandle>();
  const [shape, setShape] = useState<Shape>('circle');
  const [draft, setDraft] = useState(firstDraft);
  const [days, setDays] = useState<string>('7');
  const [keeps, setKeeps] = useState(true);
  const [changed, setChanged] = useState<Changed>({});
  const [id, setId] = useState<string>();
  const proposed = useMemo(() => (shape === 'none' ? undefined : shapeOfGeofence(draft)), [shape, draft]);

  const start = useChange(async (_: undefined, scope) => {
    const body = {
      from: new Date(Date.now() - Number(days) * dayMs).toISOString(),
      ...(shape !== 'none' || !keeps
        ? { geofences: shape === 'none' ? [] : [bodyOf(draft)], keepGeofences: keeps }
        : {}),
      ...(Object.keys(changed).length > 0 && { settings: changed }),
    };
    const answer = await callIn(scope, 'POST /v1/replays', { body });
    if (isLeft.current) cancelReplay(scope, answer.replay._id);
    return answer;
  });
  const running = useQuery({
    queryKey: [scope, 'replays', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => callIn(scope, 'GET /v1/replays/{id}', { path: { id: id! }, signal }),
    refetchInterval: ({ state }) => (state.data?.replay.status === 'running' || !state.data ? pollMs : false),
  });
  const replay = running.data?.replay;
  const found = useFound(replay);
  const isRunning = replay?.status === 'running' || (id !== undefined && replay === undefined && !running.error);
  const isLeft = useCancelAtEnd(isRunning ? id : undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a replay belongs to its environment
  useEffect(() => setId(undefined), [scope]);
  useEffect(() => {
    map?.set('fences', keeps ? fences.features : collection([]));
  }, [map, fences, keeps]);
  const hasFitted = useRef(false);
  useEffect(() => {
    const centres = fences.places.map(({ centre }) => centre);
    if (map === undefined || hasFitted.current || centres.length === 0) return;
    hasFitted.current = true;
    map.fit(centres, 14);
  }, [map, fences]);
  useEffect(() => {
    const outline = proposed && outlineOf(proposed);
    map?.set('proposed', collection(outline ? [featureOf({ type: 'Polygon', coordinates: [outline.map(copy)] })] : []));
    const corners = proposed?.type === 'polygon' ? proposed.points : proposed ? [proposed.centre] : [];
    map?.set('corners', collection(corners.map((point) => featureOf({ type: 'Point', coordinates: copy(point) }))));
  }, [map, proposed]);
  useEffect(() => {
    const features = found.rows.flatMap(({ event, foundIn }): Feature[] =>
      event.location
        ? [{ type: 'Feature', geometry: event.location as never, properties: { id: event._id, foundIn } }]
        : [],
    );
    map?.set('events', collection(features));
  }, [map, found.rows]);

  const { text: field } = draftFields(draft, setDraft, (param) => problemAtField(start.error, param));
  const isElsewhere =
    start.error !== null &&
    !['description', 'coordinates', 'radius', 'tag', 'externalId'].some((name) => problemAtField(start.error, name));

  function submit() {
    start.mutate(undefined, { onSuccess: ({ replay }) => setId(replay._id) });
  }
  function addPoint(at: LngLat) {
    if (shape === 'none') return;
    if (isGeoJson(draft)) toasts.say('Remove the GeoJSON to add corners on the map.');
    else setDraft((all) => withPoint(all, at));
  }
  function chooseShape(next: Shape) {
    setShape(next);
    if (next === 'none') return;
    const ring = next === 'polygon' && draft.points === '' && proposed ? outlineOf(proposed) : undefined;
    const corners = ring?.filter((_, index) => index % 4 === 0).map(roundedPosition);
    const points = corners ? pointsText(corners) : draft.points;
    setDraft({ ...draft, type: next, points });
  }
  return (
    <Page
      title="What-if"
      intro="Runs recorded locations through a proposed geofence and compares its events with today's. Changes nothing."
    >
      <div className="what-if-grid">
        <Form className="card what-if-form" error={start.error} onSubmit={submit}>
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
                    hint="One per line: latitude, longitude. Or paste GeoJSON."
                    {...field('points', 'coordinates')}
                  />
                )}
              </>
            )}
            <Check label="Keep the current geofences" isChecked={keeps} onChange={setKeeps} />
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
                    label="Minimum confidence"
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
        </Form>
        <div className="live-map">
          <DataMap
            label="Map of the proposal"
            sources={sources}
            layers={layers}
            onReady={setMap}
            onClick={(_, at) => addPoint(at)}
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
  const create = useChange(async (_: undefined, scope) => {
    const { tag, externalId, ...body } = bodyOf(draft);
    // The proposal's own name is for the replay only. Each geofence that is created from one has another.
    const named = { ...body, tag, externalId: `${externalId}-${Date.now().toString(36)}` };
    return createRecord(scope, 'geofences', named);
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
