/** Reads the recorded events of a partition whose locations were received in a time range. */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import { scopeName } from '../pipeline/records/device-key.js';
import { codecs } from '../schemas/codecs.js';
import { eventTypes } from '../schemas/json/user.js';
import type { Event } from '../schemas/records.js';
import { partOf, readSamples, recordPages } from './pages.js';
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
  const samples = await readSamples(log, held, receivedMs);
  const part = partOf(held, samples, { fromMs: fromMs - maxAppendDelayMs, toMs: toMs + maxAppendDelayMs });
  for await (const page of recordPages(log, { ...held, ...part })) {
    yield page
      .filter(({ key, value }) => value !== null && key.startsWith(`${scopeName(scope)}/`))
      .map(({ value }) => codecs.event.decode(value as Buffer))
      .filter(isInRange);
  }
}

/** Returns when the location of an event was received, epoch ms; undefined for a conversion. */
function receivedMs({ value }: LogRecord): number | undefined {
  const event = value && codecs.event.decode(value);
  return event && evaluated.has(event.type) ? event.actualCreatedAt : undefined;
}
