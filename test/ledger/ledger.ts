/**
 * Reads the record of a run directly from its stores.
 *
 * Output: the events of the log and of ClickHouse, the locations in ClickHouse, and the devices' states, in terms
 * that two runs share: devices, times and externalIds instead of generated ids.
 */
import { type LogRecord, type Topic, topics } from '../../pipeline/ports.js';
import { decodeDeviceState } from '../../pipeline/records/device-state.js';
import { codecs } from '../../schemas/codecs.js';
import type { DeadLetter, Event } from '../../schemas/records.js';
import type { Sources } from './sources.js';

export interface LocationCount {
  readonly device: string;
  readonly timeMs: number;
  readonly applied: number;
  /** Rows that said `repeat` or `stale`. */
  readonly again: number;
}

export interface Ledger {
  /** Ids in the log, every copy. */
  readonly loggedIds: readonly string[];
  /** Ids of which two copies in the log differ. */
  readonly changedIds: readonly string[];
  /** Ids in ClickHouse, every copy that a reader of the table sees. */
  readonly storedIds: readonly string[];
  /** One line per distinct event of the log: device, time, type, fence and what it says. */
  readonly events: readonly string[];
  /** One line per location that ClickHouse knows, with how often it was applied. */
  readonly locations: readonly string[];
  /** One line per user of a device: where it was last, and what it is inside of since when. */
  readonly states: readonly string[];
  /** One line per dead letter, as {@link deadLetterLine}. */
  readonly deadLetters: readonly string[];
  /** Locations that arrived once more after they were applied, and did nothing. */
  readonly arrivedAgain: number;
  /** Attempts to deliver that had no answer, such as those whose connection failed. */
  readonly unanswered: readonly Unanswered[];
}

export interface Unanswered {
  readonly deliveryId: string;
  readonly result: string;
}

const pageRecords = 5_000;

/** Closes the sources. */
export async function readLedger(sources: Sources, deviceIds: readonly string[]): Promise<Ledger> {
  const { analytics } = sources;
  try {
    const frames = (await readTopic(sources, topics.events)).map(({ value }) => value).filter(isEvent);
    const events = frames.map(codecs.event.decode);
    const names = new Map(
      events.flatMap(({ geofence, beacon }) =>
        [geofence, beacon].flatMap((item) => (item ? [[item.id, item.externalId ?? '']] : [])),
      ),
    );
    const stored = await analytics.query<{ id: string }>('SELECT id FROM events FINAL ORDER BY id');
    const locations = await analytics.query<LocationCount>(
      `SELECT device_id AS device, toFloat64(toUnixTimestamp64Milli(occurred_at)) AS timeMs,
              countIf(result = 'applied') AS applied, countIf(result != 'applied') AS again
       FROM locations FINAL GROUP BY device, timeMs`,
    );
    const project = events[0]?.project ?? '';
    return {
      loggedIds: events.map(({ id }) => id),
      changedIds: changedIds(events, frames),
      storedIds: stored.map(({ id }) => id),
      events: distinctById(events).map(eventLine).sort(),
      locations: locations
        .map(({ device, timeMs, applied }) => `${device} ${isoTime(timeMs)} applied ${applied}`)
        .sort(),
      states: (await readStates(sources, project, deviceIds, names)).sort(),
      arrivedAgain: locations.reduce((sum, { again }) => sum + again, 0),
      deadLetters: (await readTopic(sources, topics.deadLetters)).map(({ value }) =>
        deadLetterLine(codecs.deadLetter.decode(value)),
      ),
      unanswered: await readUnanswered(sources),
    };
  } finally {
    await sources.close();
  }
}

async function readUnanswered(sources: Sources): Promise<Unanswered[]> {
  const attempts = (await readTopic(sources, topics.attempts)).map(({ value }) => codecs.attempt.decode(value));
  return attempts
    .filter(({ status }) => status === null)
    .map(({ delivery, result }) => ({ deliveryId: delivery.id, result }));
}

/** Returns every record of the topic, partition by partition. */
export async function readTopic({ log }: Sources, topic: Topic): Promise<(LogRecord & { readonly value: Buffer })[]> {
  const all: (LogRecord & { readonly value: Buffer })[] = [];
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const { first, end } = await log.bounds(topic, partition);
    for (let offset = first; offset < end; ) {
      const { records, nextOffset } = await log.read(topic, partition, offset, pageRecords);
      if (nextOffset === offset) throw new Error(`${topic}/${partition} ends at ${offset}, not at ${end}`);
      // The store may reuse the memory: copy.
      for (const record of records) all.push({ ...record, value: Buffer.from(record.value ?? []) });
      offset = nextOffset;
    }
  }
  return all;
}

/** Records that are not events are covered by the dead letters. */
function isEvent(frame: Buffer): boolean {
  try {
    codecs.event.decode(frame);
    return true;
  } catch {
    return false;
  }
}

/** Returns a dead letter as text: origin, reason and content of the record. */
export const deadLetterLine = ({
  topic,
  partition,
  offset,
  key,
  value,
  reason,
}: Omit<DeadLetter, 'message' | 'failedAt'>): string =>
  `${topic}/${partition} at ${offset} ${reason} key ${key} value ${value?.toString('hex') ?? 'none'}`;

function changedIds(events: readonly Event[], frames: readonly Buffer[]): string[] {
  const first = new Map<string, Buffer>();
  return events.flatMap(({ id }, index) => {
    const frame = frames[index] as Buffer;
    const before = first.get(id) ?? frame;
    first.set(id, before);
    return before.equals(frame) ? [] : [id];
  });
}

const distinctById = (events: readonly Event[]): Event[] => [
  ...new Map(events.map((event) => [event.id, event])).values(),
];

function eventLine({ user, createdAt, type, geofence, beacon, confidence, duration_min }: Event): string {
  const place = geofence?.externalId ?? beacon?.externalId ?? '';
  const duration = duration_min === null ? '' : ` after ${duration_min} min`;
  const who = user?.userId ?? 'nobody';
  return `${user?.deviceId} ${isoTime(createdAt)} ${type} ${place} as ${who} confidence ${confidence}${duration}`;
}

async function readStates(
  { log, states }: Sources,
  project: string,
  deviceIds: readonly string[],
  names: ReadonlyMap<string, string>,
): Promise<string[]> {
  const lines: string[] = [];
  for (const deviceId of deviceIds) {
    const key = `${project}/test/${deviceId}`;
    const [value] = await states.load(log.partitionOf(topics.locations, key), [key]);
    if (!value) {
      lines.push(`${deviceId} has no state`);
      continue;
    }
    const { users } = decodeDeviceState(value);
    for (const [rank, { userId, last, geofences, beacons }] of users.entries()) {
      const place =
        last &&
        `${isoTime(last.occurredAt)} ${last.longitude} ${last.latitude} ± ${last.accuracy_m} stopped ${last.stopped}`;
      const visits = [...geofences, ...beacons].map(
        ({ id, since, dwelled }) => `${names.get(id) ?? id} since ${isoTime(since)}${dwelled ? ' dwelled' : ''}`,
      );
      lines.push(`${deviceId} #${rank} ${userId ?? 'nobody'} at ${place} in [${visits.join(', ')}]`);
    }
  }
  return lines;
}

const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();
