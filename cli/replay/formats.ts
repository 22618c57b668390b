/** The forms in which events are written: as JSON, as rows, or as lines to read. Pure. */
import { csvCell } from '../../imports/csv-cells.js';
import type { ComparedEvent } from '../../replay/replay.js';
import { placeName } from '../../replay/tally.js';
import type { Event } from '../../schemas/records.js';
import { isoTime } from '../../schemas/wire/common.js';
import { eventText } from '../../schemas/wire/event-text.js';
import { printable } from '../../server/terminal-text.js';

/** The formats of a replay's output. */
export const formats = ['summary', 'ndjson', 'csv'] as const;
/** A format of a replay's output. */
export type Format = (typeof formats)[number];

/** How one event is written, or that it isn't. */
type LineOf = (compared: ComparedEvent) => string | undefined;

interface EventFormat {
  readonly header?: string;
  readonly lineOf: LineOf;
}

/**
 * Returns the format of events. With `differencesOnly` it writes those of the replay or of the record alone, else those
 * of the replay.
 */
export function eventFormat(format: Format, differencesOnly: boolean): EventFormat {
  const wanted = (lineOf: (compared: ComparedEvent) => string): LineOf => {
    return (compared) => (compared.foundIn !== (differencesOnly ? 'both' : 'record') ? lineOf(compared) : undefined);
  };
  if (format === 'csv') return { header: csvHeader, lineOf: wanted(csvRow) };
  if (format === 'ndjson')
    return { lineOf: wanted(differencesOnly ? differenceJson : ({ event }) => eventText(event)) };
  return { lineOf: differencesOnly ? wanted(differenceLine) : () => undefined };
}

const differenceJson = ({ event, foundIn, isFirst }: ComparedEvent): string =>
  `{"foundIn":"${foundIn}","firstLocation":${isFirst},"event":${eventText(event)}}`;

/** `+ 2026-06-01T12:00:00.000Z user.entered_geofence store/duomo phone-1`. */
const differenceLine = ({ event, foundIn, isFirst }: ComparedEvent): string =>
  printable(
    [
      foundIn === 'replay' ? '+' : '-',
      isoTime(event.createdAt),
      event.type,
      placeName(event),
      event.user?.deviceId ?? '',
      ...(isFirst ? ['(first location of the device)'] : []),
    ].join(' '),
  );

type Cell = string | number | boolean | null | undefined;

const columns: readonly (readonly [name: string, cell: (event: Event, compared: ComparedEvent) => Cell])[] = [
  ['foundIn', (_, { foundIn }) => foundIn],
  ['firstLocation', (_, { isFirst }) => isFirst],
  ['_id', ({ id }) => id],
  ['type', ({ type }) => type],
  ['createdAt', ({ createdAt }) => isoTime(createdAt)],
  ['actualCreatedAt', ({ actualCreatedAt }) => isoTime(actualCreatedAt)],
  ['deviceId', ({ user }) => user?.deviceId],
  ['userId', ({ user }) => user?.userId],
  ['tag', ({ geofence, beacon }) => (geofence ?? beacon)?.tag],
  ['externalId', ({ geofence, beacon }) => (geofence ?? beacon)?.externalId],
  ['description', ({ geofence, beacon }) => (geofence ?? beacon)?.description],
  ['longitude', ({ longitude }) => longitude],
  ['latitude', ({ latitude }) => latitude],
  ['locationAccuracy', ({ accuracy_m }) => accuracy_m],
  ['confidence', ({ confidence }) => confidence],
  ['duration', ({ duration_min }) => duration_min],
];

/** Texts come from devices and from whoever names a place. Numbers are no formulas, also if they are negative. */
const cellOf = (value: Cell): string => (typeof value === 'string' ? csvCell(value) : `${value ?? ''}`);

const csvHeader = columns.map(([name]) => name).join(',');
const csvRow = (compared: ComparedEvent): string =>
  columns.map(([, cell]) => cellOf(cell(compared.event, compared))).join(',');
