/** The map of all places as hooks: the map itself, the places on it, and the editor of what is drawn. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { type AllPlaces, type PlacesChange, useAllPlaces } from '../client/all-places';
import { useLastPicture } from '../components/last-picture';
import type { MapStyle, View } from '../components/map-look';
import { loadMap, problemOfMap } from '../components/map-start';
import type { MapView } from '../components/map-view';
import { subjectOf } from '../state/map-picture';
import { useScope } from '../state/session';
import type { Editor } from './editor';
import { type MapAddress, type Selection, writeAddress } from './map-address';
import type { MapEvents } from './place-editor';
import { colourNumbers, type Layers, type PlaceName, shownBy, tagCounts } from './places';

const loadEditor = () => import('./editor');
/** Loads the editor before it is needed. A failure is reported when it is. */
export const preloadEditor = (): void => void loadEditor().catch(() => {});

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
function useEditor(view: MapView | undefined, isUsed: boolean, shared: Shared, onProblem: (text: string) => void) {
  const [editor, setEditor] = useState<Editor>();
  const [isWanted, setWanted] = useState(isUsed);
  if (isUsed && !isWanted) setWanted(true);
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
    start().catch((error) => onProblem(`${problemOfMap(error)} The search and the lists work without it.`));
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

/**
 * Shows all places when the first of them are there, unless the address names a view or a place. Shows them again when
 * the last ones are there, unless the map was moved or something is chosen.
 * @returns whether the map shows all places still.
 */
function useFirstFit(
  view: MapView | undefined,
  { byId, version, isComplete }: AllPlaces,
  hasView: boolean,
  hasSelection: boolean,
) {
  const isWhole = useRef(false);
  const hasFitted = useRef(hasView);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that there are places
  useEffect(() => {
    if (view === undefined || hasFitted.current || byId.size === 0) return;
    hasFitted.current = true;
    view.showAll();
    isWhole.current = true;
  }, [view, byId, version]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end of loading moves the map
  useEffect(() => {
    if (view === undefined || !isComplete || !isWhole.current || hasSelection) return;
    view.showAll();
    isWhole.current = true;
  }, [view, isComplete]);
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

interface StageOptions {
  /** What the address names at first. */
  readonly first: MapAddress;
  readonly style: MapStyle;
  readonly layers: Layers;
  readonly selection: Selection | undefined;
  onProblem(text: string): void;
}

/** The map in its element, with all places, and what its page listens to. */
export type MapStage = ReturnType<typeof useMapStage>;

/** Puts all places on a map, and starts the editor when something is chosen or drawn. */
export function useMapStage({ first, style, layers, selection, onProblem }: StageOptions) {
  const scope = useScope();
  const [view, setView] = useState<MapView>();
  const [hover, setHover] = useState<Hover>();
  const events = useRef<MapEvents>(undefined);
  const listeners = useRef<Listeners>(undefined);
  const shared: Shared = { editor: useRef<Editor>(undefined), events, listeners };
  const lastView = useRef(first.view);
  const places = useShownPlaces(view);
  const { tags, display } = useDisplay(places, layers);
  const picture = useLastPicture('map', subjectOf(scope, style, placeOf(first.view)), () => {
    const whole = isWhole.current ? [subjectOf(scope, style)] : [];
    return [subjectOf(scope, style, placeOf(lastView.current)), ...whole];
  });
  // The editor goes before the map does.
  const editor = useEditor(view, selection !== undefined, shared, onProblem);
  const container = useMap({
    style,
    first: first.view,
    shared,
    picture,
    onView: setView,
    onHover: setHover,
    onProblem,
  });
  useEffect(() => {
    view?.setStyle(style, () => editor?.stop());
  }, [view, editor, style]);
  useEffect(() => view?.setPlaces(places.index, display), [view, places.index, display]);
  const hasView = first.view !== undefined || first.selection?.type === 'stored';
  const isWhole = useFirstFit(view, places, hasView, selection !== undefined);
  useChosen(view, places, selection?.type === 'stored' ? selection.id : undefined);
  useMapFocus(view, selection);
  return { container, picture, view, editor, events, listeners, places, tags, hover, lastView, isWhole };
}
