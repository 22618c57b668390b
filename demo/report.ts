/** The output of the demo as text. Pure. */
import type { Event } from '../schemas/json/user.js';
import { column, duration, type Paint, type Style } from '../server/terminal-text.js';
import type { TallySummary, TallyWindow } from './tally.js';

const verbs: Record<string, { readonly word: string; readonly style: Style }> = {
  'user.entered_geofence': { word: 'entered', style: 'green' },
  'user.exited_geofence': { word: 'left', style: 'yellow' },
  'user.dwelled_in_geofence': { word: 'dwelled in', style: 'cyan' },
  'user.entered_beacon': { word: 'in range', style: 'magenta' },
  'user.exited_beacon': { word: 'out of range', style: 'magenta' },
};

const columns = { device: 14, verb: 13, tag: 14, place: 44 };

/** Returns `14:03:07  van-017       entered      store         Karl’s Coffee, Castro Street         confidence 3`. */
export function eventLine(event: Event, paint: Paint): string {
  const { word, style } = verbs[event.type] ?? { word: event.type, style: 'bold' };
  const place = event.geofence ?? event.beacon;
  const details = [
    `confidence ${event.confidence}`,
    ...(event.duration === undefined ? [] : [`after ${duration(event.duration)}`]),
    ...(event.currentlyOperating === false ? ['closed'] : []),
  ];
  return [
    paint('dim', event.createdAt.slice(11, 19)),
    column(event.user?.deviceId ?? '', columns.device),
    paint(style, column(word, columns.verb)),
    paint('dim', column(place?.tag ?? '', columns.tag)),
    column(place?.description ?? '', columns.place),
    paint('dim', details.join(', ')),
  ].join(' ');
}

/** Returns a line about the last seconds. `lagMs` is the time from a location's append to its commit. */
export function runningLine(
  elapsedS: number,
  windowS: number,
  window: TallyWindow,
  summary: TallySummary,
  lagMs: number | undefined,
  paint: Paint,
): string {
  const parts = [
    `${elapsedS.toFixed(0).padStart(4)} s`,
    `${(window.accepted / windowS).toFixed(0)} locations/s`,
    `answers p50 ${window.p50Ms.toFixed(1)} ms, p99 ${window.p99Ms.toFixed(1)} ms`,
    ...(lagMs === undefined ? [] : [`lag ${lagMs.toFixed(1)} ms`]),
    `${number(summary.accepted)} locations, ${number(summary.eventCount)} events: ${eventCounts(summary)}`,
  ];
  return paint('bold', `── ${parts.join(' · ')}`);
}

const eventCounts = ({ events }: TallySummary): string =>
  Object.entries(verbs)
    .filter(([type]) => events[type])
    .map(([type, { word }]) => `${number(events[type] ?? 0)} ${word}`)
    .join(', ') || 'none yet';

/** The server's own counts of the run. */
export interface ServerTotals {
  readonly applied: number;
  readonly repeat: number;
  readonly stale: number;
  /** Events listed by the API. */
  readonly events: number;
  /** Events in answers that the list does not have, and the other way round. */
  readonly missing: number;
  readonly unexpected: number;
}

interface Verdict {
  readonly lines: readonly string[];
  readonly addsUp: boolean;
}

/** Returns the final check: each equation with both sides, and whether all of them hold. */
export function closingAccount(summary: TallySummary, totals: ServerTotals, paint: Paint): Verdict {
  const { applied, repeat, stale, events, missing, unexpected } = totals;
  const equations = [
    {
      name: 'locations',
      holds: summary.sent === summary.accepted && summary.accepted === applied + repeat + stale,
      text:
        `${number(summary.sent)} sent = ${number(summary.accepted)} accepted = ` +
        `${number(applied)} applied + ${number(repeat)} repeated + ${number(stale)} stale`,
    },
    {
      name: 'events',
      holds: missing === 0 && unexpected === 0 && summary.eventCount === events,
      text:
        `${number(summary.eventCount)} in answers = ${number(events)} stored, ` +
        `the same ids (${missing} missing, ${unexpected} unexpected)`,
    },
  ];
  const addsUp = equations.every(({ holds }) => holds);
  const lines = equations.map(
    ({ name, holds, text }) => `${holds ? paint('green', 'ok ') : paint('red', 'BAD')} ${column(name, 10)} ${text}`,
  );
  return { lines: [...lines, `   ${column('by type', 10)} ${eventCounts(summary)}`], addsUp };
}

const number = (value: number): string => value.toLocaleString('en-US');
