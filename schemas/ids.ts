/** Identifiers: 24 hex digits, either fresh or derived from what they name. */
import { hash, randomBytes } from 'node:crypto';

/** The same parts always give the same id. Parts are separated unambiguously. SHA-256, first 96 bits. */
export function deriveId(...parts: readonly string[]): string {
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join('|')).slice(0, 24);
}

const processPart = randomBytes(5).toString('hex');
let counter = randomBytes(3).readUIntBE(0, 3);
let secondsPart = '';
let secondsOfPart = -1;

/** A fresh id, ordered by time across processes to the second: seconds, random process part, counter. */
export function freshId(nowMs: number = Date.now()): string {
  const seconds = Math.floor(nowMs / 1000);
  if (seconds !== secondsOfPart) {
    secondsOfPart = seconds;
    secondsPart = seconds.toString(16).padStart(8, '0');
  }
  counter = (counter + 1) & 0xffffff;
  return secondsPart + processPart + counter.toString(16).padStart(6, '0');
}

/** A geofence's or beacon's id follows from its pair, so two nodes that create the same pair at once agree. */
export const pairId = (kind: string, project: string, environment: string, tag: string, externalId: string): string =>
  deriveId(kind, project, environment, tag, externalId);
