/** Creates identifiers of 24 hex digits, either fresh or derived from what they identify. */
import { hash, randomBytes } from 'node:crypto';

const idPattern = /^[0-9a-f]{24}$/;

/** Returns whether text is an id of a record: 24 hex digits. */
export const isId = (text: string): boolean => idPattern.test(text);

/** Returns the same id for the same parts: the first 96 bits of SHA-256 over the parts and their lengths. */
export function deriveId(...parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += text === '' ? `${part.length}:${part}` : `|${part.length}:${part}`;
  return hash('sha256', text).slice(0, 24);
}

const processPart = randomBytes(5).toString('hex');
let counter = randomBytes(3).readUIntBE(0, 3);
let secondsPart = '';
let secondsOfPart = -1;

/** Returns a fresh id of seconds, a random process part and a counter. Ids of all processes sort by second. */
export function freshId(nowMs: number = Date.now()): string {
  const seconds = Math.floor(nowMs / 1000);
  if (seconds !== secondsOfPart) {
    secondsOfPart = seconds;
    secondsPart = seconds.toString(16).padStart(8, '0');
  }
  counter = (counter + 1) & 0xffffff;
  return secondsPart + processPart + counter.toString(16).padStart(6, '0');
}

/**
 * Derives the id of a geofence or beacon from tag and external id. Two nodes that create the same pair at once make the
 * same id.
 */
export const pairId = (kind: string, project: string, environment: string, tag: string, externalId: string): string =>
  deriveId(kind, project, environment, tag, externalId);

/** Derives the id of the sync of an environment, which has one at most. */
export const syncId = ({ project, environment }: { readonly project: string; readonly environment: string }): string =>
  deriveId('sync', project, environment);

/** Derives the id of a part of a file of an import. */
export const importPartId = (importId: string, file: string, index: number): string =>
  deriveId('import-part', importId, file, `${index}`);

/** Derives the id of the erasure of an environment of a deleted project. */
export const projectErasureId = (project: string, environment: string): string =>
  deriveId('project-erasure', project, environment);

/** Derives the id of the record of a place from the id that its catalogue gives it. */
export const placeRecordId = (project: string, environment: string, placeId: string): string =>
  deriveId('place', project, environment, placeId);
