/** What if there were another geofence: recorded locations run through it, and the events are compared with today's. */
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { Geofence, Replay } from '../../client/types';
import { useFences } from '../client/fences';
import { useAction } from '../components/action';
import { Button, Check, Notice, Page, SelectField } from '../components/controls';
import type { LngLat, MapHandle } from '../components/data-map';
import { Form } from '../components/form';
import { LoadProblem } from '../components/load-problem';
import { messageOf, useToasts } from '../components/toasts';
import { outlineOf, roundedPosition, shapeOfGeofence } from '../drawing/shape';
import { createRecord } from '../forms/creation';
import { isEqual } from '../forms/draft';
import { bodyOf, type GeofenceDraft, newGeofence, pointsText } from '../forms/geofence';
import { useWorkspace } from '../state/session';
import { useUnsaved } from '../state/unsaved';
import {
  type ChangedSettings,
  isAtField,
  ProposedGeofence,
  ProposedSettings,
  type ProposedShape,
} from '../what-if/proposal-fields';
import { ProposalMap } from '../what-if/proposal-map';
import { Result, useFound } from '../what-if/result';
import { useReplayRun } from '../what-if/run';
import '../styles/live.css';
import '../styles/what-if.css';

const ranges = [
  { value: '1', label: 'The last day' },
  { value: '3', label: 'The last 3 days' },
  { value: '7', label: 'The last week' },
] as const;

/** Read aloud. The others stand in notices. */
const statusWords: Partial<Record<Replay['status'], string>> = {
  running: 'The replay runs.',
  completed: 'The replay has ended. Its result is below the map.',
};

const firstDraft: GeofenceDraft = {
  ...newGeofence,
  description: 'Proposed geofence',
  tag: 'what-if',
  externalId: 'proposed',
};

const text = (degrees: number): string => degrees.toFixed(6);

const isGeoJson = ({ type, points }: GeofenceDraft): boolean => type === 'polygon' && /^[[{]/.test(points.trim());

/** Puts a point of the map into the draft: the centre of a circle, or the next corner of a polygon of lines. */
function withPoint(draft: GeofenceDraft, at: LngLat): GeofenceDraft {
  const [longitude, latitude] = roundedPosition(at);
  if (draft.type === 'circle') return { ...draft, latitude: text(latitude), longitude: text(longitude) };
  const lines = draft.points.trim();
  return { ...draft, points: `${lines}${lines && '\n'}${text(latitude)}, ${text(longitude)}` };
}

export default function WhatIf() {
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const [map, setMap] = useState<MapHandle>();
  const [shape, setShape] = useState<ProposedShape>('circle');
  const [draft, setDraft] = useState(firstDraft);
  const [days, setDays] = useState<string>('7');
  const [keepsFences, setKeepsFences] = useState(true);
  const [settings, setSettings] = useState<ChangedSettings>({});
  const proposed = useMemo(() => (shape === 'none' ? undefined : shapeOfGeofence(draft)), [shape, draft]);
  const fences = useFences(true);
  const run = useReplayRun();
  // A choice is soon made again. A name, a place, a radius or corners take effort.
  const forget = useUnsaved(!isEqual({ ...draft, type: firstDraft.type }, firstDraft));
  const found = useFound(run.replay);

  function submit() {
    // Its place may have been typed, and its events are few pixels on a map of the world.
    const outline = proposed && outlineOf(proposed);
    if (outline) map?.fit(outline);
    run.start({
      days: Number(days),
      ...((shape !== 'none' || !keepsFences) && {
        geofences: shape === 'none' ? [] : [bodyOf(draft)],
        keepGeofences: keepsFences,
      }),
      ...(Object.keys(settings).length > 0 && { settings }),
    });
  }
  function addPoint(at: LngLat) {
    if (shape === 'none') return;
    if (isGeoJson(draft)) toasts.say('Remove the GeoJSON to add corners on the map.');
    else setDraft((all) => withPoint(all, at));
  }
  function chooseShape(next: ProposedShape) {
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
      <LoadProblem query={fences.query} />
      <div className="what-if-grid">
        <Form className="card what-if-form" error={run.startError} onSubmit={submit}>
          <div className="card-body stack">
            <ProposedGeofence
              shape={shape}
              draft={draft}
              error={run.startError}
              onShape={chooseShape}
              onDraft={setDraft}
            />
            <Check label="Keep the current geofences" isChecked={keepsFences} onChange={setKeepsFences} />
            <SelectField label="Locations of" value={days} options={ranges} onChange={setDays} />
            <ProposedSettings changed={settings} onChange={setSettings} />
            {run.startError !== null && !isAtField(run.startError) && (
              <Notice tone="danger" role="alert">
                {messageOf(run.startError)}
              </Notice>
            )}
            <div className="row">
              <Button type="submit" look="primary" isBusy={run.isBusy} disabled={!isOwner}>
                Run
              </Button>
              {isOwner && shape !== 'none' && <CreateButton draft={draft} onCreated={forget} />}
              {!isOwner && <span className="quiet">Only owners run replays.</span>}
            </div>
          </div>
        </Form>
        <ProposalMap
          fences={fences}
          keepsFences={keepsFences}
          proposed={proposed}
          found={found.rows}
          onReady={setMap}
          onClick={addPoint}
        />
      </div>
      <p className="visually-hidden" role="status">
        {run.replay && statusWords[run.replay.status]}
      </p>
      {run.error && (
        <Notice tone="danger" role="alert">
          {messageOf(run.error)}
        </Notice>
      )}
      {run.replay && <Result replay={run.replay} found={found} onEvent={(at) => map?.flyTo(at, 16)} />}
    </Page>
  );
}

/** Creates the proposed geofence, unless another one has its name. */
function CreateButton({ draft, onCreated }: { readonly draft: GeofenceDraft; onCreated(): void }) {
  const toasts = useToasts();
  const [, navigate] = useLocation();
  // The proposal's own name is for the replay only. Each geofence that is created from one has another, and a second
  // attempt after one without an answer has the same.
  const [suffix] = useState(() => Date.now().toString(36));
  const create = useAction(async (_: undefined, scope) => {
    const { tag, externalId, ...body } = bodyOf(draft);
    const named = { ...body, tag, externalId: `${externalId}-${suffix}` };
    const answer = await createRecord(scope, 'geofences', named);
    toasts.say(`${answer.geofence.description} is created.`);
    return answer;
  }, 'geofences');
  return (
    <Button
      isBusy={create.isPending}
      onClick={() =>
        create.mutate(undefined, {
          onSuccess: ({ geofence }: { geofence: Geofence }) => {
            onCreated();
            navigate(`/geofences/${geofence._id}`);
          },
        })
      }
    >
      Create this geofence
    </Button>
  );
}
