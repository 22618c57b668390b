/** How sure a transition is, from 1 to 3, by where the disc of accuracy lies. */
import type { Location } from '../../schemas/records.js';
import { type Fences, type Transition, Zone } from './types.js';

type Confidence = Transition['confidence'];

/** Of an entry or a dwell: 3 when the disc lies wholly inside, 2 when at least half of it does. */
export function entryConfidence(zone: Zone, row: number, location: Location, fences: Fences): Confidence {
  if (zone === Zone.within) return 3;
  if (zone === Zone.apart) return 1;
  return fences.holdsHalf(row, location.longitude, location.latitude, location.accuracy_m) ? 2 : 1;
}

/** Of an exit: 3 when the disc lies wholly outside (touching counts as outside), 2 when at least half of it does. */
export function exitConfidence(zone: Zone, row: number, location: Location, fences: Fences): Confidence {
  if (zone === Zone.apart) return 3;
  if (zone === Zone.within) return 1;
  const share = fences.share(row, location.longitude, location.latitude, location.accuracy_m);
  if (zone === Zone.near && share === 0) return 3;
  return 1 - share >= 0.5 ? 2 : 1;
}
