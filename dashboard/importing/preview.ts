/** Reads the beginning of a file: what its columns are, its first rows, and their shapes. Pure. */
import type { Beacon, Geofence, Import } from '../../client/types';
import { circleRing } from '../forms/geofence';
import { type ColumnState, missingColumns, type Resource, stateOf } from './columns';
import { readCsv } from './csv';

export type Format = Import['format'];

export interface PreviewColumn {
  readonly name: string;
  readonly state: ColumnState;
}

/** A row of a file, with its line. */
export interface PreviewRow {
  readonly line: number;
  /** In the order of the columns. */
  readonly cells: readonly string[];
}

/** What is known of a file before the server has read it. */
export interface Preview {
  readonly format: Format;
  readonly columns: readonly PreviewColumn[];
  /** Required columns that the header lacks. */
  readonly missing: readonly string[];
  readonly rows: readonly PreviewRow[];
  readonly shapes: Shapes;
  /** What is wrong with the beginning of the file, as a sentence. */
  readonly problem?: string;
  /** Whether the rows are all rows of the file. */
  readonly isWhole: boolean;
  /** About how many rows the file has. */
  readonly estimatedRows: number;
}

/** What can be drawn of the rows of a file. */
export interface Shapes {
  readonly geofences: readonly Geofence[];
  readonly beacons: readonly Beacon[];
  /** Rows whose shape the server has to look up or compute, or whose coordinates are wrong. */
  readonly withoutShape: number;
}

/** Bytes of a file that are read for the preview. */
export const previewBytes = 256 * 1_024;
const maxShapes = 1_000;
const maxCellCharacters = 200;

type Fields = Readonly<Record<string, unknown>>;

/** Returns the format that the name and the first characters of a file tell. */
export function formatOf(fileName: string, text: string): Format {
  const name = fileName.toLowerCase().replace(/\.gz$/, '');
  if (/\.(ndjson|jsonl|geojson(l|s|seq))$/.test(name)) return 'ndjson';
  if (name.endsWith('.geojson')) return 'geojson';
  if (!name.endsWith('.json') && !/^\s*\{/.test(text)) return 'csv';
  const [first = ''] = text.trimStart().split('\n', 1);
  return typeof parsed(first) === 'object' && !/"FeatureCollection"/.test(first) ? 'ndjson' : 'geojson';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the texts of the complete features of a collection whose end may be missing. */
export function featureTexts(text: string): string[] {
  const list = /"features"\s*:\s*\[/.exec(text);
  const features: string[] = [];
  if (list === null) return features;
  let depth = 0;
  let start = -1;
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
  token.lastIndex = list.index + list[0].length;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [character] = found;
    if (character === '{' || character === '[') {
      if (depth === 0) start = found.index;
      depth += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth < 0) break;
      if (depth === 0) features.push(text.slice(start, found.index + 1));
    }
  }
  return features;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the fields of an object or a feature. */
function fieldsOf(value: unknown): Fields | undefined {
  if (!isObject(value)) return undefined;
  if (value.type !== 'Feature') return value;
  const fields = isObject(value.properties) ? value.properties : {};
  const { geometry } = value;
  if (!isObject(geometry)) return fields;
  const isPolygon = geometry.type !== 'Point';
  const coordinates = isPolygon && Array.isArray(geometry.coordinates) ? geometry.coordinates[0] : geometry.coordinates;
  return { type: isPolygon ? 'polygon' : 'circle', ...fields, coordinates };
}

const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, maxCellCharacters);
};

/**
 * Returns what the beginning of a file shows.
 *
 * @param text the first {@link previewBytes} of the file at most
 * @param bytes the size of `text` and of the file
 */
export function previewOf(
  resource: Resource,
  format: Format,
  text: string,
  bytes: { readonly shown: number; readonly total: number },
): Preview {
  const isWhole = bytes.shown >= bytes.total;
  const read = format === 'csv' ? csvPreview(resource, text, isWhole) : jsonPreview(resource, format, text, isWhole);
  const { rows } = read;
  const estimatedRows = isWhole ? rows.length : Math.round((rows.length / Math.max(1, bytes.shown)) * bytes.total);
  const problem = text.includes('\uFFFD')
    ? 'The file is not UTF-8. Save it as UTF-8, and choose it again.'
    : read.problem;
  return {
    ...read,
    format,
    isWhole,
    estimatedRows,
    ...(problem !== undefined && { problem }),
  };
}

type Read = Omit<Preview, 'format' | 'isWhole' | 'estimatedRows'>;

const separators = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars'],
] as const;

