/** Writes records as CSV, GeoJSON or NDJSON: the text before, of and after the records. Pure. */
import type { ExportedFields, FieldValue } from '../../api/stored-fields.js';
import { listText } from '../../schemas/wire/common.js';
import { csvLine } from '../csv-cells.js';

/** A record's id, the names and values of its fields, and its coordinates among them. */
interface ExportedRecord {
  readonly id: string;
  readonly values: readonly FieldValue[];
}

/** How a file of records is written: `head`, one text for each record, and `tail`. */
export interface ExportFormat {
  readonly contentType: string;
  readonly extension: string;
  readonly head: (names: readonly string[]) => string;
  /** @param isFirst whether this is the first record of the file. */
  readonly record: (record: ExportedRecord, names: readonly string[], isFirst: boolean) => string;
  readonly tail: string;
}

const csv: ExportFormat = {
  contentType: 'text/csv; charset=utf-8; header=present',
  extension: 'csv',
  head: csvLine,
  record: ({ values }) => csvLine(values.map(textOf)),
  tail: '',
};

const geojson: ExportFormat = {
  contentType: 'application/geo+json; charset=utf-8',
  extension: 'geojson',
  head: () => '{"type":"FeatureCollection","features":[\n',
  record: ({ id, values }, names, isFirst) => {
    const { coordinates, ...properties } = fieldsOf(names, values);
    const feature = { type: 'Feature', id, geometry: geometryOf(coordinates), properties };
    return `${isFirst ? '' : ',\n'}${JSON.stringify(feature)}`;
  },
  tail: '\n]}\n',
};

const ndjson: ExportFormat = {
  contentType: 'application/x-ndjson; charset=utf-8',
  extension: 'ndjson',
  head: () => '',
  record: ({ values }, names) => `${JSON.stringify(fieldsOf(names, values))}\n`,
  tail: '',
};

/** The writer of each format. */
export const exportFormats = { csv, geojson, ndjson } as const;
/** The formats, by their names in the API. */
export type ExportFormatName = keyof typeof exportFormats;
/** The formats of exports. */
export const exportFormatNames = ['csv', 'geojson', 'ndjson'] as const satisfies ExportFormatName[];

/** Returns a record in the format. */
export const written = <Stored extends { readonly _id: string }>(
  format: ExportFormat,
  { names, values }: ExportedFields<Stored>,
  record: Stored,
  isFirst: boolean,
): string => format.record({ id: record._id, values: values(record) }, names, isFirst);

function textOf(value: FieldValue): string {
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  return isTexts(value) ? listText(value) : JSON.stringify(value);
}

const isTexts = (value: object): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Returns the fields that are set. */
function fieldsOf(names: readonly string[], values: readonly FieldValue[]): Record<string, FieldValue> {
  const fields: Record<string, FieldValue> = {};
  names.forEach((name, index) => {
    const value = values[index];
    if (value != null) fields[name] = value;
  });
  return fields;
}

/** Returns the point of a position, or the polygon of a ring. Rings keep the winding of their upload. */
const geometryOf = (coordinates: FieldValue | undefined): object =>
  Array.isArray(coordinates) && Array.isArray(coordinates[0])
    ? { type: 'Polygon', coordinates: [coordinates] }
    : { type: 'Point', coordinates };
