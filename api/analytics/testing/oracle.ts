/** An oracle: answers the queries slowly and plainly from a list of events in the order they were applied. */
import type { Event } from '../../../schemas/records.js';
import { withoutUnset } from '../../../schemas/wire/common.js';

/** The events that a query covers: `fromMs` inclusive, `toMs` exclusive, of one kind of place. */
export interface Selection {
  readonly fromMs: number;
  readonly toMs: number;
  readonly kind: 'geofence' | 'beacon';
  /** Keeps the events of the selected places. */
  readonly keep: (event: Event) => boolean;
}

const iso = (timeMs: number): string => new Date(timeMs).toISOString();
const isEntry = ({ type }: Event): boolean => type.startsWith('user.entered');
const isExit = ({ type }: Event): boolean => type.startsWith('user.exited');
const kindOf = ({ beacon }: Event): string => (beacon === null ? 'geofence' : 'beacon');
const placeOf = ({ geofence, beacon }: Event) => (geofence ?? beacon) as NonNullable<Event['geofence' | 'beacon']>;
const person = ({ user }: Event): string => user?.userId ?? (user?.id as string);

const placeFields = (event: Event) => ({
  geofence: event.geofence?.id,
  beacon: event.beacon?.id,
  tag: placeOf(event).tag,
  externalId: placeOf(event).externalId,
});

const within = ({ fromMs, toMs }: Selection, { createdAt }: Event): boolean => createdAt >= fromMs && createdAt < toMs;

const entriesOf = (events: readonly Event[], selection: Selection): Event[] =>
  events.filter(
    (event) => isEntry(event) && kindOf(event) === selection.kind && within(selection, event) && selection.keep(event),
  );

/** Returns visits, newest first. */
export function visits(events: readonly Event[], selection: Selection) {
  const rows = entriesOf(events, selection).map((entry) => {
    const next = events
      .slice(events.indexOf(entry) + 1)
      .find((event) => event.user?.id === entry.user?.id && placeOf(event).id === placeOf(entry).id);
    const exit = next && isExit(next) ? next : undefined;
    return withoutUnset({
      entry: entry.id,
      user: entry.user?.id,
      userId: entry.user?.userId,
      deviceId: entry.user?.deviceId,
      ...placeFields(entry),
      enteredAt: iso(entry.createdAt),
      exitedAt: exit && iso(exit.createdAt),
      durationMinutes: exit && (exit.createdAt - entry.createdAt) / 60_000,
      state: exit ? 'ended' : next ? 'unseen' : 'open',
    });
  });
  const order = (row: (typeof rows)[number]) => `${row.enteredAt} ${row.entry}`;
  return rows.sort((one, other) => (order(one) < order(other) ? 1 : -1));
}

/** Interpolates linearly between the two nearest values, as spreadsheets do. */
function quantile(sorted: readonly number[], level: number): number | null {
  if (sorted.length === 0) return null;
  const place = level * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number];
  return low + (high - low) * (place - Math.floor(place));
}

/** Returns the rows that query `dwell-times` must have. Bounds are in minutes. */
export function dwellTimes(events: readonly Event[], selection: Selection, by: Grouping, bounds: readonly number[]) {
  const groups = grouped(visits(events, selection), by);
  return groups.map(([fields, members]) => {
    const durations = members.flatMap(({ durationMinutes }) => durationMinutes ?? []).sort((one, other) => one - other);
    const countOf = (wanted: string) => members.filter(({ state }) => state === wanted).length;
    const limits = [0, ...bounds, Infinity];
    return withoutUnset({
      ...fields,
      visits: durations.length,
      openVisits: countOf('open'),
      unseenVisits: countOf('unseen'),
      p10Minutes: quantile(durations, 0.1),
      p50Minutes: quantile(durations, 0.5),
      p90Minutes: quantile(durations, 0.9),
      p99Minutes: quantile(durations, 0.99),
      histogram: limits
        .slice(1)
        .map((high, index) => durations.filter((d) => d >= (limits[index] as number) && d < high).length),
    });
  });
}

/** The values of `groupBy`. */
export type Grouping = 'place' | 'tag' | 'none';

