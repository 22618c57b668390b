/** All geofences and beacons on a map: search, drawing, and the form of what is chosen. */
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { type AllPlaces, maxPlaces } from '../client/all-places';
import { Badge, Button, Loading, Notice } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { Icon, type IconName } from '../components/icons';
import { shadeOf, storedStyle, styleOf, type View } from '../components/map-look';
import { messageOf } from '../components/toasts';
import { LayerMenu } from '../drawing/layer-menu';
import { type MapAddress, readAddress, type Selection, type Tool, writeAddress } from '../drawing/map-address';
import { type MapStage, preloadEditor, useMapStage } from '../drawing/map-stage';
import { BeaconEditor, GeofenceEditor } from '../drawing/place-editor';
import { allLayers, type Place, type PlaceName } from '../drawing/places';
import { type Found, MapSearch } from '../drawing/search';
import { beaconKind } from '../forms/beacon-fields';
import { geofenceKind } from '../forms/geofence-fields';
import { StoredRecord } from '../forms/record-form';
import { usePageTitle } from '../state/page-title';
import { scopeIn, withScope } from '../state/scope-address';
import { useWorkspace } from '../state/session';
import { writeStored } from '../state/storage';
import { leave } from '../state/unsaved';
import { useTheme } from '../state/use-theme';
import { useViewFocus } from '../state/view-focus';

const tools: readonly { readonly tool: Tool; readonly label: string; readonly icon: IconName }[] = [
  { tool: 'circle', label: 'Draw a circle', icon: 'circle' },
  { tool: 'polygon', label: 'Draw a polygon', icon: 'polygon' },
  { tool: 'isochrone', label: 'Draw a travel time', icon: 'clock' },
  { tool: 'beacon', label: 'Place a beacon', icon: 'beacon' },
];

/** Keeps what the page shows in its address, so that it can be reloaded and shared. */
function writePlace(view: View | undefined, selection: Selection | undefined): void {
  // While the next view is loaded, the map is hidden, and moves because its size changes.
  if (location.pathname !== '/map') return;
  const address = withScope(`/map${writeAddress({ view, selection })}`, scopeIn(location.search));
  history.replaceState(history.state, '', address);
}

/** Keeps the style that the reader has chosen. Without a choice it follows the theme. */
function useStyle() {
  const theme = useTheme();
  const [choice, setChoice] = useState(storedStyle);
  function chooseStyle(next: typeof choice): void {
    writeStored('map-style', next);
    setChoice(next);
  }
  return { choice, style: styleOf(choice, theme), chooseStyle };
}

/** What the forms of places need of the page. */
type Forms = Omit<Parameters<typeof GeofenceEditor>[0], 'stored' | 'start'>;

/**
 * Chooses, draws and finds places. Each asks first before unsaved changes are lost. The address follows.
 * @returns `forms` when there is a map to draw on.
 */
function useSelecting(
  { view, editor, events, listeners, places, lastView, isWhole }: MapStage,
  first: MapAddress,
  selection: Selection | undefined,
  setSelection: (selection: Selection | undefined) => void,
) {
  /** Whether the map goes to a record that is chosen: it came by a link, and the address names no view. */
  const isFlying = useRef(first.view === undefined);
  useEffect(() => writePlace(lastView.current, selection), [lastView, selection]);

  const select = (next: Selection | undefined) => leave(() => setSelection(next));
  const choose = ({ kind, id }: PlaceName) => setSelection({ type: 'stored', kind, id });
  listeners.current = {
    onClick(place) {
      // The click is meant for a shape whose editor is not there yet.
      if (selection?.type === 'new' && editor === undefined) return;
      select(place && { type: 'stored', ...place });
    },
    onMove(next) {
      isWhole.current = false;
      lastView.current = next;
      writePlace(next, selection);
    },
  };
  function begin(tool: Tool) {
    const turn = selection?.type === 'new' ? selection.turn + 1 : 0;
    select({ type: 'new', tool, turn });
  }
  function go(found: Found) {
    isFlying.current = false;
    if (found.type === 'address') {
      view?.mark(found.position);
      view?.flyTo(found.position, found.isExact ? 16 : 12);
      return;
    }
    leave(() => {
      view?.mark(undefined);
      choose(found.place);
      view?.showPlace(found.place);
    });
  }
  const forms: Forms | undefined = view &&
    editor && {
      view,
      editor,
      events,
      isFlying: isFlying.current,
      onSaved(place) {
        places.put(place);
        isFlying.current = false;
        choose(place);
      },
      onDeleted(id) {
        setSelection(undefined);
        places.drop(id);
      },
      onClose: () => setSelection(undefined),
    };
  return { begin, go, forms };
}

