/** The output of the demo as text. Pure. */
import type { Event } from '../schemas/json/user.js';
import { grouped } from '../schemas/wording.js';
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

/** What is known of the run while it goes on. */
interface Reading {
  readonly elapsedS: number;
  /** Length of the window, which ends now. */
  readonly windowS: number;
  readonly window: TallyWindow;
  readonly summary: TallySummary;
  /** Time from a location's append to its commit. Undefined: nothing was committed. */
  readonly lagMs: number | undefined;
}

/** Returns a line about the last seconds. */
export function runningLine({ elapsedS, windowS, window, summary, lagMs }: Reading, paint: Paint): string {
  const parts = [
    `${elapsedS.toFixed(0).padStart(4)} s`,
    `${(window.accepted / windowS).toFixed(0)} locations/s`,
    `answers p50 ${window.p50Ms.toFixed(1)} ms, p99 ${window.p99Ms.toFixed(1)} ms`,
    ...(lagMs === undefined ? [] : [`lag ${lagMs.toFixed(1)} ms`]),
    `${grouped(summary.accepted)} locations, ${grouped(summary.eventCount)} events: ${eventCounts(summary)}`,
  ];
  return paint('bold', `── ${parts.join(' · ')}`);
}

const eventCounts = ({ events }: TallySummary): string =>
  Object.entries(verbs)
    .filter(([type]) => events[type])
    .map(([type, { word }]) => `${grouped(events[type] ?? 0)} ${word}`)
    .join(', ') || 'none yet';

/** The server's own counts of the run. */
export interface ServerTotals {
  readonly applied: number;
  readonly repeat: number;
  readonly stale: number;
  readonly history: ListedEvents | NoHistory;
}

/** The events that the API lists. */
interface ListedEvents {
  readonly count: number;
  /** Events in answers that the list does not have, and the other way round. */
  readonly missing: number;
  readonly unexpected: number;
}

/** The server lists no events, because its analytics engine is not installed. */
interface NoHistory {
  readonly reason: string;
}

interface Verdict {
  readonly lines: readonly string[];
  readonly addsUp: boolean;
}

interface Equation {
  readonly name: string;
  /** Undefined: one side is not known. */
  readonly holds: boolean | undefined;
  readonly text: string;
}

/** Returns the final check: each equation with both sides, and whether all of them hold. */
export function closingAccount(summary: TallySummary, totals: ServerTotals, paint: Paint): Verdict {
  const { applied, repeat, stale, history } = totals;
  const equations: readonly Equation[] = [
    {
      name: 'locations',
      holds: summary.sent === summary.accepted && summary.accepted === applied + repeat + stale,
      text:
        `${grouped(summary.sent)} sent = ${grouped(summary.accepted)} accepted = ` +
        `${grouped(applied)} applied + ${grouped(repeat)} repeated + ${grouped(stale)} stale`,
    },
    eventsEquation(summary.eventCount, history),
  ];
  const addsUp = equations.every(({ holds }) => holds !== false);
  const lines = equations.map(({ name, holds, text }) => `${mark(holds, paint)} ${column(name, 10)} ${text}`);
  const refusals = Object.entries(summary.refusals).map(
    ([reason, count]) => `${paint('red', 'BAD')} ${column('refused', 10)} ${grouped(count)}: ${reason}`,
  );
  return { lines: [...lines, ...refusals, `   ${column('by type', 10)} ${eventCounts(summary)}`], addsUp };
}

function eventsEquation(inAnswers: number, history: ServerTotals['history']): Equation {
  const answers = `${grouped(inAnswers)} in answers`;
  if ('reason' in history)
    return { name: 'events', holds: undefined, text: `${answers}, not compared with stored ones: ${history.reason}` };
  const { count, missing, unexpected } = history;
  return {
    name: 'events',
    holds: missing === 0 && unexpected === 0 && inAnswers === count,
    text: `${answers} = ${grouped(count)} stored, the same ids (${missing} missing, ${unexpected} unexpected)`,
  };
}

function mark(holds: boolean | undefined, paint: Paint): string {
  if (holds === undefined) return paint('yellow', '-- ');
  return holds ? paint('green', 'ok ') : paint('red', 'BAD');
}
