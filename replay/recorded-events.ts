/** Reads the recorded events of a partition whose locations were received in a time range. */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import { scopeName } from '../pipeline/records/device-key.js';
import { codecs } from '../schemas/codecs.js';
import { eventTypes } from '../schemas/json/user.js';
import type { Event } from '../schemas/records.js';
import { offsetAt, recordPages } from './pages.js';
import { maxAppendDelayMs, type TimeRange } from './partition.js';

const evaluated: ReadonlySet<string> = new Set(eventTypes);

/**
 * Yields events in order, without conversions, which clients report. Events have the order of the appends of their
 * locations. So after one whose location was received long after the range, none of the range follows.
 */
export async function* recordedEvents(
  log: ReadableLog,
  scope: Scope,
  partition: number,
  { fromMs, toMs }: TimeRange,
): AsyncGenerator<Event[]> {
  const isInRange = ({ type, actualCreatedAt }: Event): boolean =>
    evaluated.has(type) && actualCreatedAt >= fromMs && actualCreatedAt < toMs;
  const { first, end } = await log.bounds(topics.events, partition);
  const held = { topic: topics.events, partition, from: first, end };
  // An event is recorded after its location was received.
  const from = await offsetAt(log, held, fromMs);
  for await (const page of recordPages(log, { ...held, from })) {
    yield page
      .filter(({ key, value }) => value !== null && key.startsWith(`${scopeName(scope)}/`))
      .map(({ value }) => codecs.event.decode(value as Buffer))
      .filter(isInRange);
    if (lastReceivedMs(page) >= toMs + maxAppendDelayMs) return;
  }
}

/** Returns when the location of the last event of the page was received, epoch ms; -Infinity without an event. */
function lastReceivedMs(page: readonly LogRecord[]): number {
  for (const { value } of page.toReversed()) {
    const event = value && codecs.event.decode(value);
    if (event && evaluated.has(event.type)) return event.actualCreatedAt;
  }
  return Number.NEGATIVE_INFINITY;
}
