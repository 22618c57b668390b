/** One record on the map: its form in a panel, its shape on the map, and the history of both. */
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'react';
import type { Beacon, Geofence } from '../../client/types';
import { useApi } from '../client/hooks';
import { Button, Notice } from '../components/controls';
import { useSettled } from '../components/list-filters';
import type { MapView } from '../components/map-view';
import { messageOf, useToasts } from '../components/toasts';
import type { BeaconDraft } from '../forms/beacon';
import { beaconKind } from '../forms/beacon-fields';
import { degreesOf, quantityOf, type WithMetadata } from '../forms/draft';
import type { GeofenceDraft } from '../forms/geofence';
import { geofenceKind } from '../forms/geofence-fields';
import {
  firstDraft,
  type RecordForm,
  type RecordKind,
  RecordPanel,
  type Stored,
  useRecordForm,
} from '../forms/record-form';
import { leave } from '../state/unsaved';
import type { Editor } from './editor';
import { beginHistory, canRedo, canUndo, type HistoryAction, reduceHistory } from './history';
import type { Tool } from './map-address';
import { type Place, placeOfBeacon, placeOfGeofence } from './places';
import {
  crossingsOf,
  distanceM,
  fieldsOf,
  isWithinMap,
  niceRadiusM,
  outlineOf,
  type Position,
  roundedPosition,
  type Shape,
  shapeOfBeacon,
  shapeOfGeofence,
} from './shape';

/** What the page's map tells the record that is edited. */
export interface MapEvents {
  onPreview(shape: Shape): void;
  onStep(shape: Shape): void;
  /** @param near the number of the polygon's point that was clicked. @returns whether the click was used. */
  onClick(at: Position, near: number | undefined): boolean;
  onDoubleClick(): boolean;
  /** The pointer is over the map. */
  onPointer(at: Position | undefined): void;
}

interface Common {
  readonly view: MapView;
  readonly editor: Editor;
  /** Gets the listener of this record while it is edited. */
  readonly events: { current: MapEvents | undefined };
  /** Whether the map goes to the record first. */
  readonly isFlying: boolean;
  onSaved(place: Place): void;
  onDeleted(id: string): void;
  onClose(): void;
}

interface Props<Row extends { readonly _id: string; readonly description: string }, Draft> extends Common {
  readonly kind: RecordKind<Row, Draft>;
  readonly stored?: Stored<Row>;
  readonly start?: Partial<Draft>;
  shapeOf(draft: Draft): Shape | undefined;
  /** What the draft is drawn as. */
  toolOf(draft: Draft): Tool;
  placeOf(row: Row): Place | undefined;
  /** The area of a travel time, of what is stored. */
  areaOf(row: Row): readonly Position[] | undefined;
}

/** The metres that fill a part of the map's height, for a first radius. */
function radiusInView({ map }: MapView): number {
  const { height } = map.getContainer().getBoundingClientRect();
  const [centre, edge] = [map.unproject([0, height / 2]), map.unproject([0, height / 2 - height / 8])];
  return niceRadiusM(distanceM([centre.lng, centre.lat], [edge.lng, edge.lat]));
}

/** Returns the names of the fields that differ: letters of one field are one step of the history. */
function changedFields(before: object, after: object): string {
  const [one, other] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return Object.keys(other)
    .filter((name) => one[name] !== other[name])
    .join(' ');
}

interface Isochrone {
  readonly area: readonly Position[] | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
}

/** Asks for the area of a travel time, unless the stored one is the same. */
function useIsochrone(draft: object, known: readonly Position[] | undefined): Isochrone {
  const { type, latitude, longitude, minutes, mode } = draft as GeofenceDraft;
  const isAsked = type === 'isochrone' && known === undefined && latitude.trim() !== '' && longitude.trim() !== '';
  const wanted = isAsked
    ? JSON.stringify({
        coordinates: `${degreesOf(latitude)},${degreesOf(longitude)}`,
        radius: quantityOf(minutes),
        mode,
      })
    : '{}';
  const query = useSettled(wanted, 500);
  const isSettled = query === wanted;
  const asked = useApi('GET /v1/route/isochrone', { query: JSON.parse(query) }, { enabled: isAsked && isSettled });
  if (!isAsked) return { area: known, isLoading: false, error: null };
  return {
    area: asked.error ? undefined : asked.data?.isochrone.geometry.coordinates[0],
    isLoading: !isSettled || asked.isFetching,
    error: asked.error,
  };
}

