/** Events in plain words. Pure. */
import type { Event } from '../../client/types';
import { grouped } from '../components/counts';

/** What happened, by the type of an event. */
export const eventNames = new Map<string, string>([
  ['user.entered_geofence', 'Entered'],
  ['user.exited_geofence', 'Left'],
  ['user.dwelled_in_geofence', 'Dwelled in'],
  ['user.entered_beacon', 'Came near'],
  ['user.exited_beacon', 'Left'],
]);

export const eventTypes = [...eventNames.keys()];

/** Returns what kind of mark the event has. */
export const markOf = ({ type }: Pick<Event, 'type'>): 'entered' | 'left' | 'other' =>
  type.startsWith('user.entered') ? 'entered' : type.startsWith('user.exited') ? 'left' : 'other';

interface EventWords {
  /** A conversion has the name that its app gave it. */
  readonly name: string;
  readonly place: string | undefined;
}

/** Returns for example "Entered" and "Duomo". */
export const eventWords = ({ type, geofence, beacon }: Event): EventWords => ({
  name: eventNames.get(type) ?? type,
  place: (geofence ?? beacon)?.description,
});

/** Returns for example "Entered Duomo". */
export function eventTitle(event: Event): string {
  const { name, place } = eventWords(event);
  return place === undefined ? name : `${name} ${place}`;
}

/** Returns the id of the user or, without one, of the device. */
export const whoOf = ({ user }: Event): string => user?.userId ?? user?.deviceId ?? 'Nobody known';

/** Returns for example "2 h 5 min". Rounds before it chooses the unit, so that no 60 s or 60 min are left over. */
export function durationText(minutes: number): string {
  const seconds = Math.round(minutes * 60);
  if (seconds < 60) return `${seconds} s`;
  const whole = Math.round(minutes);
  if (whole < 60) return `${whole} min`;
  const hours = Math.floor(whole / 60);
  return hours < 48 ? `${hours} h ${whole % 60} min` : `${Math.round(hours / 24)} days`;
}

/** Returns for example "850 ms" or "2.4 s". */
export function lagText(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole} ms`;
  const tenths = Math.round(ms / 100);
  return tenths < 600 ? `${(tenths / 10).toFixed(1)} s` : durationText(ms / 60_000);
}

/** Returns for example "±1,200 m": the radius of the disc in which a device is. */
export const accuracyText = (metres: number): string => `±${grouped(Math.round(metres))} m`;

/** Returns for example "3.4 m", "120 m" or "3.4 km". */
export function distanceText(metres: number): string {
  const tenths = Math.round(metres * 10);
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} m`;
  const whole = Math.round(metres);
  return whole < 1_000 ? `${whole} m` : `${(metres / 1_000).toFixed(1)} km`;
}
