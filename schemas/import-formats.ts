/** Formats of imported files by the extension of their names and by media type, for uploads, the sync and commands. */
import { extname } from 'node:path';
import type { ImportFormat } from './json/import.js';

/** The format of each extension, in lower case. */
export const importFormatsByExtension: Readonly<Record<`.${string}`, ImportFormat>> = {
  '.csv': 'csv',
  '.geojson': 'geojson',
  '.json': 'geojson',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.geojsonl': 'ndjson',
  '.geojsons': 'ndjson',
  '.geojsonseq': 'ndjson',
};

/** All formats. */
export const importFormats: readonly ImportFormat[] = [...new Set(Object.values(importFormatsByExtension))];

/** Returns the format that the name of a file says, if it says one. */
export const formatOfName = (name: string): ImportFormat | undefined =>
  importFormatsByExtension[extname(name).toLowerCase() as `.${string}`];

const formatsByType: ReadonlyMap<string, ImportFormat> = new Map([
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['application/geo+json', 'geojson'],
  ['application/vnd.geo+json', 'geojson'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/geo+json-seq', 'ndjson'],
]);

/** Returns the format of a media type in lower case, without parameters, if it is one of a file to import. */
export const formatOfType = (type: string): ImportFormat | undefined => formatsByType.get(type);