function PlaceEditor<Row extends { readonly _id: string; readonly description: string }, Draft extends WithMetadata>({
  kind,
  stored,
  start,
  view,
  editor,
  events,
  isFlying,
  shapeOf,
  toolOf,
  placeOf,
  areaOf,
  onSaved,
  onDeleted,
  onClose,
}: Props<Row, Draft>) {
  const toasts = useToasts();
  const [history, dispatch] = useReducer(reduceHistory<Draft>, undefined, () =>
    beginHistory(firstDraft(kind, { stored, start })),
  );
  const now = useRef(history);
  now.current = history;
  const act = useCallback((action: HistoryAction<Draft>) => {
    // Several events may come before the next render.
    now.current = reduceHistory(now.current, action);
    dispatch(action);
  }, []);
  const draft = history.present;
  const change = useCallback(
    (next: (draft: Draft) => Draft) => {
      const state = next(now.current.present);
      act({ type: 'step', state, topic: changedFields(now.current.present, state) });
    },
    [act],
  );
  const form: RecordForm<Row, Draft> = useRecordForm(kind, { stored, start, drafts: [draft, change] });
  const { isOwner, isSaving } = form;
  // The answer of a save replaces the draft.
  const isEditable = isOwner && !isSaving;

  const shape = shapeOf(draft);
  const tool = toolOf(draft);
  const [isAdding, setAdding] = useState(stored === undefined && tool === 'polygon');
  const [began] = useState(draft);
  const isSameArea = ['latitude', 'longitude', 'minutes', 'mode'].every(
    (name) => (began as Record<string, unknown>)[name] === (draft as Record<string, unknown>)[name],
  );
  const known = stored && tool === 'isochrone' && isSameArea ? areaOf(stored.record) : undefined;
  const isochrone = useIsochrone(kind.singular === 'geofence' ? draft : neverAnIsochrone, known);
  const isPlacing = isEditable && shape === undefined && tool !== 'polygon';
  const isAddingPoints = isEditable && isAdding && tool === 'polygon';

  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape follows from the draft
  useEffect(() => {
    const area = tool === 'isochrone' ? isochrone.area : undefined;
    editor.show({
      shape,
      area,
      isAdding: isAddingPoints,
      isPulling: isPlacing && tool === 'circle',
      isLocked: !isEditable,
    });
  }, [editor, draft, isochrone.area, isAddingPoints, isPlacing, isEditable]);

  const put = (type: 'preview' | 'step', next: Shape) => {
    const state = { ...now.current.present, ...fieldsOf(next) } as Draft;
    act({ type, state });
  };
  const present = () => shapeOf(now.current.present);

  function placeAt(at: Position): boolean {
    const centre = roundedPosition(at);
    if (tool === 'polygon') {
      if (!isAddingPoints) return false;
      const before = present();
      put('step', { type: 'polygon', points: [...(before?.type === 'polygon' ? before.points : []), centre] });
      return true;
    }
    if (!isPlacing) return false;
    put(
      'step',
      tool === 'circle' ? { type: 'circle', centre, radiusM: radiusInView(view) } : { type: 'point', centre },
    );
    return true;
  }
  function finish(): boolean {
    const before = present();
    if (!isAddingPoints || before?.type !== 'polygon' || before.points.length < 3) return false;
    setAdding(false);
    editor.point(undefined);
    return true;
  }
  const listener: MapEvents = {
    onPreview: (next) => put('preview', next),
    onStep: (next) => put('step', next),
    onClick(at, near) {
      if (isAddingPoints && near !== undefined) {
        if (near === 0) finish();
        return true;
      }
      if (placeAt(at)) return true;
      // Unsaved changes stay, whatever else is clicked.
      if (form.isChanged) toasts.say('Save or cancel your changes first.');
      return form.isChanged;
    },
    onDoubleClick: finish,
    onPointer: (at) => editor.point(isAddingPoints ? at : undefined),
  };
  // When another record takes this one's place, its listener is there before effects of this one are undone.
  useLayoutEffect(() => {
    events.current = listener;
    return () => {
      if (events.current === listener) events.current = undefined;
    };
  });
  useEffect(
    () => () => {
      editor.show({ shape: undefined, area: undefined, isAdding: false, isPulling: false, isLocked: true });
      editor.point(undefined);
    },
    [editor],
  );

  // The map goes to a record that came by a link.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the record is there
  useEffect(() => {
    const outline = (shape && outlineOf(shape)) ?? known ?? (shape && 'centre' in shape ? [shape.centre] : []);
    if (isFlying && outline.length > 0) view.showOutline(outline);
  }, []);

  const close = () => leave(onClose);
  const keys = useRef((_: KeyboardEvent) => {});
  keys.current = (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || isElsewhere(target)) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const isOnMap = target === view.map.getCanvas();
    const letter = key.toLowerCase();
    if (isCommand && (letter === 'z' || letter === 'y')) {
      event.preventDefault();
      if (isEditable) act({ type: letter === 'y' || event.shiftKey ? 'redo' : 'undo' });
    } else if (key === 'Escape') {
      event.preventDefault();
      if (!finish()) close();
    } else if (isOnMap && (key === 'Enter' || key === ' ')) {
      event.preventDefault();
      const { lng, lat } = view.map.getCenter();
      const isThere = isAddingPoints && isLastPoint(present(), [lng, lat]);
      // A second Enter at one place finishes.
      if (!(isThere && finish())) placeAt([lng, lat]);
    } else if (isOnMap && key === 'Backspace' && isAddingPoints) {
      event.preventDefault();
      const before = present();
      if (before?.type === 'polygon') put('step', { ...before, points: before.points.slice(0, -1) });
    }
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => keys.current(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);

  const points = shape?.type === 'polygon' ? shape.points : [];
  const crossings = crossingsOf(points).length;
  return (
    <>
      {isOwner && (
        <div className="draw-bar card" role="toolbar" aria-label="Drawing">
          <Button
            look="plain"
            icon="undo"
            aria-label="Undo"
            title="Undo (Ctrl+Z)"
            disabled={isSaving || !canUndo(history)}
            onClick={() => act({ type: 'undo' })}
          />
          <Button
            look="plain"
            icon="redo"
            aria-label="Redo"
            title="Redo (Ctrl+Shift+Z)"
            disabled={isSaving || !canRedo(history)}
            onClick={() => act({ type: 'redo' })}
          />
          {tool === 'polygon' && (
            <Button
              look="plain"
              icon={isAdding ? 'check' : 'plus'}
              disabled={isSaving || (isAdding && points.length < 3)}
              onClick={() => (isAdding ? finish() : setAdding(true))}
            >
              {isAdding ? 'Finish' : 'Add points'}
            </Button>
          )}
          <p className="draw-hint quiet small" role="status">
            {hintOf({ tool, shape, isPlacing, isAdding: isAddingPoints, points: points.length, crossings, isochrone })}
          </p>
        </div>
      )}
      <div className="map-side">
        {isochrone.error !== null && (
          <Notice tone="warning" role="status">
            <strong>The area cannot be shown.</strong> {messageOf(isochrone.error)}
          </Notice>
        )}
        <RecordPanel
          form={form}
          onSaved={(row) => {
            const place = placeOf(row);
            if (place) onSaved(place);
            else onClose();
          }}
          onDeleted={() => onDeleted(stored?.record._id ?? '')}
          onClose={close}
        />
      </div>
    </>
  );
}

