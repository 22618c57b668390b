/** All geofences and beacons on a map: search, drawing, and the form of what is chosen. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { type AllPlaces, maxPlaces, type PlacesChange, useAllPlaces } from '../client/all-places';
import { Badge, Button, Loading, Notice } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { Icon, type IconName } from '../components/icons';
import { useLastPicture } from '../components/last-picture';
import { type MapStyle, shadeOf, storedStyle, styleOf, type View } from '../components/map-look';
import { loadMap } from '../components/map-start';
import type { MapView } from '../components/map-view';
import { messageOf } from '../components/toasts';
import type { Editor } from '../drawing/editor';
import { LayerMenu } from '../drawing/layer-menu';
import { readAddress, type Selection, type Tool, writeAddress } from '../drawing/map-address';
import { BeaconEditor, GeofenceEditor, type MapEvents } from '../drawing/place-editor';
import {
  allLayers,
  colourNumbers,
  type Layers,
  type Place,
  type PlaceName,
  shownBy,
  tagCounts,
} from '../drawing/places';
import { type Found, MapSearch } from '../drawing/search';
import { beaconKind } from '../forms/beacon-fields';
import { geofenceKind } from '../forms/geofence-fields';
import { StoredRecord } from '../forms/record-form';
import { subjectOf } from '../state/map-picture';
import { scopeIn, withScope } from '../state/scope-address';
import { useScope, useWorkspace } from '../state/session';
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

const loadEditor = () => import('../drawing/editor');
/** A failure is reported when the editor is needed. */
const preloadEditor = (): void => void loadEditor().catch(() => {});

const placeOf = (view: View | undefined): string => writeAddress({ view, selection: undefined });

/** What the map's listeners call. They are made once, and the page renders often. */
interface Listeners {
  onClick(place: PlaceName | undefined): void;
  onMove(view: View): void;
}

/** What the map's listeners share with the page, which renders often. */
interface Shared {
  readonly editor: { current: Editor | undefined };
  readonly events: { current: MapEvents | undefined };
  readonly listeners: { current: Listeners | undefined };
}

/**
 * Starts the editor when something is drawn or chosen first: most who look at the map draw nothing.
 * @returns undefined until it is there.
 */
function useEditor(view: MapView | undefined, isWanted: boolean, shared: Shared, onProblem: (text: string) => void) {
  const [editor, setEditor] = useState<Editor>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shared is always the same object
  useEffect(() => {
    if (view === undefined || !isWanted) return;
    let isGone = false;
    async function start(view: MapView) {
      const { createEditor } = await loadEditor();
      if (isGone) return;
      const created = createEditor({
        map: view.map,
        onPreview: (shape) => shared.events.current?.onPreview(shape),
        onStep: (shape) => shared.events.current?.onStep(shape),
      });
      if (view.hasStyle()) created.start(view.shade());
      shared.editor.current = created;
      setEditor(created);
    }
    start(view).catch(() => onProblem('The drawing tools could not be loaded. Reload the page to draw.'));
    return () => {
      isGone = true;
      shared.editor.current?.remove();
      shared.editor.current = undefined;
      setEditor(undefined);
    };
  }, [view, isWanted]);
  return editor;
}

