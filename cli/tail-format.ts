/** Formats an event as a line for a terminal. Pure. */
import type { Event } from '../schemas/json/user.js';
import { column, duration, type Paint, printable, type Style } from '../server/terminal-text.js';

const columns = { type: 26, who: 20, what: 32, confidence: 12 };

const styles = new Map<string, Style>([
  ['user.entered_geofence', 'green'],
  ['user.exited_geofence', 'yellow'],
  ['user.dwelled_in_geofence', 'cyan'],
  ['user.entered_beacon', 'magenta'],
  ['user.exited_beacon', 'magenta'],
]);

/** Returns the local time of an ISO time: 14:03:07. */
function localTime(isoTime: string): string {
  const time = new Date(isoTime);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => `${part}`.padStart(2, '0')).join(':');
}

/** Returns the geofence or beacon: `store/duomo`, or its description if it has no such name. */
function subjectOf({ geofence, beacon }: Event): string {
  const subject = geofence ?? beacon;
  if (subject === undefined) return '';
  const { tag, externalId, description } = subject;
  return [tag, externalId].filter((part) => part !== undefined).join('/') || description || '';
}

/**
 * Returns `14:03:07  user.exited_geofence    ann                 store/duomo               confidence 3 after 12.5
 * min`.
 */
export function tailLine(event: Event, paint: Paint): string {
  const { type, user, confidence } = event;
  return [
    paint('dim', localTime(event.createdAt)),
    paint(styles.get(type) ?? 'bold', column(printable(type), columns.type)),
    column(printable(user?.userId ?? user?.deviceId ?? ''), columns.who),
    column(printable(subjectOf(event)), columns.what),
    paint('dim', column(`confidence ${confidence}`, columns.confidence)),
    paint('dim', event.duration === undefined ? '' : `after ${duration(event.duration)}`),
  ]
    .join(' ')
    .trimEnd();
}