/** Tests whether keys are meant for a dialog, or for the text of a field outside the form, such as the search. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  (target.closest('dialog') !== null ||
    (target.matches('input:not([type="checkbox"], [type="radio"]), textarea') && !target.closest('.record-panel')));

const neverAnIsochrone = { type: 'circle', latitude: '', longitude: '', minutes: '', mode: '' };

/** Tests whether a polygon's last point is at the position. */
function isLastPoint(shape: Shape | undefined, at: Position): boolean {
  const last = shape?.type === 'polygon' ? shape.points.at(-1) : undefined;
  return last !== undefined && distanceM(last, at) < 0.5;
}

interface HintState {
  readonly tool: Tool;
  readonly shape: Shape | undefined;
  readonly isPlacing: boolean;
  readonly isAdding: boolean;
  readonly points: number;
  readonly crossings: number;
  readonly isochrone: Isochrone;
}

function hintOf({ tool, shape, isPlacing, isAdding, points, crossings, isochrone }: HintState): string {
  if (crossings > 0) return `The outline crosses itself at ${crossings === 1 ? 'one place' : `${crossings} places`}.`;
  if (isPlacing) {
    if (tool === 'circle') return 'Click the centre, or pull from the centre outwards.';
    return tool === 'beacon' ? 'Click where the beacon is.' : 'Click the destination.';
  }
  if (isAdding && points === 0) return 'Click the first point.';
  if (isAdding && points < 3) return 'Click the next point.';
  if (isAdding) return 'Click further points. Click the first one to finish.';
  if (shape && !isWithinMap(shape)) return 'It crosses the antimeridian or reaches a pole. Edit it in the form.';
  if (tool === 'polygon') return 'Pull points to move them. Right-click a point to remove it.';
  if (tool === 'circle') return 'Pull the centre or the handle.';
  if (tool === 'isochrone' && isochrone.isLoading) return 'Computing the area.';
  return 'Pull the point to move it.';
}

interface EditorProps<Row> extends Common {
  readonly stored?: Stored<Row>;
  readonly start?: object;
}

export const GeofenceEditor = ({ start, ...props }: EditorProps<Geofence>) => (
  <PlaceEditor<Geofence, GeofenceDraft>
    {...props}
    {...(start && { start: start as Partial<GeofenceDraft> })}
    kind={geofenceKind}
    shapeOf={shapeOfGeofence}
    toolOf={({ type }) => type}
    placeOf={placeOfGeofence}
    areaOf={({ geometry }) => geometry?.coordinates[0]}
  />
);

export const BeaconEditor = ({ start, ...props }: EditorProps<Beacon>) => (
  <PlaceEditor<Beacon, BeaconDraft>
    {...props}
    {...(start && { start: start as Partial<BeaconDraft> })}
    kind={beaconKind}
    shapeOf={shapeOfBeacon}
    toolOf={() => 'beacon'}
    placeOf={placeOfBeacon}
    areaOf={() => undefined}
  />
);