interface OfPlace {
  readonly geofence?: string | undefined;
  readonly beacon?: string | undefined;
  readonly tag?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

/** Groups rows by place or tag. With `none`, returns one group even without rows. */
function grouped<Row extends OfPlace>(rows: readonly Row[], by: Grouping): [OfPlace, Row[]][] {
  if (by === 'none') return [[{}, [...rows]]];
  const fieldsOf = ({ geofence, beacon, tag, externalId }: Row): OfPlace =>
    by === 'tag' ? { tag } : { geofence, beacon, tag, externalId };
  return byKey(rows, fieldsOf);
}

function byKey<Row, Key extends object>(rows: readonly Row[], keyOf: (row: Row) => Key): [Key, Row[]][] {
  const groups = new Map<string, [Key, Row[]]>();
  for (const row of rows) {
    const key = keyOf(row);
    const text = JSON.stringify(key);
    if (!groups.has(text)) groups.set(text, [key, []]);
    groups.get(text)?.[1].push(row);
  }
  return [...groups.values()];
}

const distinct = (values: readonly unknown[]): number => new Set(values).size;

/** Returns the rows that query `unique-users` must have. */
export function uniqueUsers(events: readonly Event[], selection: Selection, by: Grouping) {
  const rows = entriesOf(events, selection).map((event) => ({ event, ...placeFields(event) }));
  return grouped(rows, by).map(([fields, members]) =>
    withoutUnset({
      ...fields,
      users: distinct(members.map(({ event }) => person(event))),
      devices: distinct(members.map(({ event }) => event.user?.deviceId)),
      entries: members.length,
    }),
  );
}

/** Returns the rows that query `entries` must have. */
export function entries(
  events: readonly Event[],
  selection: Selection,
  by: Grouping,
  interval: 'hour' | 'day',
  timeZone: string,
) {
  const labelled = entriesOf(events, selection).map((event) => ({
    ...placeFields(event),
    ...beginningOf(event.createdAt, interval, timeZone),
  }));
  return byKey(labelled, ({ start, local }) => ({ start, local })).flatMap(([times, members]) =>
    grouped(members, by).map(([fields, some]) => withoutUnset({ ...times, ...fields, entries: some.length })),
  );
}

/** All times of the histories are multiples of 15 minutes, and so are clock changes. */
const quarterMs = 15 * 60_000;

/**
 * Returns the start of the hour or day: an hour starts where the wall clock's minutes are 0; a day is searched back in
 * steps of 15 minutes.
 */
function beginningOf(timeMs: number, interval: 'hour' | 'day', timeZone: string): { start: string; local: string } {
  const clock = wallClock(timeZone);
  const [day, time] = clock(timeMs).split(' ') as [string, string];
  const [hour, minute] = time.split(':') as [string, string];
  if (interval === 'hour') return { start: iso(timeMs - Number(minute) * 60_000), local: `${day} ${hour}:00` };
  let startMs = timeMs;
  while (clock(startMs - quarterMs).startsWith(day)) startMs -= quarterMs;
  return { start: iso(startMs), local: day };
}

/** Formats times as in 2026-03-29 01:30. */
function wallClock(timeZone: string): (timeMs: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return (timeMs) => format.format(timeMs);
}

/** Returns the rows that query `flows` must have. */
export function flows(events: readonly Event[], selection: Selection, by: Grouping, withinMinutes: number) {
  const exits = events.filter(
    (event) => isExit(event) && kindOf(event) === selection.kind && within(selection, event) && selection.keep(event),
  );
  const passages = exits.flatMap((exit) => {
    // A location's exits precede its entries, whatever their order in the list.
    const first = events.findIndex(({ locationId }) => locationId === exit.locationId);
    const later = events
      .slice(first)
      .filter((event) => isEntry(event) && event.user?.id === exit.user?.id && kindOf(event) === selection.kind);
    const next = later.filter(({ locationId }) => locationId === later[0]?.locationId);
    return next.map((entry) => ({ exit, entry, minutes: (entry.createdAt - exit.createdAt) / 60_000 }));
  });
  const kept = passages.filter(({ minutes }) => minutes <= withinMinutes);
  const groups =
    by === 'none'
      ? [[{}, kept] as const]
      : byKey(kept, ({ exit, entry }) => ({ ...endFields('from', exit, by), ...endFields('to', entry, by) }));
  return groups.map(([fields, members]) =>
    withoutUnset({
      ...fields,
      flows: members.length,
      users: distinct(members.map(({ exit }) => person(exit))),
      medianMinutes: quantile(
        members.map(({ minutes }) => minutes).sort((one, other) => one - other),
        0.5,
      ),
    }),
  );
}

const endFields = (end: 'from' | 'to', event: Event, by: Grouping) => {
  const { geofence, beacon, tag, externalId } = placeFields(event);
  if (by === 'tag') return withoutUnset({ [`${end}Tag`]: tag });
  return withoutUnset({
    [`${end}Geofence`]: geofence,
    [`${end}Beacon`]: beacon,
    [`${end}Tag`]: tag,
    [`${end}ExternalId`]: externalId,
  });
};