export default function PlacesMap() {
  const { isOwner } = useWorkspace();
  const [first] = useState(() => readAddress(location.search));
  const [selection, setSelection] = useState(first.selection);
  const [layers, setLayers] = useState(allLayers);
  const [problem, setProblem] = useState<string>();
  const { choice, style, chooseStyle } = useStyle();
  usePageTitle('Map');
  useViewFocus();
  const stage = useMapStage({ first, style, layers, selection, onProblem: setProblem });
  const { begin, go, forms } = useSelecting(stage, first, selection, setSelection);
  const { places, tags, picture } = stage;
  return (
    <div className={selection ? 'map-page has-side' : 'map-page'}>
      <h1 className="visually-hidden">Map</h1>
      <div className="map-panel">
        <div className="map-top">
          <MapSearch places={places} onGo={go} />
          <LayerMenu
            layers={layers}
            tags={tags}
            shade={shadeOf(style)}
            style={choice}
            counts={places}
            onLayers={setLayers}
            onStyle={chooseStyle}
          />
        </div>
        {isOwner && <DrawTools selection={selection} onBegin={begin} />}
        {selection === undefined && <EmptyMap places={places} isOwner={isOwner} />}
        {problem !== undefined && <Notice tone="warning">{problem}</Notice>}
        <MissingPlaces places={places} />
      </div>
      {problem === undefined && picture.image}
      <div className="map-canvas" data-pictured={picture.isShown && problem === undefined} ref={stage.container} />
      <div className="map-crosshair" aria-hidden="true" />
      <Hovered stage={stage} selection={selection} />
      <PlaceCount places={places} />
      {forms && selection && <Side key={keyOf(selection)} selection={selection} forms={forms} />}
    </div>
  );
}

const PlaceCount = ({ places }: { readonly places: AllPlaces }) => (
  <p className="map-count" role="status">
    {!places.isComplete && places.error === null && <span className="spinner" />}
    {counted(places.geofences, 'geofence')}, {counted(places.beacons, 'beacon')}
    {places.error !== null && '; others are missing'}
    {places.isCut && `; the first ${grouped(maxPlaces)} of each`}
  </p>
);

interface DrawProps {
  readonly selection: Selection | undefined;
  onBegin(tool: Tool): void;
}

function DrawTools({ selection, onBegin }: DrawProps) {
  return (
    <fieldset className="map-tools card" aria-label="Draw" onPointerEnter={preloadEditor} onFocus={preloadEditor}>
      {tools.map(({ tool, label, icon }) => (
        <Button
          key={tool}
          look="plain"
          icon={icon}
          aria-label={label}
          title={label}
          aria-pressed={selection?.type === 'new' && selection.tool === tool}
          onClick={() => onBegin(tool)}
        />
      ))}
    </fieldset>
  );
}

function EmptyMap({ places, isOwner }: { readonly places: AllPlaces; readonly isOwner: boolean }) {
  if (!places.isComplete || places.byId.size > 0) return null;
  return (
    <Notice>
      No places yet.{' '}
      {isOwner && (
        <>
          Draw the first one, or <Link href="/imports">import a file</Link>.
        </>
      )}
    </Notice>
  );
}

function MissingPlaces({ places: { error, loadRest } }: { readonly places: AllPlaces }) {
  if (error === null) return null;
  return (
    <Notice tone="danger" role="alert">
      <strong>Places are missing on the map.</strong> {messageOf(error)}{' '}
      <button type="button" className="link-button" onClick={loadRest}>
        Load the rest
      </button>
    </Notice>
  );
}

const keyOf = (selection: Selection): string =>
  selection.type === 'stored' ? selection.id : `new ${selection.tool} ${selection.turn}`;

interface SideProps {
  readonly selection: Selection;
  readonly forms: Forms;
}

/** The form of what is chosen or drawn. */
function Side({ selection, forms }: SideProps) {
  if (selection.type === 'new') {
    const { tool } = selection;
    if (tool === 'beacon') return <BeaconEditor {...forms} />;
    return <GeofenceEditor {...forms} start={{ type: tool }} />;
  }
  const frame = (content: React.ReactNode) => (
    <div className="map-side">
      <section className="record-panel" aria-label="Chosen place">
        <div className="record-panel-head">
          <h2 className="grow">{selection.kind === 'geofence' ? 'Geofence' : 'Beacon'}</h2>
          <Button look="plain" icon="close" aria-label="Close" onClick={forms.onClose} />
        </div>
        {content ?? <Loading />}
      </section>
    </div>
  );
  return selection.kind === 'geofence' ? (
    <StoredRecord kind={geofenceKind} id={selection.id} frame={frame}>
      {(stored) => <GeofenceEditor {...forms} stored={stored} />}
    </StoredRecord>
  ) : (
    <StoredRecord kind={beaconKind} id={selection.id} frame={frame}>
      {(stored) => <BeaconEditor {...forms} stored={stored} />}
    </StoredRecord>
  );
}

interface HoveredProps {
  readonly stage: MapStage;
  readonly selection: Selection | undefined;
}

/** The name of the place under the pointer, unless its form is open, or something is drawn. */
function Hovered({ stage: { hover, places }, selection }: HoveredProps) {
  const place = hover && places.byId.get(hover.id);
  if (place === undefined || selection?.type === 'new' || selection?.id === place.id) return null;
  return <Tooltip place={place} x={hover!.x} y={hover!.y} />;
}

/** Names the place under the pointer. Keyboards and screen readers have the search and the lists. */
function Tooltip({ place, x, y }: { readonly place: Place; readonly x: number; readonly y: number }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current) element.current.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }, [x, y]);
  return (
    <div className="map-tooltip" ref={element} aria-hidden="true">
      <div className="card">
        <p className="row">
          <Icon name={place.kind === 'beacon' ? 'beacon' : 'fence'} size={14} />
          <strong className="truncate left" dir="auto">
            {place.description}
          </strong>
          {!place.enabled && <Badge>Disabled</Badge>}
        </p>
        <p className="quiet small truncate">
          {place.tag} {place.externalId}
        </p>
      </div>
    </div>
  );
}