/** The place under the pointer, in pixels of the map. */
interface Hover {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

interface MapOptions {
  readonly style: MapStyle;
  readonly first: View | undefined;
  readonly shared: Shared;
  readonly picture: ReturnType<typeof useLastPicture>;
  onView(view: MapView | undefined): void;
  onHover(hover: Hover | undefined): void;
  onProblem(text: string): void;
}

/** Creates the map in the element that it returns a reference of. */
function useMap({ style, first, shared, picture, onView, onHover, onProblem }: MapOptions) {
  const container = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the style goes to the map that is there
  useEffect(() => {
    let view: MapView | undefined;
    let isGone = false;
    const { editor, events, listeners } = shared;
    async function start() {
      const { createMapView, mapPictures } = await loadMap(style, () => import('../components/map-view'));
      if (isGone) return;
      const created = createMapView({
        container: container.current!,
        style,
        view: first,
        onStyle: (_, nextShade) => editor.current?.start(nextShade),
        onPress: (at, point) => events.current?.onClick(at, editor.current?.pointNear(point)) ?? false,
        onClick: (place) => listeners.current?.onClick(place),
        onHover,
        onMove: (next) => listeners.current?.onMove(next),
      });
      const { map } = created;
      map.on('dblclick', (event) => {
        if (events.current?.onDoubleClick()) event.preventDefault();
      });
      map.on('mousemove', ({ lngLat }) => events.current?.onPointer([lngLat.lng, lngLat.lat]));
      map.on('mouseout', () => events.current?.onPointer(undefined));
      picture.watch(map, mapPictures);
      view = created;
      onView(created);
    }
    start().catch(() =>
      onProblem('This browser cannot draw the map: it has no WebGL. The search and the lists work without it.'),
    );
    return () => {
      isGone = true;
      onView(undefined);
      view?.remove();
    };
  }, []);
  return container;
}

/** Returns the tags of the places, and how the layers show them. */
function useDisplay({ byId, version }: AllPlaces, layers: Layers) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the places change in place, and their version says so
  const tags = useMemo(() => tagCounts(byId.values()), [byId, version]);
  const tagNames = tags.map(({ tag }) => tag).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the numbers of the tags say nothing about the display
  const display = useMemo(
    () => ({
      colourBy: layers.colourBy,
      colourOf: colourNumbers(layers, tags),
      isShown: shownBy(layers, tags),
    }),
    [layers, tagNames],
  );
  return { tags, display };
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

/**
 * Shows all places when the first of them are there, unless the address names a view or a place.
 * @returns whether the map shows all places still.
 */
function useFirstFit(view: MapView | undefined, { byId, version }: AllPlaces, hasView: boolean) {
  const isWhole = useRef(false);
  const hasFitted = useRef(hasView);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that there are places
  useEffect(() => {
    if (view === undefined || hasFitted.current || byId.size === 0) return;
    hasFitted.current = true;
    view.showAll();
    isWhole.current = true;
  }, [view, byId, version]);
  return isWhole;
}

/** Loads all places, and hands the map those that come, change and go. */
function useShownPlaces(view: MapView | undefined): AllPlaces {
  const onChange = useRef((_: PlacesChange) => {});
  const places = useAllPlaces((change) => onChange.current(change));
  onChange.current = (change) => {
    if (change.type === 'put') view?.putPlaces(change.places);
    else if (change.type === 'drop') view?.dropPlace(change.id);
  };
  return places;
}

/** Marks the chosen place, which its editor draws. */
function useChosen(view: MapView | undefined, { byId, version }: AllPlaces, id: string | undefined): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen place may be loaded after it was chosen
  useEffect(() => {
    view?.choose(id === undefined ? undefined : byId.get(id));
    view?.hide(id);
  }, [view, id, byId, version]);
}

/** Gives the map the focus for a new shape, which is drawn by keyboard too, and when its owner is gone with a form. */
function useMapFocus(view: MapView | undefined, selection: Selection | undefined): void {
  const lastSelection = useRef(selection);
  useEffect(() => {
    if (lastSelection.current === selection) return;
    lastSelection.current = selection;
    if (selection?.type !== 'new' && document.activeElement !== document.body) return;
    view?.map.getCanvas().focus({ preventScroll: true });
  }, [view, selection]);
}