function csvPreview(resource: Resource, text: string, isWhole: boolean): Read {
  const { rows, brokenLine } = readCsv(text, isWhole);
  const [header, ...body] = rows;
  const names = header?.cells ?? [];
  const separator = names.length === 1 ? separators.find(([character]) => names[0]!.includes(character)) : undefined;
  const problem = separator
    ? `The columns are separated by ${separator[1]}. They must be separated by commas.`
    : brokenLine !== undefined
      ? `The row that begins on line ${brokenLine} has a broken quote. Nothing after it can be read.`
      : header === undefined
        ? 'The file has no rows.'
        : undefined;
  return {
    columns: names.map((name) => ({ name, state: stateOf(resource, name) })),
    missing: separator ? [] : missingColumns(resource, names),
    rows: body.map(({ line, cells }) => ({ line, cells: names.map((_, index) => cellOf(cells[index])) })),
    shapes: shapesOf(
      resource,
      body.map(({ line, cells }) => ({
        line,
        fields: Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])),
      })),
    ),
    ...(problem !== undefined && { problem }),
  };
}

function jsonPreview(resource: Resource, format: Format, text: string, isWhole: boolean): Read {
  const lines = text.split(/\r\n|\n|\r/);
  if (!isWhole) lines.pop();
  const texts = format === 'geojson' ? featureTexts(text) : lines;
  const rows = texts.flatMap((each, index) =>
    each.trim() === '' ? [] : [{ line: index + 1, fields: fieldsOf(parsed(each)) }],
  );
  const names = [...new Set(rows.flatMap(({ fields = {} }) => Object.keys(fields)))];
  const bad = rows.find(({ fields }) => fields === undefined);
  const problem =
    rows.length === 0
      ? isWhole
        ? 'The file has no rows.'
        : 'The first row is longer than this preview.'
      : bad && `${format === 'geojson' ? 'Feature' : 'Line'} ${bad.line} is not a JSON object.`;
  return {
    columns: names.map((name) => ({ name, state: stateOf(resource, name, true) })),
    missing: [],
    rows: rows.map(({ line, fields = {} }) => ({
      line,
      cells: names.map((name) => cellOf(Object.hasOwn(fields, name) ? fields[name] : '')),
    })),
    shapes: shapesOf(resource, rows),
    ...(problem !== undefined && { problem }),
  };
}

type Position = [longitude: number, latitude: number];

const isPosition = (value: unknown): value is Position =>
  Array.isArray(value) &&
  value.length >= 2 &&
  typeof value[0] === 'number' &&
  typeof value[1] === 'number' &&
  Math.abs(value[0]) <= 360 &&
  Math.abs(value[1]) <= 90;

const coordinatesOf = (value: unknown): unknown => (typeof value === 'string' ? parsed(value) : value);

function ringOf(value: unknown): Position[] | undefined {
  const ring = Array.isArray(value) && Array.isArray(value[0]) && Array.isArray(value[0][0]) ? value[0] : value;
  return Array.isArray(ring) && ring.length >= 4 && ring.every(isPosition) ? ring : undefined;
}

/** Returns the middle of the ring's extent. */
function middleOf(ring: readonly Position[]): Position {
  const [x, y] = [ring.map(([longitude]) => longitude), ring.map(([, latitude]) => latitude)];
  return [(Math.min(...x) + Math.max(...x)) / 2, (Math.min(...y) + Math.max(...y)) / 2];
}

function geofenceOf(line: number, fields: Fields): Geofence | undefined {
  const type = String(fields.type ?? '').toLowerCase();
  const coordinates = coordinatesOf(fields.coordinates);
  const ring = type === 'polygon' ? ringOf(coordinates) : undefined;
  const radius = Number(fields.radius);
  const isCircle = type === 'circle' && isPosition(coordinates) && radius > 0;
  if (ring === undefined && !isCircle) return undefined;
  const center = ring ? middleOf(ring) : (coordinates as Position);
  return {
    _id: `line-${line}`,
    createdAt: '',
    updatedAt: '',
    live: false,
    tag: String(fields.tag ?? ''),
    externalId: String(fields.externalId ?? ''),
    description: String(fields.description ?? ''),
    type: ring ? 'polygon' : 'circle',
    enabled: true,
    geometry: { type: 'Polygon', coordinates: [ring ?? ([...circleRing(center, radius)] as Position[])] },
    geometryCenter: { type: 'Point', coordinates: center },
    geometryRadius: ring ? 0 : radius,
  };
}

function beaconOf(line: number, fields: Fields): Beacon | undefined {
  const coordinates = coordinatesOf(fields.coordinates);
  if (!isPosition(coordinates)) return undefined;
  return {
    _id: `line-${line}`,
    description: String(fields.description ?? ''),
    type: 'ibeacon',
    geometry: { type: 'Point', coordinates },
  };
}

/** Returns the shapes of the first rows, as many as a map shows at once. */
function shapesOf(
  resource: Resource,
  rows: readonly { readonly line: number; readonly fields: Fields | undefined }[],
): Shapes {
  const shown = rows.slice(0, maxShapes);
  const drawn = <Shape>(make: (line: number, fields: Fields) => Shape | undefined): Shape[] =>
    shown.flatMap(({ line, fields = {} }) => make(line, fields) ?? []);
  const geofences = resource === 'geofences' ? drawn(geofenceOf) : [];
  const beacons = resource === 'beacons' ? drawn(beaconOf) : [];
  return { geofences, beacons, withoutShape: shown.length - geofences.length - beacons.length };
}
