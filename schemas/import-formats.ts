/** Formats of imported files by the extension of their names: the one table of uploads, the sync and the commands. */
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
