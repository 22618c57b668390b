/** Where map data comes from. Apart from `maps.ts`, so that `fenceline map` does not load the drawing processes. */
import { resolve } from 'node:path';
import type { ArchiveHints } from '../renderer/sources/open.js';
import { shownUrl } from './config/http-url.js';
import type { Configuration } from './config/schema.js';
import { version } from './version.js';

/** The `User-Agent` of requests for map data, by which operators of archives and sprites recognise a node. */
export const mapsUserAgent = `Fenceline-Maps/${version}`;

/** Returns whether the archive is a URL rather than a path. */
export const isUrl = (archive: string): boolean => /^https?:\/\//i.test(archive);

/** Returns a URL or an absolute path; null for the built-in basemap. */
export function archiveLocation(archive: string): string | null {
  if (archive === '') return null;
  return isUrl(archive) ? archive : resolve(archive);
}

/** Returns the location as commands and logs show it, without keys in a URL. */
export const shownArchive = (archive: string): string => shownUrl(archiveLocation(archive) ?? '');

/** Returns what the settings say about an archive in place of its metadata. */
export const archiveHints = ({ maps }: Configuration): ArchiveHints => ({
  attribution: maps.archiveAttribution,
  maxZoom: maps.archiveMaxZoom,
});

/** Returns the line about an archive that cannot be read, with the consequence. */
export const unreadableArchive = (archive: string, reason: string): string =>
  `${shownArchive(archive)} can't be read: ${reason}: maps fail`;

/** Returns the line about an archive without attribution, with the consequence. */
export const unattributed = (archive: string): string =>
  `${archive} does not name the sources of its data, so maps do not either, as most licences require`;