export default function PlacesMap() {
  const { isOwner } = useWorkspace();
  const scope = useScope();
  const [first] = useState(() => readAddress(location.search));
  const [view, setView] = useState<MapView>();
  const [problem, setProblem] = useState<string>();
  const [selection, setSelection] = useState<Selection | undefined>(first.selection);
  const [layers, setLayers] = useState(allLayers);
  const { choice, style, chooseStyle } = useStyle();
  const [hover, setHover] = useState<Hover>();
  const events = useRef<MapEvents>(undefined);
  const listeners = useRef<Listeners>(undefined);
  const shared: Shared = { editor: useRef<Editor>(undefined), events, listeners };
  const lastView = useRef(first.view);
  const isFlying = useRef(first.view === undefined);
  const places = useShownPlaces(view);
  const { index, byId } = places;
  const { tags, display } = useDisplay(places, layers);
  const picture = useLastPicture('map', subjectOf(scope, style, placeOf(first.view)), () => {
    const whole = isWhole.current ? [subjectOf(scope, style)] : [];
    return [subjectOf(scope, style, placeOf(lastView.current)), ...whole];
  });

  useEffect(() => {
    document.title = 'Map · Fenceline';
  }, []);
  useViewFocus();
  const [isEdited, setEdited] = useState(false);
  if (selection !== undefined && !isEdited) setEdited(true);
  // The editor goes before the map does.
  const editor = useEditor(view, isEdited, shared, setProblem);
  const container = useMap({
    style,
    first: first.view,
    shared,
    picture,
    onView: setView,
    onHover: setHover,
    onProblem: setProblem,
  });
  useEffect(() => {
    view?.setStyle(style, () => editor?.stop());
  }, [view, editor, style]);
  useEffect(() => view?.setPlaces(index, display), [view, index, display]);
  const isWhole = useFirstFit(view, places, first.view !== undefined || first.selection?.type === 'stored');

  const chosenId = selection?.type === 'stored' ? selection.id : undefined;
  useChosen(view, places, chosenId);
  useEffect(() => writePlace(lastView.current, selection), [selection]);
  useMapFocus(view, selection);

  function select(next: Selection | undefined) {
    leave(() => setSelection(next));
  }
  listeners.current = {
    onClick(place) {
      // The click is meant for a shape whose editor is not there yet.
      if (selection?.type === 'new' && editor === undefined) return;
      select(place && { type: 'stored', ...place });
    },
    onMove(view) {
      isWhole.current = false;
      lastView.current = view;
      writePlace(view, selection);
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
    const { place } = found;
    leave(() => {
      view?.mark(undefined);
      setSelection({ type: 'stored', kind: place.kind, id: place.id });
      view?.showPlace(place);
    });
  }

  const common = view &&
    editor && {
      view,
      editor,
      events,
      isFlying: isFlying.current,
      onSaved(place: Place) {
        places.put(place);
        isFlying.current = false;
        setSelection({ type: 'stored', kind: place.kind, id: place.id });
      },
      onDeleted(id: string) {
        setSelection(undefined);
        places.drop(id);
      },
      onClose: () => setSelection(undefined),
    };
  const hovered = hover && byId.get(hover.id);
  return (
    <div className={selection ? 'map-page has-side' : 'map-page'}>
      <h1 className="visually-hidden">Map</h1>
      {problem === undefined && picture.image}
      <div className="map-canvas" data-pictured={picture.isShown && problem === undefined} ref={container} />
      <div className="map-crosshair" aria-hidden="true" />
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
      {hover && hovered && selection?.type !== 'new' && hovered.id !== chosenId && (
        <Tooltip place={hovered} x={hover.x} y={hover.y} />
      )}
      <PlaceCount places={places} />
      {common && selection && <Side key={keyOf(selection)} selection={selection} common={common} />}
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
    <div
      className="map-tools card"
      role="toolbar"
      aria-label="Draw"
      onPointerEnter={preloadEditor}
      onFocus={preloadEditor}
    >
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
    </div>
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
  readonly common: Omit<Parameters<typeof GeofenceEditor>[0], 'stored' | 'start'>;
}

/** The form of what is chosen or drawn. */
function Side({ selection, common }: SideProps) {
  if (selection.type === 'new') {
    const { tool } = selection;
    if (tool === 'beacon') return <BeaconEditor {...common} />;
    return <GeofenceEditor {...common} start={{ type: tool }} />;
  }
  const frame = (content: React.ReactNode) => (
    <div className="map-side">
      <section className="record-panel" aria-label="Chosen place">
        <div className="record-panel-head">
          <h2 className="grow">{selection.kind === 'geofence' ? 'Geofence' : 'Beacon'}</h2>
          <Button look="plain" icon="close" aria-label="Close" onClick={common.onClose} />
        </div>
        {content ?? <Loading />}
      </section>
    </div>
  );
  return selection.kind === 'geofence' ? (
    <StoredRecord kind={geofenceKind} id={selection.id} frame={frame}>
      {(stored) => <GeofenceEditor {...common} stored={stored} />}
    </StoredRecord>
  ) : (
    <StoredRecord kind={beaconKind} id={selection.id} frame={frame}>
      {(stored) => <BeaconEditor {...common} stored={stored} />}
    </StoredRecord>
  );
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
