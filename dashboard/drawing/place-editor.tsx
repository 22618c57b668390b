/** One record on the map: its form in a panel, its shape on the map, and the history of both. */
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { Beacon, Geofence } from '../../client/types';
import { Notice } from '../components/controls';
import type { MapView } from '../components/map-view';
import { messageOf, useToasts } from '../components/toasts';
import type { BeaconDraft } from '../forms/beacon';
import { beaconKind } from '../forms/beacon-fields';
import type { WithMetadata } from '../forms/draft';
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
import { useDraftHistory } from './draft-history';
import { DrawBar } from './draw-bar';
import { useDrawing } from './drawing';
import type { Editor } from './editor';
import { useIsochrone } from './isochrone';
import type { Tool } from './map-address';
import { type Place, placeOfBeacon, placeOfGeofence } from './places';
import { outlineOf, type Position, type Shape, shapeOfBeacon, shapeOfGeofence } from './shape';

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
  const drafts = useDraftHistory(() => firstDraft(kind, { stored, start }));
  const { history, act } = drafts;
  const draft = history.present;
  const form: RecordForm<Row, Draft> = useRecordForm(kind, { stored, start, drafts: [draft, drafts.change] });
  const { isOwner, isSaving } = form;
  // The answer of a save replaces the draft.
  const isEditable = isOwner && !isSaving;
  const shape = shapeOf(draft);
  const tool = toolOf(draft);
  const storedArea = stored && areaOf(stored.record);
  const isochrone = useIsochrone(tool === 'isochrone' ? (draft as object as GeofenceDraft) : undefined, storedArea);
  const drawing = useDrawing({ drafts, view, editor, tool, isNew: stored === undefined, isEditable, shapeOf });
  const { isAdding, isPlacing } = drawing;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape follows from the draft
  useEffect(() => {
    editor.show({
      shape,
      area: isochrone.area,
      isAdding,
      isPulling: isPlacing && tool === 'circle',
      isLocked: !isEditable,
    });
  }, [editor, draft, isochrone.area, isAdding, isPlacing, isEditable]);

  const listener: MapEvents = {
    onPreview: (next) => drawing.put('preview', next),
    onStep: (next) => drawing.put('step', next),
    onClick(at, near) {
      if (isAdding && near !== undefined) {
        if (near === 0) drawing.finish();
        return true;
      }
      if (drawing.placeAt(at)) return true;
      // Unsaved changes stay, whatever else is clicked.
      if (form.isChanged) toasts.say('Save or cancel your changes first.');
      return form.isChanged;
    },
    onDoubleClick: drawing.finish,
    onPointer: (at) => editor.point(isAdding ? at : undefined),
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
    const outline = (shape && outlineOf(shape)) ?? isochrone.area ?? (shape && 'centre' in shape ? [shape.centre] : []);
    if (isFlying && outline.length > 0) view.showOutline(outline);
  }, []);

  const close = () => leave(onClose);
  useKeys((event) => {
    const { key, target } = event;
    const isCommand = event.ctrlKey || event.metaKey;
    const isOnMap = target === view.map.getCanvas();
    const letter = key.toLowerCase();
    if (isCommand && (letter === 'z' || letter === 'y')) {
      event.preventDefault();
      if (isEditable) act({ type: letter === 'y' || event.shiftKey ? 'redo' : 'undo' });
    } else if (key === 'Escape') {
      event.preventDefault();
      if (!drawing.finish()) close();
    } else if (isOnMap && isAdding && (key === 'Enter' || key === ' ')) {
      const { lng, lat } = view.map.getCenter();
      // A second Enter at one place finishes. Any other one is a click.
      if (drawing.isLastPoint([lng, lat]) && drawing.finish()) event.preventDefault();
    } else if (isOnMap && key === 'Backspace' && isAdding) {
      event.preventDefault();
      drawing.removeLastPoint();
    }
  });

  return (
    <>
      {isOwner && (
        <DrawBar
          {...{ history, tool, shape, isochrone, isSaving, isPlacing, isAdding }}
          onUndo={() => act({ type: 'undo' })}
          onRedo={() => act({ type: 'redo' })}
          onAddPoints={drawing.addPoints}
          onFinish={drawing.finish}
        />
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

/** Listens to keys of the page that are not meant for something else. */
function useKeys(listener: (event: KeyboardEvent) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!event.defaultPrevented && !isElsewhere(event.target)) latest.current(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

/** Tests whether keys are meant for a dialog, or for the text of a field outside the form, such as the search. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  (target.closest('dialog') !== null ||
    (target.matches('input:not([type="checkbox"], [type="radio"]), textarea') && !target.closest('.record-panel')));

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
