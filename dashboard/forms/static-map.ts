/** What the composer of static maps holds, and the query of the API that it makes. Pure. */

interface MarkersDraft {
  /** Keeps React's state with the group. */
  readonly id: number;
  /** `latitude,longitude`, one per line. */
  readonly locations: string;
  /** `#rrggbb`. */
  readonly color: string;
  readonly size: 'normal' | 'small';
  /** An uploaded marker or a URL; empty: a pin. */
  readonly icon: string;
}

interface PathDraft {
  readonly id: number;
  /** `latitude,longitude`, one per line, or `enc:` and a polyline, or GeoJSON. */
  readonly locations: string;
  readonly stroke: string;
  readonly width: string;
  readonly border: string;
  readonly borderWidth: string;
}

/** A static map as its form has it: texts of query parameters. */
export interface MapDraft {
  readonly style: string;
  readonly width: string;
  readonly height: string;
  readonly scale: string;
  readonly format: '' | 'png' | 'webp' | 'jpg';
  readonly language: string;
  /** What the map shows: all that is drawn on it, a centre, or a box. */
  readonly view: 'fit' | 'center' | 'bbox';
  readonly center: string;
  readonly zoom: string;
  readonly bbox: string;
  readonly geofences: string;
  readonly markers: readonly MarkersDraft[];
  readonly paths: readonly PathDraft[];
}

let lastId = 0;

/** Returns a group of markers, which share colour, size and icon. */
export function newMarkers(locations = ''): MarkersDraft {
  lastId += 1;
  return { id: lastId, locations, color: defaultColor, size: 'normal', icon: '' };
}

/** Returns a path with a border. */
export function newPath(locations = ''): PathDraft {
  lastId += 1;
  return { id: lastId, locations, stroke: defaultColor, width: '3', border: '#ffffff', borderWidth: '2' };
}

/** The API's defaults are left out of the address. */
const defaultColor = '#000257';
/** Florence, Rome and Milan: the built-in basemap has no streets. */
export const exampleLocations = '43.7731,11.2558\n41.9028,12.4964\n45.4642,9.1900';
const defaults = { style: 'svc-default-v1', scale: '1', language: '', width: '3', border: '#ffffff', borderWidth: '2' };

/** Returns what the composer begins with: a map of three cities, at a width that pages have. */
export const firstDraft = (): MapDraft => ({
  style: defaults.style,
  width: '600',
  height: '400',
  scale: '2',
  format: '',
  language: '',
  view: 'fit',
  center: '43.7731,11.2558',
  zoom: '6',
  bbox: '36.6,6.6,47.1,18.6',
  geofences: '',
  markers: [newMarkers(exampleLocations)],
  paths: [],
});

/**
 * Returns the places that are typed in a draft, as text that can be compared; empty: none are. The others were there at
 * first. Sizes, colours and choices do not count: they are soon typed again.
 */
export function placesTyped({ view, center, bbox, geofences, markers, paths }: MapDraft): string {
  const first = firstDraft();
  const given = new Set(['', first.center, first.bbox, exampleLocations]);
  return [
    view === 'center' ? center : '',
    view === 'bbox' ? bbox : '',
    geofences,
    ...[...markers, ...paths].map(({ locations }) => locations),
  ]
    .map((places) => places.trim())
    .filter((places) => !given.has(places))
    .join('\n\n');
}

/** Returns the locations as the API takes them, separated by `|`. A single line of another form stays as it is. */
const joined = (locations: string): string =>
  locations
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('|');

const option = (name: string, value: string, otherwise = ''): string[] =>
  value.trim() === '' || value.trim() === otherwise ? [] : [`${name}:${value.trim().replace(/^#/, '0x')}`];

const markersText = ({ locations, color, size, icon }: MarkersDraft): string =>
  [
    ...option('color', color, defaultColor),
    ...option('size', size, 'normal'),
    ...option('icon', icon),
    joined(locations),
  ].join('|');

const pathText = ({ locations, stroke, width, border, borderWidth }: PathDraft): string =>
  [
    ...option('stroke', stroke, defaultColor),
    ...option('width', width, defaults.width),
    ...option('border', border, defaults.border),
    ...option('borderWidth', borderWidth, defaults.borderWidth),
    joined(locations),
  ].join('|');

/** Returns the names and values of the query, in the order of the documentation. */
export function parametersOf(draft: MapDraft): [name: string, value: string][] {
  const { view, style, scale, language, format, center, zoom, bbox, geofences } = draft;
  const isCentered = view === 'center';
  const all: [string, string][] = [
    ['width', draft.width],
    ['height', draft.height],
    ['scale', scale === defaults.scale ? '' : scale],
    ['center', isCentered ? center : ''],
    ['zoom', isCentered ? zoom : ''],
    ['bbox', view === 'bbox' ? bbox : ''],
    ['style', style === defaults.style ? '' : style],
    ['language', language],
    ...draft.markers.map((each): [string, string] => ['markers', markersText(each)]),
    ...draft.paths.map((each): [string, string] => ['path', pathText(each)]),
    ['geofences', geofences],
    ['format', format],
  ];
  return all.map(([name, value]): [string, string] => [name, value.trim()]).filter(([, value]) => value !== '');
}

/** Returns a query that people can read: commas, colons, slashes and bars need no escape in it. */
export const queryText = (parameters: readonly (readonly [name: string, value: string])[]): string =>
  parameters
    .map(
      ([name, value]) =>
        `${name}=${encodeURIComponent(value).replace(/%(2C|3A|2F|7C|40|E2%80%A6)/g, decodeURIComponent)}`,
    )
    .join('&');

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;' };
/** Returns the text for an attribute of HTML in double quotes. */
export const attribute = (text: string): string => text.replace(/[&"<]/g, (letter) => escapes[letter]!);

/** Quotes for a shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
