/** Events in plain words. Pure. */
import type { Event } from '../../client/types';

export const eventNames: Readonly<Record<string, string>> = {
  'user.entered_geofence': 'Entered',
  'user.exited_geofence': 'Left',
  'user.dwelled_in_geofence': 'Dwelled in',
  'user.entered_beacon': 'Came near',
  'user.exited_beacon': 'Left',
};

export const eventTypes = Object.keys(eventNames);

/** Returns what kind of mark the event has. */
export const markOf = ({ type }: Pick<Event, 'type'>): 'entered' | 'left' | 'other' =>
  type.startsWith('user.entered') ? 'entered' : type.startsWith('user.exited') ? 'left' : 'other';

/** Returns for example "Entered Duomo". A conversion has the name that its app gave it. */
export function eventTitle({ type, geofence, beacon }: Event): string {
  const name = eventNames[type] ?? type;
  const place = (geofence ?? beacon)?.description;
  return place === undefined ? name : `${name} ${place}`;
}

export const whoOf = ({ user }: Event): string => user?.userId ?? user?.deviceId ?? 'Nobody known';

/** Returns for example "2 h 5 min". */
export function durationText(minutes: number): string {
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  if (minutes < 60) return `${Math.round(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${Math.round(minutes % 60)} min` : `${Math.round(hours / 24)} days`;
}

/** Returns for example "850 ms" or "2.4 s". */
export function lagText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : durationText(ms / 60_000);
}

/** Returns for example "120 m" or "3.4 km". */
export const distanceText = (metres: number): string =>
  metres < 10
    ? `${metres.toFixed(1)} m`
    : metres < 1_000
      ? `${Math.round(metres)} m`
      : `${(metres / 1_000).toFixed(1)} km`;
